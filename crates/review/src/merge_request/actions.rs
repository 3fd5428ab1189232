//! Proposing, reading and removing merge requests; [`super::change`] has what happens to one meanwhile.

use db::Tx;
use kernel::{
    Ability, Error, Grant, Result, Ts,
    access::{Feature, FeatureAccess, Project},
    ids::{MilestoneId, UserId},
};

use super::{
    BranchPair, Columns, Event, ForkRelation, Heads, MergeRequest, MergeRequestStore as _, NewRow,
    draft::is_draft,
    metadata::{Metadata, save_metadata},
    rules::{self, Target},
    version,
};
use crate::{
    item::{details::ItemDetails, labels::LabelChange, removal, tasks_in},
    policy::{CreateMergeRequests, DeleteMergeRequests, ManageMergeRequests, ProposeMergeRequests},
    ports::{Branches, GroupHierarchy, People},
};

/// A merge request as it is asked for.
#[derive(Clone, Debug, Default)]
pub struct NewMergeRequest {
    pub title: String,
    pub description: Option<String>,
    /// For those who may manage merge requests of the target, as are the next three.
    pub labels: LabelChange,
    pub assignees: Option<Vec<UserId>>,
    pub reviewers: Option<Vec<UserId>>,
    pub milestone: Option<MilestoneId>,
    pub remove_source_branch: Option<bool>,
    pub allow_collaboration: bool,
    pub squash: bool,
    pub approvals_before_merge: Option<i64>,
}

/// The branches of a new merge request, how their projects are related, and their commits.
#[derive(Clone, Debug)]
pub struct MergeRequestRefs {
    pub ends: BranchPair,
    pub fork_relation: ForkRelation,
    pub heads: Heads,
}

/// Proposes what a branch holds to another one, of the same project or of one of its fork network.
///
/// # Errors
/// `Unprocessable`, `Conflict` and `BadRequest` by the rules of merge requests.
pub fn create(
    tx: &mut Tx<'_>,
    source: &Grant<ProposeMergeRequests>,
    target: &Grant<CreateMergeRequests>,
    around: &(impl GroupHierarchy + People + Branches),
    proposal: &MergeRequestRefs,
    new: NewMergeRequest,
) -> Result<MergeRequest> {
    let ends = &proposal.ends;
    if source.project() != ends.source || target.project() != ends.target {
        return Err(Error::forbidden());
    }
    let open = match target.facts().features.of(Feature::MergeRequests) {
        FeatureAccess::Disabled => Target::SwitchedOff,
        _ => Target::Open,
    };
    let (title, author) = (new.title.trim(), source.user()?);
    let description = new.description.as_deref().filter(|text| !text.is_empty());
    rules::ensure_distinct(ends)?;
    rules::ensure_possible(tx, ends, proposal.fork_relation, open)?;
    rules::ensure_fit(around, ends, title, description)?;
    let row = NewRow { ends, author, title, draft: is_draft(title), description };
    let made = tx.insert_merge_request(&row)?;
    // Whoever takes a number waits for who took the last one: a twin that was proposed meanwhile shows now.
    rules::ensure_only(tx, ends, Some(made.id))?;
    let tasks = tasks_in(description.unwrap_or_default());
    let columns = Columns {
        squash: Some(new.squash),
        allow_collaboration: Some(new.allow_collaboration && ends.source != ends.target),
        force_remove_source_branch: Some(new.remove_source_branch),
        approvals_before_merge: Some(new.approvals_before_merge),
        task_count: Some(tasks.count),
        task_completed_count: Some(tasks.completed),
        ..Columns::default()
    };
    let made = tx.change_merge_request(made.id, &columns)?;
    if target.also::<ManageMergeRequests>().is_ok() {
        let given = Metadata {
            labels: new.labels,
            assignees: new.assignees,
            reviewers: new.reviewers,
            milestone: new.milestone.map(Some),
            discussion_locked: None,
        };
        save_metadata(tx, author, around, &made, &given)?;
    }
    version::add(tx, &made, &proposal.heads, Some(author))?;
    tx.emit(Event::Opened { merge_request: made.id, project: made.project_id, user: author })?;
    tx.merge_request(made.id)
}

/// The merge request of that number, for whoever proved to be allowed something with those of the project.
///
/// # Errors
/// `NotFound` where there is none.
pub fn find<A: Ability<Scope = Project>>(
    tx: &mut Tx<'_>,
    grant: &Grant<A>,
    iid: i64,
) -> Result<MergeRequest> {
    tx.find_merge_request(grant.project(), iid)?.ok_or_else(Error::missing)
}

/// As [`find`], with what is kept beside it.
///
/// # Errors
/// `NotFound` where there is none.
pub fn find_with<A: Ability<Scope = Project>>(
    tx: &mut Tx<'_>,
    grant: &Grant<A>,
    iid: i64,
) -> Result<(MergeRequest, ItemDetails)> {
    tx.find_merge_request_with(grant.project(), iid, grant.actor())?.ok_or_else(Error::missing)
}

/// Removes a merge request, where it did not change since a moment.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<DeleteMergeRequests>,
    iid: i64,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let found = find(tx, grant, iid)?;
    found.updated_at.ensure_unchanged_since(unless_newer)?;
    removal::forget(tx, found.id.into())?;
    if !tx.delete_merge_request(found.id)? {
        return Err(Error::missing());
    }
    tx.emit(Event::Removed {
        merge_request: found.id,
        project: found.project_id,
        iid: found.iid,
        user: grant.user()?,
    })
}
