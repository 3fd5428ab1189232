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
use serde::Serialize;
use worker::Queue as _;

use super::{
    FeatureChange, Project, ProjectChange, Settings,
    change::{self, Columns},
    event::Event,
    forks, home, names,
    rules::{
        ensure_described, ensure_possible, ensure_runners, ensure_storage, ensure_unrestricted,
    },
    settings::SettingsStore as _,
    store::ProjectStore as _,
    topics::TopicStore as _,
};
use crate::{
    access::{self, IdOrPath, changes, seats},
    audited::{ValueChange, value_changes},
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
    ensure_described(change)?;
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
    let old = AuditedValues::load(tx, &project, change)?;
    let changed = change::write(tx, project.id, change)?;
    let new = AuditedValues::load(tx, &changed, change)?;
    record_names(tx, &project, &changed);
    record_values(tx, &changed, (&old, &new), matches!(change.avatar, Some(Some(_))))?;
    if changed.full_path == project.full_path {
        tx.mention(Event::ProjectUpdated { project: project.id });
    }
    Ok(changed)
}

/// What registers runners is told by nobody.
const SECRETS: [&str; 1] = ["runners_token"];

/// What a change may touch of a project, and has no audit event of its own, by the API's names. Settings and topics are read where
/// the change names some.
#[derive(Serialize)]
struct AuditedValues {
    description: Option<String>,
    default_branch: Option<String>,
    avatar: Option<String>,
    repository_access_level: FeatureAccess,
    issues_access_level: FeatureAccess,
    merge_requests_access_level: FeatureAccess,
    forking_access_level: FeatureAccess,
    builds_access_level: FeatureAccess,
    wiki_access_level: FeatureAccess,
    snippets_access_level: FeatureAccess,
    topics: Option<Vec<String>>,
    #[serde(flatten)]
    settings: Option<Settings>,
}

impl AuditedValues {
    fn load(tx: &mut Tx<'_>, project: &Project, change: &ProjectChange) -> Result<Self> {
        let settings = match change.settings.is_empty() {
            true => None,
            false => Some(tx.project_settings(project.id)?),
        };
        let topics = match change.topics {
            Some(_) => tx.topics_by_project(&[project.id])?.remove(&project.id),
            None => None,
        };
        Ok(Self {
            description: project.description.clone(),
            default_branch: project.default_branch.clone(),
            avatar: project.avatar.clone(),
            repository_access_level: project.repository_access,
            issues_access_level: project.issues_access,
            merge_requests_access_level: project.merge_requests_access,
            forking_access_level: project.forking_access,
            builds_access_level: project.builds_access,
            wiki_access_level: project.wiki_access,
            snippets_access_level: project.snippets_access,
            topics,
            settings,
        })
    }
}

/// Writes down what everybody sees of a project and is another one now.
fn record_names(tx: &mut Tx<'_>, before: &Project, after: &Project) {
    let place = AuditPlace::Project(after.id);
    let (old, new) = (before.visibility.to_string(), after.visibility.to_string());
    let told = [
        ("project_visibility_level_updated", "visibility", old, new),
        ("project_name_updated", "name", before.name.clone(), after.name.clone()),
        ("project_path_updated", "path", before.full_path.clone(), after.full_path.clone()),
    ];
    for (name, what, from, to) in told {
        if from != to {
            let change = AuditRecord::change(name, place, what).values(from, to);
            tx.mention(change.target("Project", after.id.0, &after.name));
        }
    }
}

/// Writes down each other value that is another one now.
fn record_values(
    tx: &mut Tx<'_>,
    project: &Project,
    (old, new): (&AuditedValues, &AuditedValues),
    has_new_avatar: bool,
) -> Result<()> {
    let mut changes = value_changes(old, new, &SECRETS)?;
    // A new picture may have the name of the old one.
    if has_new_avatar && old.avatar == new.avatar {
        let name = new.avatar.clone().unwrap_or_default();
        changes.push(ValueChange { name: "avatar".to_owned(), from: name.clone(), to: name });
    }
    let place = AuditPlace::Project(project.id);
    for ValueChange { name, from, to } in changes {
        let change = AuditRecord::change("project_settings_updated", place, &name);
        tx.mention(change.values(from, to).target("Project", project.id.0, &project.name));
    }
    Ok(())
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
