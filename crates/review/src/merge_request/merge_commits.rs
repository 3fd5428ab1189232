//! Merge requests that were merged, found by what came of them.

use db::{Tx, each_backend, error, schema::merge_requests};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{MergeRequestId, ProjectId},
};

use super::MergeRequestState;

const NOUN: &str = "Merge Request";
/// So many commits are looked for by one statement.
const AT_ONCE: usize = 500;

pub trait MergedStore {
    /// Those that one of these commits merged, or whose newest commit is among them.
    fn merged_by_commits(
        &mut self,
        project: ProjectId,
        shas: &[String],
    ) -> Result<Vec<MergeRequestId>>;
    /// Those that were merged into a branch, the newest first.
    fn merged_into(
        &mut self,
        project: ProjectId,
        branch: &str,
        most: i64,
    ) -> Result<Vec<MergeRequestId>>;
}

impl MergedStore for Tx<'_> {
    fn merged_by_commits(
        &mut self,
        project: ProjectId,
        shas: &[String],
    ) -> Result<Vec<MergeRequestId>> {
        let mut found: Vec<MergeRequestId> = Vec::new();
        // A statement for each column, since each has an index of its own.
        macro_rules! by {
            ($column:ident, $some:expr) => {{
                let rows: Vec<MergeRequestId> = each_backend!(self, |conn| merge_requests::table
                    .filter(merge_requests::$column.eq_any($some))
                    .filter(merge_requests::project_id.eq(project))
                    .filter(merge_requests::state.eq(MergeRequestState::Merged))
                    .select(merge_requests::id)
                    .load(conn)
                    .map_err(error(NOUN)))?;
                found.extend(rows);
            }};
        }
        for some in shas.chunks(AT_ONCE) {
            by!(merge_commit_sha, some);
            by!(squash_commit_sha, some);
            by!(head_sha, some);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn merged_into(
        &mut self,
        project: ProjectId,
        branch: &str,
        most: i64,
    ) -> Result<Vec<MergeRequestId>> {
        let into =
            merge_requests::project_id.eq(project).and(merge_requests::target_branch.eq(branch));
        each_backend!(self, |conn| merge_requests::table
            .filter(into)
            .filter(merge_requests::state.eq(MergeRequestState::Merged))
            .order(merge_requests::id.desc())
            .limit(most)
            .select(merge_requests::id)
            .load(conn)
            .map_err(error(NOUN)))
    }
}
