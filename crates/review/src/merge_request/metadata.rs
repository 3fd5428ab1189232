//! Labels, people and the milestone of a merge request, and how they change.

use db::Tx;
use kernel::{
    Result,
    ids::{MilestoneId, UserId},
};

use super::{Columns, MergeRequest, MergeRequestStore as _, ReviewerStore as _, change_notes};
use crate::{
    Home, activity,
    event::Change,
    item::{
        ItemStore as _, assignees,
        labels::{self, LabelChange, UnknownLabels},
        milestones,
    },
    label::Label,
    ports::{GroupHierarchy, People},
    todo::{TodoAction, TodoStore as _},
};

/// Fields that only members who may manage merge requests can change.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    pub labels: LabelChange,
    /// Nobody, or only the number 0, takes it from everybody.
    pub assignees: Option<Vec<UserId>>,
    pub reviewers: Option<Vec<UserId>>,
    pub milestone: Option<Option<MilestoneId>>,
    pub discussion_locked: Option<bool>,
}

/// Gives a merge request labels, people and a milestone. The answer tells what changed.
pub(super) fn save_metadata(
    tx: &mut Tx<'_>,
    by: UserId,
    around: &(impl GroupHierarchy + People),
    row: &MergeRequest,
    asked: &Metadata,
) -> Result<Vec<Change>> {
    let mut new = row.clone();
    if let Some(id) = asked.milestone {
        new.milestone_id = milestones::usable(tx, around, row.project_id, id)?;
    }
    new.discussion_locked = asked.discussion_locked.or(row.discussion_locked);
    let mut changes = change_notes::fields(row, &new);
    if !changes.is_empty() {
        let columns = Columns {
            milestone_id: Some(new.milestone_id),
            discussion_locked: Some(new.discussion_locked),
            ..Columns::default()
        };
        tx.change_merge_request(row.id, &columns)?;
        change_notes::place(tx, by, row, &new)?;
    }
    if new.milestone_id != row.milestone_id {
        let (before, after) = (row.milestone_id, new.milestone_id);
        activity::milestone_changed(tx, &row.item(), by, before, after)?;
    }
    changes.extend(relabel(tx, by, around, row, &asked.labels)?);
    changes.extend(reassign(tx, by, around, row, asked.assignees.as_deref())?);
    changes.extend(ask_reviewers(tx, by, around, row, asked.reviewers.as_deref())?);
    Ok(changes)
}

fn relabel(
    tx: &mut Tx<'_>,
    by: UserId,
    around: &impl GroupHierarchy,
    row: &MergeRequest,
    asked: &LabelChange,
) -> Result<Option<Change>> {
    if asked.is_empty() {
        return Ok(None);
    }
    let item = row.item();
    let old = tx.labels_of(item.id.kind, &[item.id.id])?.remove(&item.id.id).unwrap_or_default();
    let home = Home::Project(row.project_id);
    let new = labels::chosen(tx, around, home, &old, asked, UnknownLabels::Make(by))?;
    let moved = labels::keep(tx, item.id, &old, &new)?;
    let named = |labels: &[Label]| labels.iter().map(|label| label.id).collect::<Vec<_>>();
    activity::labels_changed(tx, &item, by, &named(&moved.added), &named(&moved.removed))?;
    let ids = |labels: &[Label]| labels.iter().map(|label| label.id.0).collect::<Vec<_>>();
    let change = change_notes::listed("labels", ids(&old), ids(&new));
    Ok((!moved.is_empty()).then_some(change))
}

fn reassign(
    tx: &mut Tx<'_>,
    by: UserId,
    people: &impl People,
    row: &MergeRequest,
    asked: Option<&[UserId]>,
) -> Result<Option<Change>> {
    let (Some(asked), item) = (asked, row.item()) else { return Ok(None) };
    let Some(new) = assignees::chosen(tx, people, &item, asked)? else { return Ok(None) };
    let old = tx.assignees_of(item.id.kind, &[item.id.id])?.remove(&item.id.id).unwrap_or_default();
    let moved = assignees::keep(tx, &item, &old, &new)?;
    if moved.is_empty() {
        return Ok(None);
    }
    assignees::tell(tx, people, &item, by, &moved)?;
    for person in &moved.added {
        tx.raise_todo(&item, *person, by, TodoAction::Assigned, None)?;
    }
    Ok(Some(change_notes::listed("assignees", numbers(&old), numbers(&new))))
}

fn ask_reviewers(
    tx: &mut Tx<'_>,
    by: UserId,
    people: &impl People,
    row: &MergeRequest,
    asked: Option<&[UserId]>,
) -> Result<Option<Change>> {
    let (Some(asked), item) = (asked, row.item()) else { return Ok(None) };
    let Some(new) = assignees::chosen(tx, people, &item, asked)? else { return Ok(None) };
    let old = tx.reviewers_of(&[row.id])?.remove(&row.id).unwrap_or_default();
    let old: Vec<UserId> = old.into_iter().map(|reviewer| reviewer.user_id).collect();
    let moved = assignees::AssigneeDiff::between(&old, &new);
    if moved.is_empty() {
        return Ok(None);
    }
    tx.save_reviewers(row.id, &new)?;
    change_notes::reviewers(tx, people, by, row, &moved)?;
    for person in &moved.added {
        tx.raise_todo(&item, *person, by, TodoAction::ReviewRequested, None)?;
    }
    Ok(Some(change_notes::listed("reviewers", numbers(&old), numbers(&new))))
}

fn numbers(people: &[UserId]) -> Vec<i64> {
    people.iter().map(|person| person.0).collect()
}
