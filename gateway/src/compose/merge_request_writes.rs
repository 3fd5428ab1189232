//! Creating and updating merge requests: the one use case behind the REST calls, quick actions and push options. What
//! git, approvals and closing patterns say about the result is there when these functions return.

use kernel::{Grant, Result, ids::ProjectId};
use org::user::User;
use review::{
    merge_request::{
        Ends, MergeRequest, MergeRequestStore as _,
        actions::{self, NewMergeRequest, Proposal},
        change::MergeRequestChange,
    },
    policy::{CreateMergeRequests, ProposeMergeRequests, TakePartInMergeRequests},
    quick_action::{Later, described},
};

use super::{
    commands::{Sender, after_describing},
    forge::Forge,
    merge_requests::{elsewhere, kinship, look, look_before},
    merging,
};
use crate::app::App;

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
/// `NotFound` or `Forbidden` for the target project; `Unprocessable`, `ConflictWith` and `Invalid` by the rules of merge
/// requests.
pub async fn create_merge_request(
    app: &App,
    source: &Grant<ProposeMergeRequests>,
    caller: &User,
    draft: MergeRequestDraft,
) -> Result<CreatedMergeRequest> {
    let (made, later) = open_merge_request(app, source, draft).await?;
    if later.is_empty() {
        return Ok(made);
    }
    let CreatedMergeRequest { row, target } = made;
    let sender = Sender { grant: &target, caller, seen: None };
    after_describing(app, &sender, &row.item(), later).await;
    Ok(CreatedMergeRequest { row: current(app, &row).await?, target })
}

/// As [`create_merge_request`]; the quick actions that have to ask git are handed back instead of being run.
pub async fn open_merge_request(
    app: &App,
    source: &Grant<ProposeMergeRequests>,
    draft: MergeRequestDraft,
) -> Result<(CreatedMergeRequest, Vec<Later>)> {
    let (from, to, who) = (source.project(), draft.target, *source.who());
    let located = app.db.read(move |tx| {
        Ok((elsewhere::<CreateMergeRequests>(tx, &who, to)?, kinship(tx, from, to)?))
    });
    let (target, kinship) = located.await?;
    let ends = Ends {
        source: from,
        source_branch: draft.source_branch,
        target: to,
        target_branch: draft.target_branch,
    };
    let heads = look(app, &ends, kinship).await?;
    let proposal = Proposal { ends, kinship, heads };
    let (source, granted, forge) = (source.clone(), target.clone(), Forge::new(&app.urls));
    let created = app.db.write(move |tx| {
        let new = draft.attributes;
        described::create_merge_request(tx, &source, &granted, &forge, &proposal, new)
    });
    let (row, later) = created.await?;
    merging::catch_up(app, row.id).await?;
    merging::settle(app, row.id).await?;
    // Whoever created it is told whether git can merge it.
    let row = merging::look(app, row.id).await?;
    Ok((CreatedMergeRequest { row, target }, later))
}

/// Changes a merge request and runs the quick actions of its new description.
///
/// # Errors
/// `Missing` where there is none of that number; otherwise as [`review::merge_request::change::update`].
pub async fn update_merge_request(
    app: &App,
    grant: &Grant<TakePartInMergeRequests>,
    caller: &User,
    iid: i64,
    change: MergeRequestChange,
) -> Result<MergeRequest> {
    let (row, later) = change_merge_request(app, grant, iid, change).await?;
    if !later.is_empty() {
        let sender = Sender { grant, caller, seen: None };
        after_describing(app, &sender, &row.item(), later).await;
    }
    current(app, &row).await
}

/// As [`update_merge_request`]; the quick actions that have to ask git are handed back instead of being run.
pub async fn change_merge_request(
    app: &App,
    grant: &Grant<TakePartInMergeRequests>,
    iid: i64,
    change: MergeRequestChange,
) -> Result<(MergeRequest, Vec<Later>)> {
    let asks_git = change.asks_git();
    let looked = match asks_git {
        true => {
            let finding = grant.clone();
            let row = app.db.read(move |tx| actions::find(tx, &finding, iid)).await?;
            look_before(app, &row, &change).await?
        }
        false => None,
    };
    let (granted, forge) = (grant.clone(), Forge::new(&app.urls));
    let changed = app.db.write(move |tx| {
        described::update_merge_request(tx, &granted, &forge, iid, looked.as_ref(), change)
    });
    let (row, later) = changed.await?;
    if asks_git {
        merging::catch_up(app, row.id).await?;
    }
    merging::settle(app, row.id).await?;
    Ok((row, later))
}

async fn current(app: &App, row: &MergeRequest) -> Result<MergeRequest> {
    let id = row.id;
    app.db.read(move |tx| tx.merge_request(id)).await
}
