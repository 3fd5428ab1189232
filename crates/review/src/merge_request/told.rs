//! What changed of a merge request, told among its notes and to those who listen.

use db::Tx;
use kernel::{
    Result,
    ids::{MilestoneId, UserId},
};

use super::{Event, MergeRequest, draft::ready, state::Step};
use crate::{
    item::{assignees::PeopleMoved, milestones},
    note::write_system_note,
    ports::People,
};

/// The names of the fields that differ.
pub(super) fn fields(old: &MergeRequest, new: &MergeRequest) -> Vec<&'static str> {
    let all = [
        ("title", old.title != new.title),
        ("description", old.description != new.description),
        ("target_branch", old.target_branch != new.target_branch),
        (
            "force_remove_source_branch",
            old.force_remove_source_branch != new.force_remove_source_branch,
        ),
        ("squash", old.squash != new.squash),
        ("allow_collaboration", old.allow_collaboration != new.allow_collaboration),
        ("approvals_before_merge", old.approvals_before_merge != new.approvals_before_merge),
    ];
    all.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
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
        texts
            .push(format!("changed title from **{{-{}-}}** to **{{+{}+}}**", old.title, new.title));
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

pub(super) fn milestone(
    tx: &mut Tx<'_>,
    by: UserId,
    row: &MergeRequest,
    to: Option<MilestoneId>,
) -> Result<()> {
    let text = milestones::sentence(tx, to)?;
    write_system_note(tx, &row.item(), by, &text)
}

pub(super) fn lock(tx: &mut Tx<'_>, by: UserId, row: &MergeRequest, locked: bool) -> Result<()> {
    let done = if locked { "locked" } else { "unlocked" };
    write_system_note(tx, &row.item(), by, &format!("{done} this merge request"))
}

/// `requested review from @ada and @bob`
pub(super) fn reviewers(
    tx: &mut Tx<'_>,
    people: &impl People,
    by: UserId,
    row: &MergeRequest,
    moved: &PeopleMoved,
) -> Result<()> {
    let all: Vec<UserId> = moved.added.iter().chain(&moved.removed).copied().collect();
    let names = people.names(tx, &all)?;
    let listed = |some: &[UserId]| {
        let named: Vec<String> =
            some.iter().filter_map(|id| names.get(id)).map(|name| format!("@{name}")).collect();
        match named.split_last() {
            Some((last, others)) if !others.is_empty() => {
                Some(format!("{} and {last}", others.join(", ")))
            }
            Some((last, _)) => Some(last.clone()),
            None => None,
        }
    };
    let asked = listed(&moved.added).map(|names| format!("requested review from {names}"));
    let freed = listed(&moved.removed).map(|names| format!("removed review request for {names}"));
    let texts: Vec<String> = [asked, freed].into_iter().flatten().collect();
    match texts.is_empty() {
        true => Ok(()),
        false => write_system_note(tx, &row.item(), by, &texts.join(" and ")),
    }
}

/// Tells that a merge request took a step; where it took it by itself, not among its notes.
pub(crate) fn step(
    tx: &mut Tx<'_>,
    row: &MergeRequest,
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
    tx.emit(Event::Stepped { merge_request, project, user: by, step })
}
