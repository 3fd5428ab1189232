//! Changing, moving and removing projects.

use db::{
    Tx, each_backend, error,
    schema::{project_access, projects, redirects},
};
use diesel::prelude::*;
use kernel::{
    Error, Grant, Result, Ts, Visibility,
    access::{Administrate, FeatureAccess},
    audit::{AuditPlace, AuditRecord},
    ids::{NamespaceId, ProjectId},
};
use worker::Queue as _;

use super::{
    FeatureChange, Project, ProjectChange, Settings,
    change::{self, Columns},
    event::Event,
    forks, home, names,
    rules::{ensure_possible, ensure_runners, ensure_storage, ensure_unrestricted},
    settings::SettingsStore as _,
    store::ProjectStore as _,
    topics::TopicStore as _,
};
use crate::{
    access::{self, IdOrPath, changes, seats},
    jobs::PurgeDeletions,
    namespace::store::NamespaceStore as _,
    policy::{AdminProject, OwnProject},
    settings::store::SettingsStore as _,
};

/// Changes a project. Who may see it is the owners' to say.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminProject>,
    change: &ProjectChange,
) -> Result<Project> {
    if change.name.is_some() || change.path.is_some() {
        access::lock_access_projection(tx)?;
    }
    let project = tx.project(grant.project())?;
    ensure_possible(&change.settings)?;
    ensure_storage(grant.actor(), change)?;
    if change.settings.shared_runners_enabled == Some(true) {
        let home = tx.namespace(project.namespace_id)?;
        ensure_runners(&home, &tx.project_settings(project.id)?, &change.settings)?;
    }
    if let Some(wanted) = change.visibility.filter(|wanted| *wanted != project.visibility) {
        grant.also::<OwnProject>()?;
        ensure_unrestricted(grant.actor(), &tx.settings()?, wanted)?;
        ensure_may_show(tx, &project, wanted)?;
    }
    let name = change.name.as_deref().unwrap_or(&project.name);
    let path = change.path.as_deref().unwrap_or(&project.path);
    if name != project.name || path != project.path {
        let home = tx.namespace(project.namespace_id)?;
        let mut flaws = names::flaws(name, path);
        flaws.extend(home::taken(tx, &home, name, path, Some(project.id))?);
        if !flaws.is_empty() {
            return Err(Error::bad_request().fields(flaws));
        }
        home::move_to_address(tx, &project, &home, name, path)?;
    }
    let old = other_values(tx, project.id, change)?;
    let changed = change::write(tx, project.id, change)?;
    let has_other_changes = old != other_values(tx, project.id, change)?
        || columns_without_event(&project) != columns_without_event(&changed)
        // A new picture may have the name of the old one.
        || matches!(change.avatar, Some(Some(_)));
    record_change(tx, &project, &changed, has_other_changes);
    if changed.full_path == project.full_path {
        tx.mention(Event::ProjectUpdated { project: project.id });
    }
    Ok(changed)
}

/// Settings and topics, where a change may touch them.
type OtherValues = (Option<Settings>, Option<Vec<String>>);

fn other_values(
    tx: &mut Tx<'_>,
    project: ProjectId,
    change: &ProjectChange,
) -> Result<OtherValues> {
    let settings = match change.settings.is_empty() {
        true => None,
        false => Some(tx.project_settings(project)?),
    };
    let topics = match change.topics {
        Some(_) => tx.topics_by_project(&[project])?.remove(&project),
        None => None,
    };
    Ok((settings, topics))
}

type OtherColumns<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>, [FeatureAccess; 7]);

/// The columns of a project that a change may touch, and that have no audit event of their own.
fn columns_without_event(project: &Project) -> OtherColumns<'_> {
    let features = [
        project.repository_access,
        project.issues_access,
        project.merge_requests_access,
        project.forking_access,
        project.builds_access,
        project.wiki_access,
        project.snippets_access,
    ];
    let branch = project.default_branch.as_deref();
    (project.description.as_deref(), branch, project.avatar.as_deref(), features)
}

/// Writes down that a project changed: what everybody sees of it with both values, anything else as settings.
fn record_change(tx: &mut Tx<'_>, before: &Project, after: &Project, has_other_changes: bool) {
    let place = AuditPlace::Project(after.id);
    let (old, new) = (before.visibility.to_string(), after.visibility.to_string());
    let told = [
        ("project_visibility_level_updated", "visibility", old, new),
        ("project_name_updated", "name", before.name.clone(), after.name.clone()),
        ("project_path_updated", "path", before.full_path.clone(), after.full_path.clone()),
    ];
    for (name, what, from, to) in told {
        if from != to {
            let change = AuditRecord::change(name, place, what).detail("from", from);
            tx.mention(change.detail("to", to).target("Project", after.id.0, &after.name));
        }
    }
    if has_other_changes {
        let change = AuditRecord::change("project_settings_updated", place, "settings");
        tx.mention(change.target("Project", after.id.0, &after.name));
    }
}

/// Refuses to show a project to more people than its group or the project it was forked from is shown to.
fn ensure_may_show(tx: &mut Tx<'_>, project: &Project, wanted: Visibility) -> Result<()> {
    let home = tx.namespace(project.namespace_id)?;
    let most = home::most_visible(&home);
    if wanted > most {
        let text = format!("{wanted} is not allowed in a {most} group.");
        return Err(Error::invalid("visibility_level", text));
    }
    let source = match project.forked_from_id {
        Some(id) => tx.find_project(id)?,
        None => None,
    };
    if source.is_some_and(|source| wanted > source.visibility) {
        let text =
            format!("{wanted} is not allowed since the fork source project has lower visibility.");
        return Err(Error::invalid("visibility_level", text));
    }
    Ok(())
}

/// Makes a project read-only, or writable again.
pub fn set_archived(tx: &mut Tx<'_>, grant: &Grant<OwnProject>, archived: bool) -> Result<Project> {
    let was_archived = tx.project(grant.project())?.archived;
    let columns = Columns { archived: Some(archived), ..Columns::default() };
    let project = change::update(tx, grant.project(), columns, FeatureChange::default())?;
    if was_archived == archived {
        return Ok(project);
    }
    let name = if archived { "project_archived" } else { "project_unarchived" };
    let change = AuditRecord::change(name, AuditPlace::Project(project.id), "archived");
    tx.mention(change.target("Project", project.id.0, &project.name));
    Ok(project)
}

/// Moves a project into another namespace.
pub fn transfer(tx: &mut Tx<'_>, grant: &Grant<OwnProject>, target: &IdOrPath) -> Result<Project> {
    access::lock_access_projection(tx)?;
    let project = tx.project(grant.project())?;
    let home = access::seen_namespace(tx, grant.actor(), target)?;
    home::move_to(tx, grant.actor(), &project, &home)
}

/// As [`transfer`], by an administrator.
pub fn transfer_as_admin(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    project: &IdOrPath,
    home: NamespaceId,
) -> Result<Project> {
    access::lock_access_projection(tx)?;
    let (found, _) = access::locate_project(tx, grant.actor(), project)?;
    let (project, home) = (tx.project(found.0.id)?, tx.namespace(home)?);
    home::move_to(tx, grant.actor(), &project, &home)
}

/// Takes a project away: from now on it is not found and its path is free. What it had is removed later by [`purge`].
pub fn delete(
    tx: &mut Tx<'_>,
    grant: &Grant<OwnProject>,
    unless_newer: Option<Ts>,
) -> Result<Project> {
    let project = tx.project(grant.project())?;
    project.updated_at.ensure_unchanged_since(unless_newer)?;
    remove(tx, &project)?;
    tx.emit(Event::NetworkLeft { project: project.id, user: grant.actor().id })?;
    Ok(project)
}

/// As [`delete`], for a project that could not be finished.
pub fn discard(tx: &mut Tx<'_>, project: &Project) -> Result<()> {
    remove(tx, project)
}

fn remove(tx: &mut Tx<'_>, project: &Project) -> Result<()> {
    access::lock_access_projection(tx)?;
    let Some(project) = tx.find_project(project.id)? else { return Ok(()) };
    seats::leaves(tx, &project.full_path)?;
    if let Some(source) = project.forked_from_id {
        forks::count_forks(tx, source, -1)?;
    }
    let columns = Columns {
        // No path without a slash is ever looked up.
        path_key: Some(format!("deleted-{}", project.id)),
        deleted_at: Some(Some(tx.now)),
        ..Columns::default()
    };
    change::update(tx, project.id, columns, FeatureChange::default())?;
    let access = project_access::table.filter(project_access::project_id.eq(project.id));
    each_backend!(tx, |conn| diesel::delete(access).execute(conn).map_err(error("Project")))?;
    // Who came through groups above it does no more.
    changes::groups(tx)?;
    let paths = redirects::table.filter(redirects::project_id.eq(project.id));
    each_backend!(tx, |conn| diesel::delete(paths).execute(conn).map_err(error("Project")))?;
    tx.mention(Event::ProjectDestroyed { project: project.id, record: Box::new(project) });
    tx.enqueue(&PurgeDeletions {})
}

/// Whether any project was ever written down and is still there.
pub fn has_any(tx: &mut Tx<'_>) -> Result<bool> {
    let query = projects::table.select(projects::id).order(projects::id).limit(1);
    let first: Option<ProjectId> =
        each_backend!(tx, |conn| query.get_result(conn).optional().map_err(error("Project")))?;
    Ok(first.is_some())
}

/// Projects that were deleted and still have rows, oldest first.
pub fn deleted(tx: &mut Tx<'_>, most: i64) -> Result<Vec<ProjectId>> {
    let query = projects::table
        .filter(projects::deleted_at.is_not_null())
        .order((projects::deleted_at, projects::id))
        .limit(most)
        .select(projects::id);
    each_backend!(tx, |conn| query.load(conn).map_err(error("Project")))
}

/// Removes every row of a deleted project; its repository must be gone before.
pub fn purge(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let row = projects::table.find(project).filter(projects::deleted_at.is_not_null());
    each_backend!(tx, |conn| diesel::delete(row).execute(conn).map_err(error("Project")))?;
    Ok(())
}
