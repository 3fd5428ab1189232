//! The projects whose vulnerabilities somebody chose to watch.

use db::{Tx, each_backend, error, schema::security_dashboard_projects as chosen};
use diesel::prelude::*;
use kernel::{
    Error, Grant, Result,
    ids::{ProjectId, UserId},
};

use crate::policy::ReadVulnerabilities;

const NOUN: &str = "Project";
/// Projects that one person may watch.
pub const PROJECT_LIMIT: usize = 1_000;

/// Watches a project.
///
/// # Errors
/// `Conflict` where somebody watches it already, `Forbidden` where they watch too many.
pub fn add(tx: &mut Tx<'_>, grant: &Grant<ReadVulnerabilities>) -> Result<()> {
    let (user, project) = (grant.user()?, grant.project());
    let watched = projects(tx, user)?;
    if watched.contains(&project) {
        let text = "The project has already been added to your dashboard.";
        return Err(Error::conflict().whole(text.to_owned()));
    }
    if watched.len() >= PROJECT_LIMIT {
        let text = format!("A dashboard may have {PROJECT_LIMIT} projects");
        return Err(Error::forbidden().limit(text));
    }
    let row = (chosen::user_id.eq(user), chosen::project_id.eq(project));
    let insert = diesel::insert_into(chosen::table).values(row);
    each_backend!(tx, |conn| insert.execute(conn).map_err(error(NOUN)))?;
    Ok(())
}

/// Ends watching a project; whether it was watched.
pub fn remove(tx: &mut Tx<'_>, user: UserId, project: ProjectId) -> Result<bool> {
    let row = diesel::delete(chosen::table.find((user, project)));
    let gone = each_backend!(tx, |conn| row.execute(conn).map_err(error(NOUN)))?;
    Ok(gone > 0)
}

/// What somebody watches, the oldest project first.
pub fn projects(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<ProjectId>> {
    let rows = chosen::table.filter(chosen::user_id.eq(user)).order(chosen::project_id);
    let rows = rows.select(chosen::project_id);
    each_backend!(tx, |conn| rows.load(conn).map_err(error(NOUN)))
}
