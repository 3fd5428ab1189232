//! The merge itself: locked, made by git, and then merged together with the branch or open again with the reason.

use db::Tx;
use kernel::{Error, Result, error::Kind, head::Growth};
use org::project::settings::{MergeMethod, Settings, SettingsStore as _, SquashOption};
use repo::{
    git::{RefName, merge::is_ancestor},
    merge::{MergeError, MergeResult, Method, Plan, build},
    push::{InSameTransaction, Push, PushSource, RefChange},
    push_rule::{PushRuleChecker, actions::enforced},
};
use review::merge_request::{
    MergeRequest, MergeRequestState, MergeRequestStore as _, MergeStatus,
    merge::{
        AutoMerge,
        run::{self, Outcome},
    },
};
use worker::Queue as _;

use super::{
    MergeInputs,
    mergeability::{Merger, facts, merge_inputs},
    messages::{self, Messages},
    unlock::{RecoverAfterMerge, recover_now},
};
use crate::Forge;

/// Retries when the target branch moved during the merge.
const TRIES: usize = 5;
/// So long it is waited for a branch that is about to move.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(40);
const UPDATED: &str =
    "Branch has been updated since the merge was requested. Please review the changes.";
/// The merge error that users read.
pub(super) type Reason = String;

/// Merges what was found to be mergeable. A caller that goes away does not stop it half-way.
pub(super) async fn merge(
    forge: &Forge,
    seen: MergeRequest,
    by: Merger,
    wish: AutoMerge,
) -> Result<std::result::Result<MergeRequest, Reason>> {
    let forge = Forge::clone(forge);
    let done = db::spawn(async move { locked(&forge, seen, by, wish).await });
    done.await.map_err(Error::internal)?
}

async fn locked(
    forge: &Forge,
    seen: MergeRequest,
    by: Merger,
    wish: AutoMerge,
) -> Result<std::result::Result<MergeRequest, Reason>> {
    let (id, how) = (seen.id, wish.clone());
    let begun = forge.db.write(move |tx| {
        let now = tx.merge_request(seen.id)?;
        let locked = run::begin(tx, &now, &how)?;
        ensure_still_mergeable(tx, &locked)?;
        Ok(locked)
    });
    let row = match begun.await {
        Ok(row) => row,
        // Somebody else was faster, or took back what it takes.
        Err(late) if late.kind == Kind::Conflict => {
            return Err(Error::not_allowed());
        }
        Err(failure) => return Err(failure),
    };
    let reason = match attempt(forge, &row, &by, &wish).await {
        Ok(()) => return forge.db.read(move |tx| tx.merge_request(id)).await.map(Ok),
        Err(Stop::Reason(reason)) => reason,
        Err(Stop::Failure(failure)) => {
            tracing::error!(merge_request = %id, error = %failure, "a merge failed");
            "An error occurred while merging".to_owned()
        }
    };
    let told = reason.clone();
    let failed = forge.db.write(move |tx| {
        tx.enqueue(&RecoverAfterMerge { merge_request: id })?;
        run::fail(tx, id, &told)
    });
    let row = failed.await?;
    if row.state == MergeRequestState::Merged {
        // Its commits came by a push meanwhile.
        return Ok(Ok(row));
    }
    recover_now(forge, id).await;
    Ok(Err(reason))
}

/// What was found to be so before it was locked may have changed since; from here on the row is ours. Git says what it
/// has to say when it merges.
fn ensure_still_mergeable(tx: &mut Tx<'_>, locked: &MergeRequest) -> Result<()> {
    let row = MergeRequest {
        state: MergeRequestState::Opened,
        merge_status: MergeStatus::CanBeMerged,
        ..locked.clone()
    };
    match facts(tx, &row)?.is_mergeable() {
        true => Ok(()),
        false => Err(Error::conflict().whole("409 Conflict: Resource lock")),
    }
}

/// The reason for which an attempt ended.
enum Stop {
    Reason(Reason),
    Failure(Error),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(failure: E) -> Self {
        Self::Failure(failure.into())
    }
}

fn stop<T>(reason: &str) -> std::result::Result<T, Stop> {
    Err(Stop::Reason(reason.to_owned()))
}

async fn attempt(
    forge: &Forge,
    row: &MergeRequest,
    by: &Merger,
    wish: &AutoMerge,
) -> std::result::Result<(), Stop> {
    let project = row.project_id;
    let settings = forge.db.read(move |tx| tx.project_settings(project)).await?;
    let mut why = String::new();
    for _ in 0..TRIES {
        let Some(inputs) = merge_inputs(forge, row).await? else {
            return stop("No source for merge");
        };
        let head = inputs.head.to_string();
        if wish.sha.as_ref().is_some_and(|seen| *seen != head) {
            return stop(UPDATED);
        }
        if row.head_sha.as_ref().is_some_and(|known| *known != head) {
            // A push is decided a moment before its branch moves. What is merged is what was looked at.
            UPDATED.clone_into(&mut why);
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        let squashes = squashes(row, &settings);
        let messages =
            messages::messages(forge, row, &inputs, by, &settings, wish, squashes).await?;
        ensure_rules_allow(forge, by, &messages).await?;
        let plan = Plan {
            method: method(&settings),
            target: inputs.target,
            head: inputs.head,
            squash: messages.squash.clone(),
            message: messages.merge.clone(),
            committer: messages.committer.clone(),
        };
        let title = messages.title(&plan);
        let built = match build(&forge.git, &inputs.repo, plan).await {
            Ok(built) => built,
            Err(refused) => return Err(refusal(refused)),
        };
        match forge.push(push(row, by, &inputs, built, title)?).await {
            Ok(()) => return Ok(()),
            Err(refused) if refused.is_whole(Kind::BadRequest) => {
                why = format!("Something went wrong during merge pre-receive hook. {refused}");
            }
            Err(late) if late.kind == Kind::Conflict => return stop(UPDATED),
            Err(failure) => return Err(failure.into()),
        }
        // Whoever moved the target meanwhile makes another merge of it; any other refusal stays one.
        let now = forge.branch_head(row.project_id, &row.target_branch).await?;
        if now == Some(inputs.target) {
            break;
        }
    }
    stop(&why)
}

fn refusal(refused: MergeError) -> Stop {
    Stop::Reason(match refused {
        MergeError::NotFastForward => {
            "Only fast-forward merge is allowed for your project. Please update your source branch"
                .to_owned()
        }
        MergeError::Conflict => "Conflicts detected during merge".to_owned(),
        MergeError::Nothing => "Merge request is not mergeable".to_owned(),
        MergeError::Git(failure) => return Stop::Failure(failure.into()),
    })
}

/// Moves the target, and in the same transaction makes the merge request merged.
fn push(
    row: &MergeRequest,
    by: &Merger,
    inputs: &MergeInputs,
    built: MergeResult,
    title: String,
) -> Result<Push> {
    let name = RefName::branch(&row.target_branch)?;
    let change = RefChange {
        commit_count: built.commits,
        commit_title: Some(title),
        ..RefChange::plain(name, Some(inputs.target), Some(built.tip))
    };
    let (id, user) = (row.id, by.user.id);
    let outcome = Outcome {
        head: inputs.head.to_string(),
        merge_commit: built.merge_commit.map(|id| id.to_string()),
        squash_commit: built.squash_commit.map(|id| id.to_string()),
    };
    let also = InSameTransaction::new(move |tx| run::complete(tx, id, user, &outcome));
    // What is merged was looked at when it was pushed; what is new was looked at just now.
    let push = Push::new(by.facts.clone(), by.who, PushSource::Merge, vec![change]).by_server();
    let growth = Growth::By(built.bytes);
    Ok(Push { growth, made: Some(built.tip), ..push }.with(also))
}

/// What the push rules of the project say about the messages, and about the address of whoever merges.
async fn ensure_rules_allow(
    forge: &Forge,
    by: &Merger,
    messages: &Messages,
) -> std::result::Result<(), Stop> {
    let project = by.facts.id;
    let Some(terms) = forge.db.read(move |tx| enforced(tx, project)).await? else { return Ok(()) };
    let judge = PushRuleChecker::new(terms)?;
    let squash = messages.squash.as_ref().map(|squash| squash.message.as_str());
    let refused = judge
        .check_message(messages.merge.as_str().into())
        .or_else(|| judge.check_squash_message(squash?.into()))
        .or_else(|| judge.check_merge_email(&messages.committer.email));
    refused.map_or(Ok(()), |text| Err(Stop::Reason(text)))
}

pub(super) fn method(settings: &Settings) -> Method {
    match settings.merge_method {
        MergeMethod::Merge => Method::Merge,
        MergeMethod::Rebase => Method::Rebase,
        MergeMethod::FastForward => Method::FastForward,
    }
}

/// Whether the target may move on as the project wants it to.
pub(super) async fn can_move(
    forge: &Forge,
    row: &MergeRequest,
    inputs: &MergeInputs,
) -> Result<bool> {
    let project = row.project_id;
    let settings = forge.db.read(move |tx| tx.project_settings(project)).await?;
    if !method(&settings).needs_fast_forward() {
        return Ok(true);
    }
    Ok(is_ancestor(&forge.git, &inputs.repo, inputs.target, inputs.head).await?)
}

/// Whether it becomes one commit.
fn squashes(row: &MergeRequest, settings: &Settings) -> bool {
    match settings.squash_option {
        SquashOption::Never => false,
        SquashOption::Always => true,
        SquashOption::DefaultOn | SquashOption::DefaultOff => row.squash,
    }
}
