//! How many runners projects and groups may have.

use db::{
    Tx, each_backend, error,
    schema::{runner_projects, runners},
};
use diesel::prelude::*;
use kernel::{Error, Result};

use super::{Owner, rules::STALE};

const NOUN: &str = "Runner";

/// Runners that a project and a group may have, stale ones aside; 0 is no limit.
#[derive(Clone, Copy, Debug)]
pub struct RunnerLimits {
    pub project: i64,
    pub group: i64,
}

/// Refuses a runner for a place that has as many as it may have.
///
/// # Errors
/// `BadRequest` with the limit.
pub fn ensure_room(tx: &mut Tx<'_>, owner: Owner, limits: RunnerLimits) -> Result<()> {
    let (field, noun, limit) = match owner {
        Owner::Instance => return Ok(()),
        Owner::Group(_) => ("runner_namespaces.base", "group", limits.group),
        Owner::Project(_) => ("runner_projects.base", "project", limits.project),
    };
    if limit == 0 || count(tx, owner)? < limit {
        return Ok(());
    }
    let text = format!("Maximum number of ci registered {noun} runners ({limit}) exceeded");
    Err(Error::invalid(field, text))
}

/// The runners of a place that were made, or contacted, not too long ago.
fn count(tx: &mut Tx<'_>, owner: Owner) -> Result<i64> {
    let since = tx.now.plus(-STALE);
    let recent = runners::created_at.gt(since).or(runners::contacted_at.gt(since));
    match owner {
        Owner::Instance => Ok(0),
        Owner::Group(group) => {
            let own = runners::table.filter(runners::group_id.eq(group)).filter(recent);
            each_backend!(tx, |conn| own.count().get_result(conn).map_err(error(NOUN)))
        }
        Owner::Project(project) => {
            let own = runner_projects::table
                .inner_join(runners::table)
                .filter(runner_projects::project_id.eq(project))
                .filter(recent);
            each_backend!(tx, |conn| own.count().get_result(conn).map_err(error(NOUN)))
        }
    }
}
