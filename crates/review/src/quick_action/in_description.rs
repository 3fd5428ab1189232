//! Quick actions in descriptions: taken out of the text, and done once the item is there. What is still to be done
//! then comes back with it.

use db::Tx;
use kernel::{Grant, Result};

use super::{DeferredAction, ParsedText, part, run};
use crate::{
    issue::{
        Issue,
        actions::{self as issues, IssueChange, NewIssue},
        follow_up,
    },
    item::ItemKind,
    merge_request::{
        MergeRequest, MergeRequestStore as _,
        actions::{self as requests, MergeRequestRefs, NewMergeRequest},
        change::{self, HeadsSnapshot, MergeRequestChange},
    },
    policy::{CreateIssues, CreateMergeRequests, ProposeMergeRequests, TakePartInMergeRequests},
    ports::{Branches, Forge},
};

/// Writes an issue, and does what its description wants.
pub fn create_issue<F: Forge + Branches>(
    tx: &mut Tx<'_>,
    grant: &Grant<CreateIssues>,
    forge: &F,
    mut new: NewIssue,
) -> Result<(Issue, Vec<DeferredAction>)> {
    let text = new.description.take().unwrap_or_default();
    let ParsedText { mut text, commands } = part(&text, ItemKind::Issue);
    let threads = follow_up::find(tx, grant.who(), grant.project(), &new.follow_up)?;
    if let (Some(threads), true) = (&threads, text.is_empty()) {
        text = follow_up::description(tx, forge, threads)?;
    }
    new.description = Some(text);
    let issue = issues::create(tx, grant, forge, new)?;
    if let Some(threads) = &threads {
        follow_up::resolve_threads(tx, grant.who(), grant.user()?, threads, &issue)?;
    }
    if commands.is_empty() {
        return Ok((issue, Vec::new()));
    }
    let done = run(tx, grant, forge, &issue.item(), &commands)?;
    Ok((issues::read(tx, grant.who(), grant.project(), issue.iid)?, done.later))
}

/// Changes an issue, and does what its new description wants.
pub fn update_issue<F: Forge + Branches>(
    tx: &mut Tx<'_>,
    grant: &Grant<CreateIssues>,
    forge: &F,
    iid: i64,
    mut change: IssueChange,
) -> Result<(Issue, Vec<DeferredAction>)> {
    let Some(Some(text)) = change.description.take() else {
        return Ok((issues::update(tx, grant, forge, iid, change)?, Vec::new()));
    };
    let ParsedText { text, commands } = part(&text, ItemKind::Issue);
    change.description = Some(Some(text));
    let issue = issues::update(tx, grant, forge, iid, change)?;
    if commands.is_empty() {
        return Ok((issue, Vec::new()));
    }
    let done = run(tx, grant, forge, &issue.item(), &commands)?;
    Ok((issues::read(tx, grant.who(), grant.project(), iid)?, done.later))
}

/// Proposes a branch, and does what the description wants.
pub fn create_merge_request<F: Forge + Branches>(
    tx: &mut Tx<'_>,
    source: &Grant<ProposeMergeRequests>,
    target: &Grant<CreateMergeRequests>,
    forge: &F,
    proposal: &MergeRequestRefs,
    mut new: NewMergeRequest,
) -> Result<(MergeRequest, Vec<DeferredAction>)> {
    let text = new.description.take().unwrap_or_default();
    let ParsedText { text, commands } = part(&text, ItemKind::MergeRequest);
    new.description = Some(text);
    let made = requests::create(tx, source, target, forge, proposal, new)?;
    let Ok(grant) = target.also::<TakePartInMergeRequests>() else {
        return Ok((made, Vec::new()));
    };
    if commands.is_empty() {
        return Ok((made, Vec::new()));
    }
    let done = run(tx, &grant, forge, &made.item(), &commands)?;
    Ok((tx.merge_request(made.id)?, done.later))
}

/// Changes a merge request, and does what its new description wants.
pub fn update_merge_request<F: Forge + Branches>(
    tx: &mut Tx<'_>,
    grant: &Grant<TakePartInMergeRequests>,
    forge: &F,
    iid: i64,
    looked: Option<&HeadsSnapshot>,
    mut asked: MergeRequestChange,
) -> Result<(MergeRequest, Vec<DeferredAction>)> {
    let Some(Some(text)) = asked.description.take() else {
        return Ok((change::update(tx, grant, forge, iid, looked, asked)?, Vec::new()));
    };
    let ParsedText { text, commands } = part(&text, ItemKind::MergeRequest);
    asked.description = Some(Some(text));
    let changed = change::update(tx, grant, forge, iid, looked, asked)?;
    if commands.is_empty() {
        return Ok((changed, Vec::new()));
    }
    let done = run(tx, grant, forge, &changed.item(), &commands)?;
    Ok((tx.merge_request(changed.id)?, done.later))
}
