//! The number of open issues of a project, kept up to date so that no list of projects counts them.

use std::collections::HashMap;

use db::{OneOf as _, Subselect, Tx, each_backend, error, schema::project_issue_counts as counts};
use diesel::{
    prelude::*,
    sql_types::{BigInt, Nullable},
};
use kernel::{AccessLevel, Result, Standing, ids::ProjectId};

use super::{Issue, IssueState};

/// The open issues of some projects.
#[derive(Clone, Debug, Default)]
pub struct OpenIssues(HashMap<ProjectId, (i64, i64)>);

db::subselect! {
    pub struct OpenIssueCount -> Nullable<BigInt> =
        "SELECT opened FROM project_issue_counts WHERE project_id = projects.id";
}
db::subselect! {
    pub struct Confidential -> Nullable<BigInt> =
        "SELECT confidential FROM project_issue_counts WHERE project_id = projects.id";
}

/// How many issues of each project are open, and how many of these are confidential, for statements about `projects`.
pub const BESIDE_PROJECTS: (Subselect<OpenIssueCount>, Subselect<Confidential>) =
    (Subselect::new(), Subselect::new());

impl OpenIssues {
    /// What was read [beside projects](BESIDE_PROJECTS).
    pub fn beside(
        found: impl IntoIterator<Item = (ProjectId, (Option<i64>, Option<i64>))>,
    ) -> Self {
        let found = found.into_iter().map(|(project, (all, confidential))| {
            (project, (all.unwrap_or_default(), confidential.unwrap_or_default()))
        });
        Self(found.collect())
    }

    /// Those of one project that somebody may read in general.
    pub fn of(&self, project: ProjectId, who: &Standing) -> i64 {
        let (all, confidential) = self.0.get(&project).copied().unwrap_or_default();
        if who.is(AccessLevel::Reporter) { all } else { all - confidential }
    }
}

pub trait OpenIssueStore {
    fn open_issues(&mut self, projects: &[ProjectId]) -> Result<OpenIssues>;
}

impl OpenIssueStore for Tx<'_> {
    fn open_issues(&mut self, projects: &[ProjectId]) -> Result<OpenIssues> {
        let rows: Vec<(ProjectId, i64, i64)> = each_backend!(self, |conn| counts::table
            .filter(counts::project_id.one_of(projects))
            .load(conn)
            .map_err(error("Issue")))?;
        let found = rows.into_iter().map(|(id, all, confidential)| (id, (all, confidential)));
        Ok(OpenIssues(found.collect()))
    }
}

/// What an issue counts for: as open, and as confidential among these.
pub(super) fn weight(state: IssueState, confidential: bool) -> (i64, i64) {
    let open = i64::from(state == IssueState::Opened);
    (open, if confidential { open } else { 0 })
}

impl Issue {
    pub(super) fn weight(&self) -> (i64, i64) {
        weight(self.state, self.confidential)
    }
}

/// Notes that an issue of a project counted for one thing, and now counts for another.
pub(super) fn note(
    tx: &mut Tx<'_>,
    project: ProjectId,
    before: (i64, i64),
    after: (i64, i64),
) -> Result<()> {
    if before == after {
        return Ok(());
    }
    let (all, confidential) = (after.0 - before.0, after.1 - before.1);
    let row = (
        counts::project_id.eq(project),
        counts::opened.eq(all),
        counts::confidential.eq(confidential),
    );
    let more = (
        counts::opened.eq(counts::opened + all),
        counts::confidential.eq(counts::confidential + confidential),
    );
    each_backend!(tx, |conn| diesel::insert_into(counts::table)
        .values(row)
        .on_conflict(counts::project_id)
        .do_update()
        .set(more)
        .execute(conn)
        .map_err(error("Issue")))?;
    Ok(())
}
