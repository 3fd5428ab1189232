//! Creating merge requests: the one use case behind the REST call, quick actions and push options. What git, approvals
//! and closing patterns say about the result is there when these functions return.

use kernel::{Grant, Result, ids::ProjectId};
use org::user::User;
use review::{
    merge_request::{
        BranchPair, MergeRequest, MergeRequestStore as _,
        actions::{MergeRequestRefs, NewMergeRequest},
    },
    policy::{CreateMergeRequests, ProposeMergeRequests},
    quick_action::{DeferredAction, in_description},
};

use super::{
    heads::{fork_relation, grant_in_project, resolve_heads},
    merge,
};
use crate::{
    Forge,
    ports::directory::Directory,
    quick_actions::{Sender, after_describing},
};

/// A merge request to be created from a branch of the project that the grant for its source is about.
#[derive(Clone, Debug)]
pub struct MergeRequestDraft {
    pub source_branch: String,
    pub target: ProjectId,
    pub target_branch: String,
    pub attributes: NewMergeRequest,
}

/// A merge request that was just created, and what the caller may do in its project.
#[derive(Clone, Debug)]
pub struct CreatedMergeRequest {
    pub row: MergeRequest,
    pub target: Grant<CreateMergeRequests>,
}

/// Creates a merge request and runs the quick actions of its description.
///
/// # Errors
/// `NotFound` or `Forbidden` for the target project; `Unprocessable`, `Conflict` and `BadRequest` by the rules of merge
/// requests.
pub async fn create_merge_request(
    forge: &Forge,
    source: &Grant<ProposeMergeRequests>,
    caller: &User,
    draft: MergeRequestDraft,
) -> Result<CreatedMergeRequest> {
    let (made, later) = open_merge_request(forge, source, draft).await?;
    if later.is_empty() {
        return Ok(made);
    }
    let CreatedMergeRequest { row, target } = made;
    let sender = Sender { grant: &target, caller, seen: None };
    after_describing(forge, &sender, &row.item(), later).await;
    Ok(CreatedMergeRequest { row: current(forge, &row).await?, target })
}

/// As [`create_merge_request`]; the quick actions that have to ask git are handed back instead of being run.
pub async fn open_merge_request(
    forge: &Forge,
    source: &Grant<ProposeMergeRequests>,
    draft: MergeRequestDraft,
) -> Result<(CreatedMergeRequest, Vec<DeferredAction>)> {
    let (from, to, who) = (source.project(), draft.target, *source.who());
    let located = forge.db.read(move |tx| {
        Ok((grant_in_project::<CreateMergeRequests>(tx, &who, to)?, fork_relation(tx, from, to)?))
    });
    let (target, fork_relation) = located.await?;
    let ends = BranchPair {
        source: from,
        source_branch: draft.source_branch,
        target: to,
        target_branch: draft.target_branch,
    };
    let heads = resolve_heads(forge, &ends, fork_relation).await?;
    let proposal = MergeRequestRefs { ends, fork_relation, heads };
    let (source, granted, directory) =
        (source.clone(), target.clone(), Directory::new(&forge.urls));
    let created = forge.db.write(move |tx| {
        let new = draft.attributes;
        in_description::create_merge_request(tx, &source, &granted, &directory, &proposal, new)
    });
    let (row, later) = created.await?;
    merge::resync_with_git(forge, row.id).await?;
    merge::run_pending(forge, row.id).await?;
    // Whoever created it is told whether git can merge it.
    let row = merge::check_mergeability(forge, row.id).await?;
    Ok((CreatedMergeRequest { row, target }, later))
}

pub(super) async fn current(forge: &Forge, row: &MergeRequest) -> Result<MergeRequest> {
    let id = row.id;
    forge.db.read(move |tx| tx.merge_request(id)).await
}
