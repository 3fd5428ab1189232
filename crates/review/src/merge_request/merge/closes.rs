//! The issues that a merge request closes when it is merged.

use std::collections::BTreeSet;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{
        issues, item_mentions as mentions, merge_request_closes as closes, merge_requests, notes,
    },
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{IssueId, MergeRequestId, NoteId, ProjectId},
};

use crate::{
    issue::Issue,
    item::{ItemKind, hold},
    merge_request::{
        MergeRequest,
        closing::{self, NamedIssue},
    },
    ports::NamedProjects,
};

pub trait ClosesStore {
    /// The issues that a merge request closes, oldest first.
    fn closed_issues(&mut self, of: MergeRequestId) -> Result<Vec<Issue>>;
    /// The issues that a merge request closes, and those that it or what is said about it for everybody names, oldest
    /// first.
    fn related_issues(&mut self, of: MergeRequestId) -> Result<Vec<Issue>>;
    /// The merge requests that close an issue, oldest first.
    fn closing_merge_requests(&mut self, of: IssueId) -> Result<Vec<MergeRequestId>>;
    /// The merge requests that close these issues, each with its project.
    fn closings_of(
        &mut self,
        issues: &[IssueId],
    ) -> Result<Vec<(IssueId, MergeRequestId, ProjectId)>>;
    /// Makes these the issues that a merge request closes, and counts them.
    fn save_closes(&mut self, of: MergeRequestId, issues: &[IssueId]) -> Result<()>;
}

impl ClosesStore for Tx<'_> {
    fn closed_issues(&mut self, of: MergeRequestId) -> Result<Vec<Issue>> {
        let ids = closes::table.filter(closes::merge_request_id.eq(of)).select(closes::issue_id);
        each_backend!(self, |conn| issues::table
            .filter(issues::id.eq_any(ids))
            .order(issues::id)
            .select(Issue::as_select())
            .load(conn)
            .map_err(error("Issue")))
    }

    fn related_issues(&mut self, of: MergeRequestId) -> Result<Vec<Issue>> {
        let closed = closes::table.filter(closes::merge_request_id.eq(of)).select(closes::issue_id);
        let internal = notes::table
            .filter(notes::item_kind.eq(ItemKind::MergeRequest).and(notes::item_id.eq(of.0)))
            .filter(notes::internal.eq(true));
        let named: Vec<(i64, i64)> = each_backend!(self, |conn| mentions::table
            .filter(mentions::source_kind.eq(ItemKind::MergeRequest))
            .filter(mentions::source_id.eq(of.0))
            .filter(mentions::target_kind.eq(ItemKind::Issue))
            .select((mentions::target_id, mentions::note_id))
            .load(conn)
            .map_err(error("Issue")))?;
        let hidden: Vec<NoteId> = each_backend!(self, |conn| internal
            .select(notes::id)
            .load(conn)
            .map_err(error("Note")))?;
        let seen = named.into_iter().filter(|(_, note)| !hidden.contains(&NoteId(*note)));
        let seen: Vec<IssueId> = seen.map(|(issue, _)| IssueId(issue)).collect();
        each_backend!(self, |conn| issues::table
            .filter(issues::id.eq_any(closed).or(issues::id.one_of(&seen)))
            .order(issues::id)
            .select(Issue::as_select())
            .load(conn)
            .map_err(error("Issue")))
    }

    fn closing_merge_requests(&mut self, of: IssueId) -> Result<Vec<MergeRequestId>> {
        each_backend!(self, |conn| closes::table
            .filter(closes::issue_id.eq(of))
            .order(closes::merge_request_id)
            .select(closes::merge_request_id)
            .load(conn)
            .map_err(error("Merge request")))
    }

    fn closings_of(
        &mut self,
        issues: &[IssueId],
    ) -> Result<Vec<(IssueId, MergeRequestId, ProjectId)>> {
        each_backend!(self, |conn| closes::table
            .inner_join(merge_requests::table)
            .filter(closes::issue_id.one_of(issues))
            .select((closes::issue_id, closes::merge_request_id, merge_requests::project_id))
            .load(conn)
            .map_err(error("Merge request")))
    }

    fn save_closes(&mut self, of: MergeRequestId, new: &[IssueId]) -> Result<()> {
        hold(self, of.into())?;
        let mine = closes::table.filter(closes::merge_request_id.eq(of));
        let old: Vec<IssueId> = each_backend!(self, |conn| mine
            .select(closes::issue_id)
            .load(conn)
            .map_err(error("Issue")))?;
        let old: BTreeSet<IssueId> = old.into_iter().collect();
        let new: BTreeSet<IssueId> = new.iter().copied().collect();
        for gone in old.difference(&new) {
            let row = diesel::delete(mine.filter(closes::issue_id.eq(*gone)));
            each_backend!(self, |conn| row.execute(conn).map_err(error("Issue")))?;
        }
        for added in new.difference(&old) {
            let row = (closes::merge_request_id.eq(of), closes::issue_id.eq(*added));
            let row = diesel::insert_into(closes::table).values(row);
            each_backend!(self, |conn| row.execute(conn).map_err(error("Issue")))?;
        }
        for changed in old.symmetric_difference(&new) {
            count(self, *changed)?;
        }
        Ok(())
    }
}

fn count(tx: &mut Tx<'_>, issue: IssueId) -> Result<()> {
    hold(tx, issue.into())?;
    let all = closes::table.filter(closes::issue_id.eq(issue)).count();
    let all: i64 = each_backend!(tx, |conn| all.get_result(conn).map_err(error("Issue")))?;
    let row = diesel::update(issues::table.find(issue)).set(issues::merge_requests_count.eq(all));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Issue")))?;
    Ok(())
}

/// The issues that texts of a project say that they close, as far as they exist, each with the place of the first text
/// that says so.
pub fn named_issues(
    tx: &mut Tx<'_>,
    projects: &impl NamedProjects,
    from: ProjectId,
    texts: &[&str],
    home: &str,
) -> Result<Vec<(Issue, usize)>> {
    let mut named: Vec<(NamedIssue, usize)> = Vec::new();
    for (place, text) in texts.iter().enumerate() {
        for issue in closing::closes(text, home) {
            if !named.iter().any(|(known, _)| *known == issue) {
                named.push((issue, place));
            }
        }
    }
    let mut found: Vec<(Issue, usize)> = Vec::new();
    for (one, place) in named {
        let project = match &one.project {
            None => Some(from),
            Some(path) => projects.project_named(tx, from, path)?,
        };
        let Some(project) = project else { continue };
        if let Some(issue) = issue_at(tx, project, one.iid)?
            && !found.iter().any(|(known, _)| known.id == issue.id)
        {
            found.push((issue, place));
        }
    }
    Ok(found)
}

fn issue_at(tx: &mut Tx<'_>, project: ProjectId, iid: i64) -> Result<Option<Issue>> {
    each_backend!(tx, |conn| issues::table
        .filter(issues::project_id.eq(project).and(issues::iid.eq(iid)))
        .select(Issue::as_select())
        .first(conn)
        .optional()
        .map_err(error("Issue")))
}

/// Keeps which issues a merge request closes, from its own words and those of its commits. Only what leads to the
/// default branch closes anything.
pub fn refresh(
    tx: &mut Tx<'_>,
    projects: &impl NamedProjects,
    of: &MergeRequest,
    default_branch: Option<&str>,
    messages: &[String],
    home: &str,
) -> Result<()> {
    if default_branch != Some(of.target_branch.as_str()) {
        return tx.save_closes(of.id, &[]);
    }
    let own = [of.title.as_str(), of.description.as_deref().unwrap_or_default()];
    let texts: Vec<&str> = own.into_iter().chain(messages.iter().map(String::as_str)).collect();
    let issues = named_issues(tx, projects, of.project_id, &texts, home)?;
    let ids: Vec<IssueId> = issues.into_iter().map(|(issue, _)| issue.id).collect();
    tx.save_closes(of.id, &ids)
}
