//! Changing a merge request: its words, its people and labels, where it leads, and whether it is open.

use db::Tx;
use kernel::{AccessLevel::Developer, Error, Grant, Result, Standing, ids::UserId};

use super::{
    BranchPair, Columns, Event, Heads, MergeRequest, MergeRequestState, MergeRequestStore as _,
    ReviewState, ReviewerStore as _, actions, change_notes,
    draft::is_draft,
    fork_push_access::may_allow_collaboration,
    merge::{
        MergeabilityStore as _,
        auto::{self, Reason},
    },
    mergeability::CheckStep,
    metadata::{Metadata, save_metadata},
    rules,
    state::Step,
    version,
};
use crate::{
    Home,
    event::EarlierValues,
    item::{
        ItemStore as _,
        edit::{last_edit, record_edit},
        hold, tasks_in,
    },
    policy::TakePartInMergeRequests,
    ports::{Branches, GroupHierarchy, People},
    sequence,
    todo::{TodoAction, TodoStore as _},
};

/// Fields of a merge request to change; `None` keeps a value.
#[derive(Clone, Debug, Default)]
pub struct MergeRequestChange {
    pub title: Option<String>,
    pub description: Option<Option<String>>,
    pub step: Option<Step>,
    pub target_branch: Option<String>,
    pub metadata: Metadata,
    pub remove_source_branch: Option<bool>,
    pub squash: Option<bool>,
    pub allow_collaboration: Option<bool>,
    pub approvals_before_merge: Option<i64>,
}

impl MergeRequestChange {
    /// Whether git has to be asked before: another target, or an old source again.
    pub fn asks_git(&self) -> bool {
        self.target_branch.is_some() || self.step == Some(Step::Reopen)
    }
}

/// The head commits of both branches, as git reported them.
#[derive(Clone, Debug)]
pub struct HeadsSnapshot {
    pub at: BranchPair,
    pub heads: Heads,
}

/// Changes a merge request. Who may not manage merge requests changes the words and the state of their own; what only
/// managers may is left out.
///
/// # Errors
/// `Forbidden` for those who neither manage merge requests, nor wrote this one, nor were given it.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<TakePartInMergeRequests>,
    around: &(impl GroupHierarchy + People + Branches),
    iid: i64,
    looked: Option<&HeadsSnapshot>,
    mut asked: MergeRequestChange,
) -> Result<MergeRequest> {
    let found = actions::find(tx, grant, iid)?;
    ensure_may_update(tx, grant.who(), &found)?;
    if !grant.who().writes(Developer) {
        asked.metadata = Metadata::default();
    }
    change(tx, grant.user()?, around, &found, looked, &asked)
}

/// Whether somebody may change the words and the state of a merge request that they may read.
pub fn may_update(tx: &mut Tx<'_>, who: &Standing, found: &MergeRequest) -> Result<bool> {
    let Some(user) = who.actor.id.filter(|_| !who.archived) else { return Ok(false) };
    let is_known = who.writes(Developer) || found.author_id == user;
    let is_assigned = !is_known && tx.is_assigned(found.id.into(), user)?;
    Ok(may_update_as(who, found, is_assigned))
}

/// As [`may_update`], where it is known whether the merge request is given to them.
pub fn may_update_as(who: &Standing, found: &MergeRequest, is_assigned: bool) -> bool {
    let Some(user) = who.actor.id.filter(|_| !who.archived) else { return false };
    who.writes(Developer) || found.author_id == user || is_assigned
}

/// # Errors
/// `Forbidden` for those who may not.
pub fn ensure_may_update(tx: &mut Tx<'_>, who: &Standing, found: &MergeRequest) -> Result<()> {
    if may_update(tx, who, found)? { Ok(()) } else { Err(Error::forbidden()) }
}

/// Asks a reviewer to look at a merge request once more.
///
/// # Errors
/// As of [`update`]; `BadRequest` for somebody who is not asked to review it.
pub fn ask_again(
    tx: &mut Tx<'_>,
    grant: &Grant<TakePartInMergeRequests>,
    iid: i64,
    reviewer: UserId,
) -> Result<MergeRequest> {
    let found = actions::find(tx, grant, iid)?;
    ensure_may_update(tx, grant.who(), &found)?;
    let asked = tx.reviewers_of(&[found.id])?.remove(&found.id).unwrap_or_default();
    if !asked.iter().any(|one| one.user_id == reviewer) {
        return Err(Error::bad_request().sentences(vec!["Reviewer not found".to_owned()]));
    }
    tx.save_review_state(found.id, reviewer, ReviewState::Unreviewed)?;
    tx.raise_todo(&found.item(), reviewer, grant.user()?, TodoAction::ReviewRequested, None)?;
    Ok(found)
}

/// Changes a merge request for somebody who was found to be allowed to.
///
/// # Errors
/// `Unprocessable`, `Conflict` and `BadRequest` by the rules of merge requests; `Conflict` where its branches are not
/// those that git was asked about.
pub fn change(
    tx: &mut Tx<'_>,
    by: UserId,
    around: &(impl GroupHierarchy + People + Branches),
    old: &MergeRequest,
    looked: Option<&HeadsSnapshot>,
    asked: &MergeRequestChange,
) -> Result<MergeRequest> {
    let old = &match hold(tx, old.id.into())? {
        true => tx.merge_request(old.id)?,
        false => old.clone(),
    };
    let mut new = reworded(old, asked);
    if new.target_branch != old.target_branch && old.state == MergeRequestState::Locked {
        return Err(Error::conflict().whole("409 Conflict: Resource lock"));
    }
    if new.allow_collaboration != old.allow_collaboration
        && !may_allow_collaboration(tx, around, old, by)?
    {
        new.allow_collaboration = old.allow_collaboration;
    }
    if let Some(ends) = new.ends() {
        rules::ensure_distinct(&ends)?;
        if new.target_branch != old.target_branch && old.state == MergeRequestState::Opened {
            sequence::wait(tx, Home::Project(ends.target), "merge_request")?;
            rules::ensure_only(tx, &ends, Some(old.id))?;
        }
        rules::ensure_fit(around, &ends, &new.title, new.description.as_deref())?;
    }
    let mut changes = change_notes::fields(old, &new);
    if !changes.is_empty() {
        tx.change_merge_request(old.id, &columns(&new))?;
        change_notes::tell(tx, by, old, &new)?;
    }
    let mut implied = Vec::new();
    if new.target_branch != old.target_branch {
        let retargeted = retarget(tx, by, &new, looked)?;
        implied = change_notes::implied(old, &retargeted);
    }
    changes.extend(save_metadata(tx, by, around, &new, &asked.metadata)?);
    if !changes.is_empty() {
        let (edit, now) = (last_edit(tx, old.id.into())?, tx.now);
        implied.extend(record_edit(tx, old.id.into(), (by, Some(now)), &changes, edit)?);
        let (merge_request, project) = (old.id, old.project_id);
        let described = (old.description != new.description)
            .then(|| Box::new((old.description.clone(), new.description.clone())));
        let earlier = EarlierValues {
            updated_at: Some(old.updated_at),
            closed_at: old.closed_at,
            was_open: Some(old.state == MergeRequestState::Opened),
            implied,
        };
        let user = by;
        tx.emit(Event::Updated { merge_request, project, user, changes, described, earlier })?;
    }
    let kept = tx.merge_request(old.id)?;
    match asked.step {
        Some(Step::Close) => close(tx, kept, by),
        Some(Step::Reopen) => reopen(tx, kept, by, looked),
        _ => Ok(kept),
    }
}

/// The row with the words and flags that are asked for.
fn reworded(old: &MergeRequest, asked: &MergeRequestChange) -> MergeRequest {
    let mut new = old.clone();
    if let Some(title) = &asked.title {
        title.trim().clone_into(&mut new.title);
        new.draft = is_draft(&new.title);
    }
    if let Some(description) = &asked.description {
        new.description = description.clone().filter(|text| !text.is_empty());
        let tasks = tasks_in(new.description.as_deref().unwrap_or_default());
        (new.task_count, new.task_completed_count) = (tasks.count, tasks.completed);
    }
    // What is merged stays where it was merged.
    if let Some(branch) = &asked.target_branch
        && old.state != MergeRequestState::Merged
    {
        new.target_branch.clone_from(branch);
    }
    new.force_remove_source_branch = asked.remove_source_branch.or(old.force_remove_source_branch);
    new.squash = asked.squash.unwrap_or(old.squash);
    if old.is_from_fork() {
        new.allow_collaboration = asked.allow_collaboration.unwrap_or(old.allow_collaboration);
    }
    new.approvals_before_merge = asked.approvals_before_merge.or(old.approvals_before_merge);
    new
}

pub(super) fn columns(new: &MergeRequest) -> Columns {
    Columns {
        title: Some(new.title.clone()),
        draft: Some(new.draft),
        description: Some(new.description.clone()),
        task_count: Some(new.task_count),
        task_completed_count: Some(new.task_completed_count),
        target_branch: Some(new.target_branch.clone()),
        force_remove_source_branch: Some(new.force_remove_source_branch),
        squash: Some(new.squash),
        allow_collaboration: Some(new.allow_collaboration),
        approvals_before_merge: Some(new.approvals_before_merge),
        ..Columns::default()
    }
}

/// Another target: what is there is another version, and what was to be merged then is not meant any more.
fn retarget(
    tx: &mut Tx<'_>,
    by: UserId,
    row: &MergeRequest,
    looked: Option<&HeadsSnapshot>,
) -> Result<MergeRequest> {
    tx.forget_look(row)?;
    let ended = auto::end(tx, row, by, Reason::Retargeted)?;
    version::add(tx, row, heads_of(row, looked)?, None)?;
    Ok(ended)
}

fn heads_of<'a>(row: &MergeRequest, looked: Option<&'a HeadsSnapshot>) -> Result<&'a Heads> {
    match looked {
        Some(looked) if row.ends().as_ref() == Some(&looked.at) => Ok(&looked.heads),
        _ => Err(Error::conflict().whole("409 Conflict: Resource lock")),
    }
}

/// Closes a merge request that is open; any other stays as it is.
pub fn close(tx: &mut Tx<'_>, row: MergeRequest, by: UserId) -> Result<MergeRequest> {
    let Some(to) = row.state.after(Step::Close) else { return Ok(row) };
    let columns = Columns {
        closed_by_id: Some(Some(by)),
        closed_at: Some(Some(tx.now)),
        ..Columns::default()
    };
    auto::end(tx, &row, by, Reason::Closed)?;
    let closed = tx.step_merge_request(&row, to, &columns)?;
    tx.finish_todos(row.id.into(), by)?;
    change_notes::step(tx, (&closed, &row), Some(by), Step::Close)?;
    Ok(closed)
}

/// Opens a closed merge request again, where its source is still there; any other stays as it is.
///
/// # Errors
/// `Conflict` where another one between the same branches is open.
pub fn reopen(
    tx: &mut Tx<'_>,
    row: MergeRequest,
    by: UserId,
    looked: Option<&HeadsSnapshot>,
) -> Result<MergeRequest> {
    let Some(to) = row.state.after(Step::Reopen) else { return Ok(row) };
    let Some(ends) = row.ends() else { return Ok(row) };
    let heads = heads_of(&row, looked)?;
    if heads.head.is_none() {
        return Ok(row);
    }
    sequence::wait(tx, Home::Project(ends.target), "merge_request")?;
    rules::ensure_only(tx, &ends, Some(row.id))?;
    let columns = Columns {
        closed_by_id: Some(None),
        closed_at: Some(None),
        merge_status: Some(row.merge_status.after(CheckStep::Changed)),
        ..Columns::default()
    };
    let opened = tx.step_merge_request(&row, to, &columns)?;
    // What git is asked about it in this moment was true before it was closed.
    tx.forget_look(&opened)?;
    version::add(tx, &opened, heads, None)?;
    change_notes::step(tx, (&opened, &row), Some(by), Step::Reopen)?;
    tx.merge_request(row.id)
}
