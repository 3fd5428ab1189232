//! System notes and events about changes of a merge request.

use db::Tx;
use kernel::{Result, ids::UserId};

use super::{Event, MergeRequest, MergeRequestState, draft::ready, state::Step};
use crate::{
    event::{Change, EarlierValues},
    item::{assignees::AssigneeDiff, milestones},
    note::{sentence, write_system_note},
    ports::People,
};

/// Every field with another value than before.
pub(super) fn fields(old: &MergeRequest, new: &MergeRequest) -> Vec<Change> {
    let mut all = Vec::new();
    let mut note = |field: &'static str, of: fn(&MergeRequest) -> Option<String>| {
        let (before, after) = (of(old), of(new));
        if before != after {
            all.push(Change { field, before, after });
        }
    };
    note("title", |row| Some(row.title.clone()));
    note("description", |row| row.description.clone());
    note("draft", |row| Some(row.draft.to_string()));
    note("target_branch", |row| Some(row.target_branch.clone()));
    note("milestone_id", |row| row.milestone_id.map(|id| id.to_string()));
    note("discussion_locked", |row| Some(row.discussion_locked.unwrap_or_default().to_string()));
    note("force_remove_source_branch", |row| {
        row.force_remove_source_branch.map(|value| value.to_string())
    });
    note("squash", |row| Some(row.squash.to_string()));
    note("allow_collaboration", |row| Some(row.allow_collaboration.to_string()));
    note("approvals_before_merge", |row| row.approvals_before_merge.map(|count| count.to_string()));
    all
}

/// The attributes of a merge that have other values than before, although nobody names them.
pub(super) fn implied(before: &MergeRequest, after: &MergeRequest) -> Vec<Change> {
    let waits = |row: &MergeRequest| Some(row.auto_merge.is_some());
    let (sha, text) = (&before.merge_commit_sha, &before.merge_error);
    let all = [
        Change::between("merge_commit_sha", sha.as_ref(), after.merge_commit_sha.as_ref()),
        Change::between("merge_error", text.as_ref(), after.merge_error.as_ref()),
        Change::between("merge_user_id", before.merge_user_id, after.merge_user_id),
        Change::between("merge_when_pipeline_succeeds", waits(before), waits(after)),
    ];
    all.into_iter().flatten().collect()
}

/// A list of ids that is another one now.
pub(super) fn listed(
    field: &'static str,
    before: impl IntoIterator<Item = i64>,
    after: impl IntoIterator<Item = i64>,
) -> Change {
    let text = |ids: &mut dyn Iterator<Item = i64>| {
        Some(ids.map(|id| id.to_string()).collect::<Vec<_>>().join(","))
    };
    let (before, after) = (text(&mut before.into_iter()), text(&mut after.into_iter()));
    Change { field, before, after }
}

/// Tells what of a merge request reads otherwise now.
pub(super) fn tell(
    tx: &mut Tx<'_>,
    by: UserId,
    old: &MergeRequest,
    new: &MergeRequest,
) -> Result<()> {
    let mut texts = Vec::new();
    if ready(&old.title) != ready(&new.title) {
        texts.push(sentence::title(&old.title, &new.title));
    }
    if old.draft != new.draft {
        let now = if new.draft { "draft" } else { "ready" };
        texts.push(format!("marked this merge request as **{now}**"));
    }
    if old.description != new.description {
        texts.push("changed the description".to_owned());
    }
    if old.target_branch != new.target_branch {
        let (from, to) = (&old.target_branch, &new.target_branch);
        texts.push(format!("changed target branch from `{from}` to `{to}`"));
    }
    let item = new.item();
    texts.iter().try_for_each(|text| write_system_note(tx, &item, by, text))
}

/// Tells that a merge request lies elsewhere, or is open to others, than before.
pub(super) fn place(
    tx: &mut Tx<'_>,
    by: UserId,
    old: &MergeRequest,
    new: &MergeRequest,
) -> Result<()> {
    let item = new.item();
    if old.milestone_id != new.milestone_id {
        let text = milestones::sentence(tx, new.milestone_id)?;
        write_system_note(tx, &item, by, &text)?;
    }
    let locked = new.discussion_locked.unwrap_or_default();
    if old.discussion_locked.unwrap_or_default() != locked {
        let done = if locked { "locked" } else { "unlocked" };
        write_system_note(tx, &item, by, &format!("{done} this merge request"))?;
    }
    Ok(())
}

/// `requested review from @ada and @bob`
pub(super) fn reviewers(
    tx: &mut Tx<'_>,
    people: &impl People,
    by: UserId,
    row: &MergeRequest,
    moved: &AssigneeDiff,
) -> Result<()> {
    let all: Vec<UserId> = moved.added.iter().chain(&moved.removed).copied().collect();
    let names = people.names(tx, &all)?;
    let list = |people: &[UserId]| -> Vec<String> {
        people.iter().filter_map(|id| names.get(id)).map(|name| format!("@{name}")).collect()
    };
    let text = sentence::reviewers(&list(&moved.added), &list(&moved.removed));
    match text.is_empty() {
        true => Ok(()),
        false => write_system_note(tx, &row.item(), by, &text),
    }
}

/// Tells that a merge request took a step; where it took it by itself, not among its notes.
pub(crate) fn step(
    tx: &mut Tx<'_>,
    (row, before): (&MergeRequest, &MergeRequest),
    by: Option<UserId>,
    step: Step,
) -> Result<()> {
    let text = match step {
        Step::Close => "closed",
        Step::Reopen => "reopened",
        Step::Merge => "merged",
        Step::Lock | Step::Unlock => return Ok(()),
    };
    if let Some(by) = by {
        write_system_note(tx, &row.item(), by, text)?;
    }
    let (merge_request, project) = (row.id, row.project_id);
    let earlier = EarlierValues {
        updated_at: Some(before.updated_at),
        closed_at: before.closed_at,
        was_open: Some(before.state == MergeRequestState::Opened),
        implied: implied(before, row),
    };
    tx.emit(Event::Stepped { merge_request, project, user: by, step, earlier })
}
