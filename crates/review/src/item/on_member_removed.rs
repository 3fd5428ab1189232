//! Unassigns a user who left a project or group.

use db::{OneOf as _, Tx, each_backend, error, schema::item_assignees as assignees};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{ProjectId, UserId},
};

/// The projects with issues or merge requests that somebody is to look after.
pub fn projects_of_assignee(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<ProjectId>> {
    let theirs = assignees::table
        .filter(assignees::user_id.eq(user))
        .filter(assignees::project_id.is_not_null())
        .select(assignees::project_id.assume_not_null())
        .distinct()
        .order(assignees::project_id);
    each_backend!(tx, |conn| theirs.load(conn).map_err(error("Project")))
}

/// Lets somebody look after nothing more in these projects.
pub fn unassign(tx: &mut Tx<'_>, user: UserId, projects: &[ProjectId]) -> Result<()> {
    let rows = assignees::table
        .filter(assignees::user_id.eq(user))
        .filter(assignees::project_id.one_of(projects));
    each_backend!(tx, |conn| diesel::delete(rows).execute(conn).map_err(error("Item")))?;
    Ok(())
}
