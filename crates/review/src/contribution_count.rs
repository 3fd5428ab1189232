//! Number of issues and merge requests that a user has written.

use db::{
    Tx, each_backend, error,
    schema::{issues, merge_requests},
};
use diesel::prelude::*;
use kernel::{Result, ids::UserId};

/// Of what somebody is the author, wherever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContributionCount {
    pub issues: i64,
    pub merge_requests: i64,
}

pub fn written_by(tx: &mut Tx<'_>, user: UserId) -> Result<ContributionCount> {
    let theirs = issues::table.filter(issues::author_id.eq(user)).count();
    let issues = each_backend!(tx, |conn| theirs.get_result(conn).map_err(error("Issue")))?;
    let theirs = merge_requests::table.filter(merge_requests::author_id.eq(user)).count();
    let merge_requests =
        each_backend!(tx, |conn| theirs.get_result(conn).map_err(error("Merge request")))?;
    Ok(ContributionCount { issues, merge_requests })
}
