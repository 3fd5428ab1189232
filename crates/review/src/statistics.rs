//! The numbers of issues, merge requests, notes and milestones of the installation.

use db::{
    Tx, each_backend, error,
    schema::{issues, merge_requests, milestones, notes},
};
use diesel::{dsl::count_star, prelude::*};
use kernel::Result;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub issues: i64,
    pub merge_requests: i64,
    pub notes: i64,
    pub milestones: i64,
}

pub fn count(tx: &mut Tx<'_>) -> Result<Counts> {
    let issues = issues::table.select(count_star());
    let requests = merge_requests::table.select(count_star());
    let notes = notes::table.select(count_star());
    let milestones = milestones::table.select(count_star());
    Ok(Counts {
        issues: each_backend!(tx, |conn| issues.get_result(conn).map_err(error("Issue")))?,
        merge_requests: each_backend!(tx, |conn| requests
            .get_result(conn)
            .map_err(error("Merge Request")))?,
        notes: each_backend!(tx, |conn| notes.get_result(conn).map_err(error("Note")))?,
        milestones: each_backend!(tx, |conn| milestones
            .get_result(conn)
            .map_err(error("Milestone")))?,
    })
}
