//! Quick actions that ask git or have rules of their own: each is done as the call that does the same, with the
//! permission that this one needs. What is refused has no effect.

use kernel::{Ability, Grant, Result, access::Project, error::Kind};
use org::user::User;
use review::{
    approval::actions::{self as approvals, Password},
    item::{Item, ItemKind},
    merge_request::{
        MergeRequest, MergeRequestState, actions, change::MergeRequestChange, merge::AutoMerge,
        mergeability::HeadPipeline, state::Step,
    },
    note::actions::{NoteResult, ensure_effect, forget_replaced},
    policy::{
        CreateIssues, DiscussEpics, ManageIssues, ManageMergeRequests, ReadEpicNotes,
        ReadGroupEpics, ReadIssueNotes, ReadIssues, ReadMergeRequests, TakePartInMergeRequests,
    },
    quick_action::{ActionSummary, DeferredAction},
};
use serde_json::{Value, json};

use crate::{
    Forge,
    issue::branch,
    merge_request::{
        approvals::ensure_source_exists,
        merge::{self, MergeOptions, head_pipeline},
        update::change_merge_request,
    },
    ports::approvals::Approvers,
};

/// The author of quick actions, with their credentials.
pub struct Sender<'s, A: Ability> {
    pub grant: &'s Grant<A>,
    pub caller: &'s User,
    /// The newest commit of a merge request, as far as they know.
    pub seen: Option<&'s str>,
}

/// A changed field: its name, its value, and a message for the author.
type CommandResult = (&'static str, Value, String);

/// Does what is still to be done after something was said.
///
/// # Errors
/// `BadRequest` where quick actions alone were sent, and none had an effect.
pub async fn after_saying<A: Ability<Scope = Project>>(
    forge: &Forge,
    sender: &Sender<'_, A>,
    said: NoteResult,
) -> Result<NoteResult> {
    if said.done.later.is_empty() {
        return Ok(said);
    }
    let done = carry_out(forge, sender, &said.item, said.done).await;
    ensure_effect(said.note.as_ref(), &done)?;
    if let Some(note) = &said.replaced {
        let (item, id, by) = (said.item.clone(), note.id, sender.caller.id);
        forge.db.write(move |tx| forget_replaced(tx, &item, id, by)).await?;
    }
    Ok(NoteResult { done, ..said })
}

/// An ability to take part in the discussion of items of some kind.
pub trait DiscussionAbility: Ability {
    /// Does what is still to be done after something was said about one of them.
    fn finish(
        forge: &Forge,
        sender: &Sender<'_, Self>,
        said: NoteResult,
    ) -> impl Future<Output = Result<NoteResult>>
    where
        Self: Sized;
}

macro_rules! on_project_items { ($($ability:ident),* $(,)?) => { $(
    impl DiscussionAbility for $ability {
        async fn finish(
            forge: &Forge,
            sender: &Sender<'_, Self>,
            said: NoteResult,
        ) -> Result<NoteResult> {
            after_saying(forge, sender, said).await
        }
    }
)* } }

on_project_items! {
    ReadIssues,
    ReadIssueNotes,
    CreateIssues,
    ReadMergeRequests,
    TakePartInMergeRequests,
    ManageIssues,
    ManageMergeRequests,
}

macro_rules! on_epics { ($($ability:ident),*) => { $(
    impl DiscussionAbility for $ability {
        /// Nothing that is said about epics is done later.
        async fn finish(_: &Forge, _: &Sender<'_, Self>, said: NoteResult) -> Result<NoteResult> {
            Ok(said)
        }
    }
)* } }

on_epics! { ReadGroupEpics, ReadEpicNotes, DiscussEpics }

/// Does what is still to be done after a description was written.
pub async fn after_describing<A: Ability<Scope = Project>>(
    forge: &Forge,
    sender: &Sender<'_, A>,
    item: &Item,
    later: Vec<DeferredAction>,
) {
    carry_out(forge, sender, item, ActionSummary { later, ..ActionSummary::default() }).await;
}

/// Does what is still to be done, one after the other.
async fn carry_out<A: Ability<Scope = Project>>(
    forge: &Forge,
    sender: &Sender<'_, A>,
    item: &Item,
    mut done: ActionSummary,
) -> ActionSummary {
    for later in std::mem::take(&mut done.later) {
        let told = match item.id.kind {
            ItemKind::MergeRequest => to_merge_request(forge, sender, item.iid, &later).await,
            ItemKind::Issue => to_issue(forge, sender, item, &later).await,
            ItemKind::Epic => Ok(None),
        };
        match told {
            Ok(Some((key, value, summary))) => done.note(key, value, summary),
            Ok(None) => {}
            Err(failure) if failure.is_ours() || failure.kind == Kind::GaveWay => {
                tracing::error!(error = %failure, ?later, "a quick action failed");
            }
            Err(refusal) => tracing::debug!(%refusal, ?later, "a quick action had no effect"),
        }
    }
    done
}

async fn to_issue<A: Ability<Scope = Project>>(
    forge: &Forge,
    sender: &Sender<'_, A>,
    item: &Item,
    later: &DeferredAction,
) -> Result<Option<CommandResult>> {
    let DeferredAction::CreateMergeRequest(name) = later else { return Ok(None) };
    let made = branch::propose(forge, sender.grant, sender.caller, item, name.clone());
    let branch = made.await?;
    let summary = format!("Created branch '{branch}' and a merge request to resolve this issue.");
    let value = json!({ "branch_name": branch, "issue_iid": item.iid });
    Ok(Some(("create_merge_request", value, summary)))
}

async fn to_merge_request<A: Ability<Scope = Project>>(
    forge: &Forge,
    sender: &Sender<'_, A>,
    iid: i64,
    later: &DeferredAction,
) -> Result<Option<CommandResult>> {
    let grant: Grant<ReadMergeRequests> = sender.grant.also()?;
    let caller = sender.caller;
    Ok(match later {
        DeferredAction::Merge => Some(merge(forge, &grant, caller, iid, sender.seen).await?),
        DeferredAction::Rebase => {
            merge::rebase(forge, &grant, caller, iid).await?;
            let summary = "Rebased the source branch.".to_owned();
            Some(("rebase", json!(caller.id.0), summary))
        }
        DeferredAction::Approve => {
            ensure_source_exists(forge, &grant, iid).await?;
            let seen = sender.seen.map(str::to_owned);
            let approved = forge.db.write(move |tx| {
                let sha = seen.as_deref();
                approvals::approve(tx, &grant, &Approvers, iid, sha, Password::NotShown)
            });
            approved.await?;
            Some(("approve", json!(true), "Approved the current merge request.".to_owned()))
        }
        DeferredAction::Unapprove => {
            let taken = forge.db.write(move |tx| approvals::unapprove(tx, &grant, &Approvers, iid));
            taken.await?;
            let summary = "Unapproved the current merge request.".to_owned();
            Some(("unapprove", json!(true), summary))
        }
        DeferredAction::Reopen => {
            let asked =
                MergeRequestChange { step: Some(Step::Reopen), ..MergeRequestChange::default() };
            let row = changed(forge, &grant, iid, asked).await?;
            let opened = row.is_some_and(|row| row.state == MergeRequestState::Opened);
            let summary = "Reopened this merge request.".to_owned();
            opened.then_some(("state_event", json!("reopen"), summary))
        }
        DeferredAction::TargetBranch(branch) => {
            let target = Some(branch.clone());
            let asked =
                MergeRequestChange { target_branch: target, ..MergeRequestChange::default() };
            let summary = format!("Set target branch to {branch}.");
            let row = changed(forge, &grant, iid, asked).await?;
            row.map(|_| ("target_branch", json!(branch), summary))
        }
        DeferredAction::CreateMergeRequest(_) => None,
    })
}

/// At once, or when the pipeline that is running has succeeded.
async fn merge(
    forge: &Forge,
    grant: &Grant<ReadMergeRequests>,
    caller: &User,
    iid: i64,
    seen: Option<&str>,
) -> Result<CommandResult> {
    let asked = grant.clone();
    let pipeline = forge.db.read(move |tx| {
        let row = actions::find(tx, &asked, iid)?;
        head_pipeline(tx, &row)
    });
    let when_pipeline_succeeds = pipeline.await? == HeadPipeline::Active;
    let how = AutoMerge { sha: seen.map(str::to_owned), ..AutoMerge::default() };
    let wish = MergeOptions { how, when_pipeline_succeeds };
    let row = merge::accept(forge, grant, caller, iid, wish).await?;
    let summary = match row.state {
        MergeRequestState::Merged => "Merged this merge request.",
        _ => "Scheduled to merge this merge request when the pipeline succeeds.",
    };
    Ok(("merge", json!(row.head_sha), summary.to_owned()))
}

/// The merge request after a change for which git is asked; `None` where it has that target already, or where there is
/// no such branch.
async fn changed(
    forge: &Forge,
    grant: &Grant<ReadMergeRequests>,
    iid: i64,
    change: MergeRequestChange,
) -> Result<Option<MergeRequest>> {
    let grant: Grant<TakePartInMergeRequests> = grant.also()?;
    if let Some(branch) = &change.target_branch {
        let finding = grant.clone();
        let row = forge.db.read(move |tx| actions::find(tx, &finding, iid)).await?;
        if row.target_branch == *branch
            || forge.branch_head(row.project_id, branch).await?.is_none()
        {
            return Ok(None);
        }
    }
    Ok(Some(change_merge_request(forge, &grant, iid, change).await?.0))
}
