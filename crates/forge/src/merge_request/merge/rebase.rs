//! Moving a source branch onto its target, and what the target would be after a merge.

use std::pin::pin;

use db::Tx;
use kernel::{
    Error, Grant, Result, Standing, access::Project, error::Kind, head::Growth, ids::MergeRequestId,
};
use org::{
    access::{IdOrPath, locate_project},
    user::User,
};
use repo::{
    git::{GitError, Oid, RefName, merge::is_ancestor, transfer},
    merge,
    ports::ForkPushBranches,
    protection::Protection,
    push::{Push, PushSource, RefChange},
};
use review::{
    merge_request::{
        Columns, MergeRequest, MergeRequestState, MergeRequestStore as _, actions,
        merge::rebase as underway,
    },
    policy::ReadMergeRequests,
};

use super::mergeability::{MergeInputs, check_now, merge_inputs};
use crate::{Forge, commit::author::signature};

const REBASE_FAILED: &str =
    "Rebase failed: Rebase locally, resolve all conflicts, then push the branch.";
const UNDERWAY: &str = "Failed to enqueue the rebase operation, possibly due to a long-lived transaction. Try again later.";
const NOT_MERGEABLE: &str = "Merge request is not mergeable";

/// Moves the source branch onto the target. What keeps git from doing so is kept with the merge request.
///
/// # Errors
/// `Forbidden` where there is no branch, or the caller may not move it so; `Conflict` while somebody does.
pub async fn rebase(
    forge: &Forge,
    grant: &Grant<ReadMergeRequests>,
    caller: &User,
    iid: i64,
) -> Result<()> {
    let found = {
        let grant = grant.clone();
        forge.db.read(move |tx| actions::find(tx, &grant, iid)).await?
    };
    let inputs = merge_inputs(forge, &found).await?;
    let Some(inputs) = inputs else {
        return Err(Error::forbidden().in_this_state("Source branch does not exist"));
    };
    let (row, who) = (found.clone(), *grant.who());
    let fork_push_access = forge.fork_push_access.clone();
    let (project, who) = forge.db.read(move |tx| mover(tx, &*fork_push_access, &who, &row)).await?;
    let id = found.id;
    if !forge.db.write(move |tx| underway::begin(tx, id)).await? {
        return Err(Error::conflict().whole(UNDERWAY));
    }
    let (whole, caller) = (Forge::clone(forge), caller.clone());
    // A caller that goes away does not stop it half-way.
    let done = db::spawn(async move {
        let done = held(&whole, id, moved(&whole, &found, &inputs, (project, who), &caller)).await;
        let columns = match &done {
            Err(refused) if refused.is_whole(Kind::BadRequest) => {
                Some(Columns { merge_error: Some(Some(refused.to_string())), ..Columns::default() })
            }
            _ => None,
        };
        let kept = whole.db.write(move |tx| {
            underway::end(tx, id)?;
            columns.map_or(Ok(()), |columns| tx.change_merge_request(id, &columns).map(drop))
        });
        kept.await?;
        match done {
            Err(refused) if refused.is_whole(Kind::BadRequest) => Ok(()),
            done => done,
        }
    });
    done.await.map_err(Error::internal)?
}

/// Says, while something is done, that it is under way.
async fn held(
    forge: &Forge,
    id: MergeRequestId,
    work: impl Future<Output = Result<()>>,
) -> Result<()> {
    let mut work = pin!(work);
    loop {
        let pause = tokio::time::sleep(underway::HELD.unsigned_abs() / 4);
        tokio::select! {
            done = &mut work => return done,
            () = pause => forge.db.write(move |tx| underway::go_on(tx, id)).await?,
        }
    }
}

/// How the caller stands to the source, where they may move its branch.
fn mover(
    tx: &mut Tx<'_>,
    fork_push_access: &dyn ForkPushBranches,
    who: &Standing,
    row: &MergeRequest,
) -> Result<(Project, Standing)> {
    let cannot_push = || Error::forbidden().because("Cannot push to source branch");
    let source = row.source_project_id.ok_or_else(cannot_push)?;
    let (project, who) = match locate_project(tx, who.actor, &IdOrPath::Id(source.0)) {
        Err(gone) if gone.is_gone() => return Err(cannot_push()),
        located => located?,
    };
    let protection = Protection::load_with(tx, fork_push_access, &who, source)?;
    let branch = protection.branch(&row.source_branch);
    if !branch.may_push() {
        return Err(cannot_push());
    }
    if !branch.allows_force_push() {
        return Err(Error::forbidden().in_this_state("Source branch is protected from force push"));
    }
    Ok((project, who))
}

async fn moved(
    forge: &Forge,
    row: &MergeRequest,
    inputs: &MergeInputs,
    (project, who): (Project, Standing),
    caller: &User,
) -> Result<()> {
    let home = forge.storage.repository(project.0.id);
    transfer::bring(&forge.git, &inputs.repo, &home, inputs.target).await?;
    let by = signature(forge, caller);
    let made = merge::rebase(&forge.git, &home, inputs.head, inputs.target, &by).await;
    let made = match made {
        Err(GitError::Conflict(_) | GitError::TooLarge) => {
            return Err(Error::bad_request().whole(REBASE_FAILED));
        }
        made => made?,
    };
    if made.tip == inputs.head {
        return Ok(());
    }
    let change = RefChange {
        forced: !is_ancestor(&forge.git, &home, inputs.head, made.tip).await?,
        commit_count: made.commits,
        commit_title: title(forge, &project, made.tip).await?,
        ..RefChange::plain(RefName::branch(&row.source_branch)?, Some(inputs.head), Some(made.tip))
    };
    let push = Push::new(project.0, who, PushSource::Api, vec![change]).with_made(made.tip);
    forge.push(Push { growth: Growth::By(made.bytes), by_rebase: true, ..push }).await
}

async fn title(forge: &Forge, project: &Project, id: Oid) -> Result<Option<String>> {
    forge.git_read(project.0.id, move |reader| Ok(Some(reader.commit(id)?.title))).await
}

/// A commit that is what the target would be after the merge.
///
/// # Errors
/// `BadRequest` where it cannot be merged.
pub async fn merge_ref(
    forge: &Forge,
    grant: &Grant<ReadMergeRequests>,
    caller: &User,
    iid: i64,
) -> Result<Oid> {
    let found = {
        let grant = grant.clone();
        forge.db.read(move |tx| actions::find(tx, &grant, iid)).await?
    };
    let refused = || Error::bad_request().whole(NOT_MERGEABLE);
    if found.state != MergeRequestState::Opened {
        return Err(refused());
    }
    let MergeInputs { repo, target, head } =
        check_now(forge, found.id).await?.ok_or_else(refused)?;
    let name = RefName::full(format!("refs/merge-requests/{iid}/merge"))?;
    let by = signature(forge, caller);
    match merge::merge_ref(&forge.git, &repo, &name, (target, head), by).await {
        Err(GitError::Conflict(_)) => Err(refused()),
        made => Ok(made?),
    }
}
