//! Making, changing, moving and removing projects.

use std::ops::RangeInclusive;

use db::{
    Tx, each_backend, error,
    schema::{project_access, project_settings, project_statistics, projects, redirects},
};
use diesel::prelude::*;
use kernel::{
    Actor, Error, Grant, Result, Ts, Visibility,
    access::{Administrate, FeatureAccess, SignedIn},
    audit::{AuditPlace, AuditRecord},
    ids::{NamespaceId, ProjectId, UserId},
};

use worker::Queue;

use super::{
    FeatureChange, Project, ProjectChange, STORAGE, Settings, SettingsChange,
    change::{self, Columns},
    event::Event,
    forks, home, names,
    settings::SettingsStore,
    store::ProjectStore,
};
use crate::{
    access::{self, IdOrPath, changes, seats},
    faults::Faults,
    hierarchy,
    jobs::PurgeDeletions,
    member,
    namespace::{Namespace, by_ids::by_ids, runners::SharedRunners, store::NamespaceStore},
    policy::{AdminProject, OwnProject},
    settings::store::SettingsStore as _,
    user::{User, store::UserStore},
};

/// A project as it is first written down; names and paths are already checked.
#[derive(Clone, Debug)]
pub struct NewProject {
    pub namespace_id: NamespaceId,
    pub creator_id: UserId,
    pub name: String,
    pub path: String,
    pub description: Option<String>,
    pub visibility: Visibility,
}

/// Writes a project down, without its repository. Effective access is there with it.
pub fn insert(tx: &mut Tx<'_>, new: &NewProject) -> Result<Project> {
    access::alone(tx)?;
    let namespace = tx.namespace(new.namespace_id)?;
    let full_path = format!("{}/{}", namespace.full_path, new.path);
    home::free_address(tx, &full_path.to_lowercase())?;
    let enabled = FeatureAccess::Enabled;
    let row = (
        (
            projects::namespace_id.eq(new.namespace_id),
            projects::creator_id.eq(new.creator_id),
            projects::name.eq(&new.name),
            projects::path.eq(&new.path),
            projects::path_key.eq(full_path.to_lowercase()),
            projects::full_path.eq(full_path),
            projects::full_name.eq(format!("{} / {}", namespace.full_name, new.name)),
            projects::description.eq(&new.description),
            projects::visibility.eq(new.visibility),
            projects::archived.eq(false),
        ),
        (
            projects::repository_access.eq(enabled),
            projects::issues_access.eq(enabled),
            projects::merge_requests_access.eq(enabled),
            projects::forking_access.eq(enabled),
            projects::builds_access.eq(enabled),
            projects::wiki_access.eq(enabled),
            projects::snippets_access.eq(enabled),
        ),
        projects::star_count.eq(0),
        projects::forks_count.eq(0),
        projects::import_status.eq("none"),
        projects::last_activity_at.eq(tx.now),
        projects::created_at.eq(tx.now),
        projects::updated_at.eq(tx.now),
    );
    let insert = diesel::insert_into(projects::table).values(row);
    let project: Project = each_backend!(tx, |conn| insert
        .returning(Project::as_returning())
        .get_result(conn)
        .map_err(error("Project")))?;
    insert_companions(tx, project.id, &namespace)?;
    member::steps::ensure_owner(tx, project.id, namespace.owner_id)?;
    access::refresh_project(tx, project.id)?;
    tx.emit(Event::ProjectCreated {
        project: project.id,
        namespace: project.namespace_id,
        creator: project.creator_id,
        name: project.name.clone(),
    })?;
    Ok(project)
}

fn insert_companions(tx: &mut Tx<'_>, project: ProjectId, home: &Namespace) -> Result<()> {
    let now = tx.now;
    each_backend!(tx, |conn| diesel::insert_into(project_settings::table)
        .values((project_settings::project_id.eq(project), project_settings::settings.eq("{}")))
        .execute(conn)
        .map_err(error("Project")))?;
    let begins = Settings::in_namespace(home);
    if begins != Settings::default() {
        tx.save_settings(project, &begins)?;
    }
    each_backend!(tx, |conn| diesel::insert_into(project_statistics::table)
        .values((
            project_statistics::project_id.eq(project),
            project_statistics::commit_count.eq(0),
            project_statistics::repository_size.eq(0),
            project_statistics::updated_at.eq(now),
        ))
        .execute(conn)
        .map_err(error("Project")))?;
    Ok(())
}

/// What a new project is to be.
#[derive(Clone, Debug, Default)]
pub struct Creation {
    /// The caller's own namespace where none is named.
    pub namespace: Option<NamespaceId>,
    pub name: Option<String>,
    pub path: Option<String>,
    /// Names and paths in it do not count.
    pub change: ProjectChange,
}

/// Makes a project for the caller. Its repository is made after the commit, by whoever asked.
pub fn create(tx: &mut Tx<'_>, grant: &Grant<SignedIn>, wanted: &Creation) -> Result<Project> {
    let creator = tx.user(grant.user()?)?;
    create_as(tx, grant.actor(), &creator, wanted)
}

/// Makes a project for somebody else, in their own namespace.
pub fn create_for(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    owner: UserId,
    wanted: &Creation,
) -> Result<Project> {
    let creator = tx.user(owner)?;
    create_as(tx, grant.actor(), &creator, wanted)
}

fn create_as(tx: &mut Tx<'_>, actor: Actor, creator: &User, wanted: &Creation) -> Result<Project> {
    access::alone(tx)?;
    let home = match wanted.namespace {
        None => tx.personal_namespace(creator.id)?.ok_or(Error::not_found("Namespace"))?,
        Some(id) => match tx.find_namespace(id)? {
            // Whether there is room in one's own is asked below, and told.
            Some(home) if home::is_own(actor, &home) => home,
            Some(home) if home::may_create_in(tx, actor, &home)? => home,
            _ => return Err(Error::invalid("namespace", "is not valid")),
        },
    };
    home::ensure_room(tx, creator, &home)?;
    let name = wanted.name.as_ref().or(wanted.path.as_ref()).cloned().unwrap_or_default();
    let path = wanted.path.clone().unwrap_or_else(|| names::path_of(&name));
    let mut flaws = names::flaws(&name, &path);
    flaws.extend(home::taken(tx, &home, &name, &path, None)?);
    if !flaws.is_empty() {
        return Err(Error::bad_request().fields(flaws));
    }
    ensure_possible(&wanted.change.settings)?;
    ensure_storage(actor, &wanted.change)?;
    ensure_runners(&home, &Settings::in_namespace(&home), &wanted.change.settings)?;
    let installation = tx.settings()?;
    let asked = wanted.change.visibility.unwrap_or(installation.default_project_visibility);
    ensure_unrestricted(actor, &installation, asked)?;
    let new = NewProject {
        namespace_id: home.id,
        creator_id: creator.id,
        name,
        path,
        description: wanted.change.description.clone().flatten(),
        // More than the group shows is lowered without a word.
        visibility: asked.min(home::most_visible(&home)),
    };
    let project = insert(tx, &new)?;
    let mut settings = Settings::in_namespace(&home);
    settings.shared_runners_enabled &= installation.shared_runners_enabled();
    settings.auto_devops_enabled = begins_with_auto_devops(tx, &home, &installation)?;
    wanted.change.settings.apply(&mut settings);
    settings.runners_token = runners_token();
    tx.save_settings(project.id, &settings)?;
    let rest = ProjectChange {
        features: wanted.change.features,
        topics: wanted.change.topics.clone(),
        avatar: wanted.change.avatar.clone(),
        ..ProjectChange::default()
    };
    change::write(tx, project.id, &rest)
}

/// Whether a new project in a namespace has Auto DevOps: as the nearest group says that says it, else the installation.
fn begins_with_auto_devops(
    tx: &mut Tx<'_>,
    home: &Namespace,
    installation: &crate::settings::Settings,
) -> Result<bool> {
    let mut said = home.settings().auto_devops_enabled;
    if said.is_none() && home.parent_id.is_some() {
        let above = hierarchy::above_group(tx, home.id)?;
        let groups = by_ids(tx, &above)?;
        let of = |id: &NamespaceId| groups.iter().find(|group| group.id == *id);
        said = above.iter().filter_map(of).find_map(|group| group.settings().auto_devops_enabled);
    }
    Ok(said.unwrap_or_else(|| installation.auto_devops_enabled()))
}

pub(crate) fn runners_token() -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    let random: [u8; 20] = rand::random();
    let tail = random.iter().map(|byte| char::from(LETTERS[usize::from(byte % 64)]));
    "GR1348941".chars().chain(tail).collect()
}

/// Changes a project. Who may see it is the owners' to say.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminProject>,
    change: &ProjectChange,
) -> Result<Project> {
    if change.name.is_some() || change.path.is_some() {
        access::alone(tx)?;
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
        home::settle(tx, &project, &home, name, path)?;
    }
    let changed = change::write(tx, project.id, change)?;
    record_change(tx, &project, &changed);
    if changed.full_path == project.full_path {
        tx.mention(Event::ProjectUpdated { project: project.id });
    }
    Ok(changed)
}

/// Writes down that a project changed: what everybody sees of it with both values, anything else as settings.
fn record_change(tx: &mut Tx<'_>, before: &Project, after: &Project) {
    let place = AuditPlace::Project(after.id);
    let (old, new) = (before.visibility.to_string(), after.visibility.to_string());
    let told = [
        ("project_visibility_level_updated", "visibility", old, new),
        ("project_name_updated", "name", before.name.clone(), after.name.clone()),
        ("project_path_updated", "path", before.full_path.clone(), after.full_path.clone()),
    ];
    let mut is_told = false;
    for (name, what, from, to) in told {
        if from != to {
            is_told = true;
            let change = AuditRecord::change(name, place, what).detail("from", from);
            tx.mention(change.detail("to", to).target("Project", after.id.0, &after.name));
        }
    }
    if !is_told {
        let change = AuditRecord::change("project_settings_updated", place, "settings");
        tx.mention(change.target("Project", after.id.0, &after.name));
    }
}

/// Refuses a reach that the installation keeps to its administrators.
pub(super) fn ensure_unrestricted(
    actor: Actor,
    installation: &crate::settings::Settings,
    wanted: Visibility,
) -> Result<()> {
    if actor.admin || !installation.restricted_visibility_levels.contains(&wanted) {
        return Ok(());
    }
    let text = format!("{wanted} has been restricted by your GitLab administrator");
    Err(Error::invalid("visibility_level", text))
}

/// Refuses to switch shared runners on where the group keeps them off for all below it.
fn ensure_runners(home: &Namespace, old: &Settings, change: &SettingsChange) -> Result<()> {
    let switched_on = change.shared_runners_enabled == Some(true) && !old.shared_runners_enabled;
    let above = home.settings().shared_runners_setting();
    match switched_on && above == SharedRunners::DisabledAndUnoverridable {
        false => Ok(()),
        true => Err(Error::invalid(
            "shared_runners_enabled",
            "cannot be enabled because parent group does not allow it",
        )),
    }
}

/// Refuses an administrator a storage that is not there; from anybody else the wish does not count.
fn ensure_storage(actor: Actor, change: &ProjectChange) -> Result<()> {
    let wanted = change.repository_storage.as_deref().filter(|_| actor.admin);
    match wanted.is_none_or(|wanted| wanted.is_empty() || wanted == STORAGE) {
        true => Ok(()),
        false => Err(Error::invalid("repository_storage", "is not included in the list")),
    }
}

/// Refuses settings that no job could run with.
pub(super) fn ensure_possible(change: &SettingsChange) -> Result<()> {
    /// Ten minutes to a month.
    const TIMEOUT: RangeInclusive<i64> = 600..=2_678_400;
    const DEPTH: RangeInclusive<i64> = 0..=1000;
    let mut faults = Faults::default();
    if change.build_timeout.is_some_and(|seconds| !TIMEOUT.contains(&seconds)) {
        faults.add("build_timeout", "needs to be between 10 minutes and 1 month");
    }
    faults.range("ci_default_git_depth", change.ci_default_git_depth.flatten(), DEPTH);
    faults.into_result()
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
    let columns = Columns { archived: Some(archived), ..Columns::default() };
    let project = change::update(tx, grant.project(), columns, FeatureChange::default())?;
    let name = if archived { "project_archived" } else { "project_unarchived" };
    let change = AuditRecord::change(name, AuditPlace::Project(project.id), "archived");
    tx.mention(change.target("Project", project.id.0, &project.name));
    Ok(project)
}

/// Moves a project into another namespace.
pub fn transfer(tx: &mut Tx<'_>, grant: &Grant<OwnProject>, target: &IdOrPath) -> Result<Project> {
    access::alone(tx)?;
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
    access::alone(tx)?;
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
    access::alone(tx)?;
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
