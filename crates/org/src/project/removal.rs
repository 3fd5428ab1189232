//! Removing projects: at once, or marked for a day to come.

use db::{Tx, each_backend, error, schema::projects};
use diesel::prelude::*;
use kernel::{
    Error, Grant, Result, Ts,
    ids::{ProjectId, UserId},
};
use time::Duration;

use super::{
    FeatureChange, Project, actions,
    change::{self, Columns},
    event::Event,
    home,
    store::ProjectStore,
};
use crate::{
    access, namespace::store::NamespaceStore, policy::OwnProject, settings::store::SettingsStore,
};

const NOT_MARKED: &str = "Project must be marked for deletion first.";
const WRONG_PATH: &str =
    "`full_path` is incorrect. You must enter the complete path for the project.";
const NOTHING_TO_RESTORE: &str = "Project has not been marked for deletion";

/// Options of removing a project.
#[derive(Clone, Debug, Default)]
pub struct Removal {
    /// One that is marked already goes now.
    pub permanently: bool,
    /// Its full path once more, so that nobody does that by mistake.
    pub full_path: Option<String>,
    pub unless_newer: Option<Ts>,
}

/// Removes a project, or marks it where the installation gives projects some days more. Answers with the project
/// where it is gone.
///
/// # Errors
/// `Precondition` for one that changed since; `BadRequest` where it cannot be removed for good.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<OwnProject>,
    how: &Removal,
) -> Result<Option<Project>> {
    access::lock_access_projection(tx)?;
    let project = tx.project(grant.project())?;
    project.updated_at.ensure_unchanged_since(how.unless_newer)?;
    let is_marked = project.marked_for_deletion_at.is_some();
    if how.permanently {
        ensure_final(&project, how)?;
        return actions::delete(tx, grant, None).map(Some);
    }
    if is_marked {
        return Ok(None);
    }
    if !tx.settings()?.delayed_project_deletion() {
        return actions::delete(tx, grant, None).map(Some);
    }
    let user = grant.actor().id;
    set_deletion(tx, project.id, Some(tx.now), user)?;
    let suffix = suffix(&project);
    rename(
        tx,
        &project,
        &format!("{}{suffix}", project.name),
        &format!("{}{suffix}", project.path),
    )?;
    tx.emit(Event::ProjectDeletionMarked { project: project.id, user })?;
    Ok(None)
}

fn ensure_final(project: &Project, how: &Removal) -> Result<()> {
    let why = if project.marked_for_deletion_at.is_none() {
        NOT_MARKED
    } else if how.full_path.as_ref() != Some(&project.full_path) {
        WRONG_PATH
    } else {
        return Ok(());
    };
    Err(Error::bad_request().whole(why.to_owned()))
}

/// What the name and the path of a project end with while it waits, so that both are free for others.
fn suffix(project: &Project) -> String {
    format!("-deleted-{}", project.id)
}

fn rename(tx: &mut Tx<'_>, project: &Project, name: &str, path: &str) -> Result<()> {
    let home = tx.namespace(project.namespace_id)?;
    home::move_to_address(tx, project, &home, name, path)?;
    Ok(())
}

fn set_deletion(
    tx: &mut Tx<'_>,
    project: ProjectId,
    at: Option<Ts>,
    by: Option<UserId>,
) -> Result<()> {
    let columns = Columns {
        marked_for_deletion_at: Some(at),
        marked_by: Some(by),
        archived: Some(at.is_some()),
        ..Columns::default()
    };
    change::update(tx, project, columns, FeatureChange::default())?;
    Ok(())
}

/// Lets a project stay that was to go, under its old name where nobody else has it by now.
///
/// # Errors
/// `BadRequest` for one that is not to go.
pub fn restore(tx: &mut Tx<'_>, grant: &Grant<OwnProject>) -> Result<Project> {
    access::lock_access_projection(tx)?;
    let project = tx.project(grant.project())?;
    if project.marked_for_deletion_at.is_none() {
        return Err(Error::bad_request().whole(NOTHING_TO_RESTORE));
    }
    set_deletion(tx, project.id, None, None)?;
    let suffix = suffix(&project);
    let (name, path) = (project.name.strip_suffix(&suffix), project.path.strip_suffix(&suffix));
    if let (Some(name), Some(path)) = (name, path) {
        let home = tx.namespace(project.namespace_id)?;
        if home::taken(tx, &home, name, path, Some(project.id))?.is_empty() {
            rename(tx, &project, name, path)?;
        }
    }
    tx.emit(Event::ProjectRestored { project: project.id, user: grant.actor().id })?;
    tx.project(project.id)
}

/// Removes a project whose days are over; tells whether there may be more.
pub fn remove_overdue(tx: &mut Tx<'_>) -> Result<bool> {
    access::lock_access_projection(tx)?;
    let period = Duration::days(tx.settings()?.deletion_adjourned_period);
    let limit = tx.now.plus(-period);
    let overdue = projects::table
        .filter(projects::marked_for_deletion_at.le(limit))
        .filter(projects::deleted_at.is_null())
        .order(projects::id)
        .limit(1);
    let overdue: Option<Project> = each_backend!(tx, |conn| overdue
        .select(Project::as_select())
        .get_result(conn)
        .optional()
        .map_err(error("Project")))?;
    let Some(project) = overdue else { return Ok(false) };
    actions::discard(tx, &project)?;
    tx.emit(Event::NetworkLeft { project: project.id, user: project.marked_by })?;
    Ok(true)
}
