//! The commits of merge requests, and those of the target shown as context.

use std::collections::{HashMap, HashSet};

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    schema::{
        merge_request_commits as commits, merge_request_context_commits as context, merge_requests,
    },
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{MergeRequestId, ProjectId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{MergeRequest, MergeRequestState};

/// So many rows go into one statement.
const AT_ONCE: usize = 500;
/// So many rows are looked through at a time.
const HELD_AT_ONCE: i64 = 10_000;

pub trait MergeRequestCommitStore {
    /// Makes these the commits that a merge request holds.
    fn save_commits(&mut self, of: MergeRequestId, shas: &[String]) -> Result<()>;
    /// Which of these merge requests hold one of these commits. Asked by commits where those are few, and else by what
    /// the merge requests hold: a push of a whole history asks no more than that.
    fn holding_any(
        &mut self,
        among: &[MergeRequestId],
        shas: &HashSet<String>,
    ) -> Result<HashSet<MergeRequestId>>;
    /// The merge requests of a project that hold a commit, or became it when they were merged; newest first.
    fn merge_requests_with(
        &mut self,
        project: ProjectId,
        sha: &str,
        page: PageRequest,
    ) -> Result<Page<MergeRequest>>;
    /// Which merge request of a project first brought each of these commits, by its number.
    fn merged_with(&mut self, project: ProjectId, shas: &[String]) -> Result<HashMap<String, i64>>;
    /// The merge request of a project that this commit merged, by its number.
    fn find_merged_by(&mut self, project: ProjectId, commit: &str) -> Result<Option<i64>>;
    /// Commits that are shown beside its own, in the order in which they were given.
    fn context_commits(&mut self, of: MergeRequestId) -> Result<Vec<String>>;
    fn insert_context_commits(&mut self, of: MergeRequestId, shas: &[String]) -> Result<()>;
    fn delete_context_commits(&mut self, of: MergeRequestId, shas: &[String]) -> Result<()>;
}

impl MergeRequestCommitStore for Tx<'_> {
    fn save_commits(&mut self, of: MergeRequestId, shas: &[String]) -> Result<()> {
        let mine = commits::table.filter(commits::merge_request_id.eq(of));
        let old: Vec<String> = each_backend!(self, |conn| mine
            .select(commits::sha)
            .load(conn)
            .map_err(error("Commit")))?;
        let new: HashSet<&str> = shas.iter().map(String::as_str).collect();
        let gone: Vec<&String> = old.iter().filter(|sha| !new.contains(sha.as_str())).collect();
        for some in gone.chunks(AT_ONCE) {
            let rows = mine.filter(commits::sha.eq_any(some.iter().copied()));
            each_backend!(self, |conn| diesel::delete(rows)
                .execute(conn)
                .map_err(error("Commit")))?;
        }
        let known: HashSet<&str> = old.iter().map(String::as_str).collect();
        let added: Vec<&str> = new.into_iter().filter(|sha| !known.contains(sha)).collect();
        for some in added.chunks(AT_ONCE) {
            let rows: Vec<_> = some
                .iter()
                .map(|sha| (commits::merge_request_id.eq(of), commits::sha.eq(*sha)))
                .collect();
            each_backend!(self, |conn| diesel::insert_into(commits::table)
                .values(&rows)
                .execute(conn)
                .map_err(error("Commit")))?;
        }
        Ok(())
    }

    fn holding_any(
        &mut self,
        among: &[MergeRequestId],
        shas: &HashSet<String>,
    ) -> Result<HashSet<MergeRequestId>> {
        let mut found = HashSet::new();
        for some in among.chunks(AT_ONCE) {
            match shas.len() {
                0..=AT_ONCE => found.extend(holding_few(self, some, shas)?),
                _ => found.extend(holding_many(self, some, shas)?),
            }
        }
        Ok(found)
    }

    fn merge_requests_with(
        &mut self,
        project: ProjectId,
        sha: &str,
        page: PageRequest,
    ) -> Result<Page<MergeRequest>> {
        let (items, total) = each_backend!(self, |conn| {
            let chosen = || {
                let holding =
                    commits::table.filter(commits::sha.eq(sha)).select(commits::merge_request_id);
                merge_requests::table.filter(merge_requests::project_id.eq(project)).filter(
                    merge_requests::id
                        .eq_any(holding)
                        .or(merge_requests::merge_commit_sha.eq(sha).assume_not_null())
                        .or(merge_requests::squash_commit_sha.eq(sha).assume_not_null()),
                )
            };
            let items = chosen()
                .order(merge_requests::id.desc())
                .limit(page.per_page)
                .offset(page.offset())
                .select(MergeRequest::as_select())
                .load(conn)
                .map_err(error("Merge request"))?;
            let count = CountOf(chosen().select(merge_requests::id).limit(COUNT_LIMIT + 1));
            let total: i64 = count.get_result(conn).map_err(error("Merge request"))?;
            (items, total)
        });
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn merged_with(&mut self, project: ProjectId, shas: &[String]) -> Result<HashMap<String, i64>> {
        let mut found: Vec<(i64, String)> = Vec::new();
        for some in shas.chunks(AT_ONCE) {
            let merged = || {
                merge_requests::table
                    .filter(merge_requests::project_id.eq(project))
                    .filter(merge_requests::state.eq(MergeRequestState::Merged))
            };
            let holding: Vec<(i64, String)> = each_backend!(self, |conn| merged()
                .inner_join(commits::table.on(commits::merge_request_id.eq(merge_requests::id)))
                .filter(commits::sha.eq_any(some))
                .select((merge_requests::iid, commits::sha))
                .load(conn)
                .map_err(error("Merge request")))?;
            found.extend(holding);
            type MergeCommitRow = (i64, Option<String>, Option<String>);
            let merge_commits: Vec<MergeCommitRow> = each_backend!(self, |conn| merged()
                .filter(
                    merge_requests::merge_commit_sha
                        .eq_any(some)
                        .or(merge_requests::squash_commit_sha.eq_any(some)),
                )
                .select((
                    merge_requests::iid,
                    merge_requests::merge_commit_sha,
                    merge_requests::squash_commit_sha,
                ))
                .load(conn)
                .map_err(error("Merge request")))?;
            for (iid, merge, squash) in merge_commits {
                found.extend([merge, squash].into_iter().flatten().map(|sha| (iid, sha)));
            }
        }
        // Of several the oldest counts: it is written last.
        found.sort_unstable_by(|one, other| other.cmp(one));
        Ok(found.into_iter().map(|(iid, sha)| (sha, iid)).collect())
    }

    fn find_merged_by(&mut self, project: ProjectId, commit: &str) -> Result<Option<i64>> {
        let merged = merge_requests::table
            .filter(merge_requests::project_id.eq(project))
            .filter(merge_requests::merge_commit_sha.eq(commit))
            .order(merge_requests::id)
            .select(merge_requests::iid);
        each_backend!(self, |conn| merged.first(conn).optional().map_err(error("Merge request")))
    }

    fn context_commits(&mut self, of: MergeRequestId) -> Result<Vec<String>> {
        each_backend!(self, |conn| context::table
            .filter(context::merge_request_id.eq(of))
            .order(context::id)
            .select(context::sha)
            .load(conn)
            .map_err(error("Commit")))
    }

    fn insert_context_commits(&mut self, of: MergeRequestId, shas: &[String]) -> Result<()> {
        let rows: Vec<_> = shas
            .iter()
            .map(|sha| (context::merge_request_id.eq(of), context::sha.eq(sha)))
            .collect();
        each_backend!(self, |conn| diesel::insert_into(context::table)
            .values(&rows)
            .execute(conn)
            .map_err(error("Commit")))?;
        Ok(())
    }

    fn delete_context_commits(&mut self, of: MergeRequestId, shas: &[String]) -> Result<()> {
        let rows =
            context::table.filter(context::merge_request_id.eq(of).and(context::sha.one_of(shas)));
        each_backend!(self, |conn| diesel::delete(rows).execute(conn).map_err(error("Commit")))?;
        Ok(())
    }
}

fn holding_few(
    tx: &mut Tx<'_>,
    among: &[MergeRequestId],
    shas: &HashSet<String>,
) -> Result<Vec<MergeRequestId>> {
    let holding = commits::table
        .filter(commits::sha.eq_any(shas))
        .filter(commits::merge_request_id.one_of(among))
        .select(commits::merge_request_id)
        .distinct();
    each_backend!(tx, |conn| holding.load(conn).map_err(error("Commit")))
}

fn holding_many(
    tx: &mut Tx<'_>,
    among: &[MergeRequestId],
    shas: &HashSet<String>,
) -> Result<HashSet<MergeRequestId>> {
    let mut found = HashSet::new();
    let mut last = (MergeRequestId(0), String::new());
    loop {
        let (of, sha) = &last;
        let left: Vec<MergeRequestId> = among.iter().copied().filter(|id| id >= of).collect();
        let held = commits::table
            .filter(commits::merge_request_id.eq_any(left))
            .filter(commits::merge_request_id.gt(of).or(commits::sha.gt(sha)))
            .order((commits::merge_request_id, commits::sha))
            .limit(HELD_AT_ONCE)
            .select((commits::merge_request_id, commits::sha));
        let held: Vec<(MergeRequestId, String)> =
            each_backend!(tx, |conn| held.load(conn).map_err(error("Commit")))?;
        found.extend(held.iter().filter(|(_, sha)| shas.contains(sha)).map(|(of, _)| *of));
        match held.into_iter().next_back() {
            Some(end) => last = end,
            None => return Ok(found),
        }
    }
}
