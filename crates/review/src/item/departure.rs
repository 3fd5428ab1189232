//! What becomes of items when somebody leaves the project or group that they are in.

use db::{
    Tx, each_backend, error,
    schema::{issues, item_assignees as assignees, merge_requests},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{ProjectId, UserId},
};

use super::ItemKind;

/// The projects with issues or merge requests that somebody is to look after.
pub fn projects_of_assignee(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<ProjectId>> {
    let theirs = |kind: ItemKind| {
        assignees::table
            .filter(assignees::user_id.eq(user).and(assignees::item_kind.eq(kind)))
            .select(assignees::item_id)
    };
    let of_issues = issues::table
        .filter(issues::id.eq_any(theirs(ItemKind::Issue)))
        .select(issues::project_id)
        .distinct();
    let mut found: Vec<ProjectId> =
        each_backend!(tx, |conn| of_issues.load(conn).map_err(error("Issue")))?;
    let of_requests = merge_requests::table
        .filter(merge_requests::id.eq_any(theirs(ItemKind::MergeRequest)))
        .select(merge_requests::project_id)
        .distinct();
    let further: Vec<ProjectId> =
        each_backend!(tx, |conn| of_requests.load(conn).map_err(error("Merge request")))?;
    found.extend(further);
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Lets somebody look after nothing more in these projects.
pub fn unassign(tx: &mut Tx<'_>, user: UserId, projects: &[ProjectId]) -> Result<()> {
    let inside = issues::table.filter(issues::project_id.eq_any(projects)).select(issues::id);
    let rows = assignees::table
        .filter(assignees::user_id.eq(user).and(assignees::item_kind.eq(ItemKind::Issue)))
        .filter(assignees::item_id.eq_any(inside));
    each_backend!(tx, |conn| diesel::delete(rows).execute(conn).map_err(error("Issue")))?;
    let inside = merge_requests::table
        .filter(merge_requests::project_id.eq_any(projects))
        .select(merge_requests::id);
    let rows = assignees::table
        .filter(assignees::user_id.eq(user).and(assignees::item_kind.eq(ItemKind::MergeRequest)))
        .filter(assignees::item_id.eq_any(inside));
    each_backend!(tx, |conn| diesel::delete(rows).execute(conn).map_err(error("Merge request")))?;
    Ok(())
}
