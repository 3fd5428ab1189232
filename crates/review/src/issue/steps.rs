//! Closing issues, and opening them again.

use db::Tx;
use kernel::{
    Result,
    ids::{ProjectId, UserId},
};

use super::{Issue, IssueState, IssueStep, link, store};
use crate::{
    Event,
    event::{IssueFact, successor_changes},
    merge_request::MergeRequest,
    note::{write_system_note, write_system_note_about},
    ports::Forge,
    reference::name_from,
    todo::TodoStore as _,
};

/// Closes an issue; one that is closed stays so.
pub fn close(tx: &mut Tx<'_>, issue: &Issue, by: UserId) -> Result<Issue> {
    let Some(closed) = moved(tx, issue, IssueStep::Close, by)? else { return Ok(issue.clone()) };
    write_system_note(tx, &closed.item(), by, "closed")?;
    announce_closed(tx, (closed, issue), by)
}

/// The merge request or commit that closes an issue.
#[derive(Clone, Copy, Debug)]
pub enum CloseReason<'c> {
    MergeRequest(&'c MergeRequest),
    Commit { of: ProjectId, sha: &'c str },
}

/// As [`close`], telling what closed it: a merge request to those who may read it.
pub fn close_for(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    issue: &Issue,
    cause: CloseReason<'_>,
    by: UserId,
) -> Result<Issue> {
    let Some(closed) = moved(tx, issue, IssueStep::Close, by)? else { return Ok(issue.clone()) };
    let item = closed.item();
    match cause {
        CloseReason::MergeRequest(row) => {
            let request = row.item();
            let name = name_from(tx, forge, &request, item.home)?;
            let told = format!("closed via merge request {name}");
            write_system_note_about(tx, &item, by, &told, &request)?;
        }
        CloseReason::Commit { of, sha } if of == closed.project_id => {
            write_system_note(tx, &item, by, &format!("closed via commit {sha}"))?;
        }
        // Not everybody who reads the issue may read the code of another project.
        CloseReason::Commit { .. } => write_system_note(tx, &item, by, "closed")?,
    }
    announce_closed(tx, (closed, issue), by)
}

/// Closes an issue that leads to another one now and did not `before`, and tells of both at once. One that was closed
/// already is told as updated.
pub(super) fn close_for_successor(
    tx: &mut Tx<'_>,
    issue: &Issue,
    before: &Issue,
    by: UserId,
) -> Result<Issue> {
    if let Some(closed) = moved(tx, issue, IssueStep::Close, by)? {
        write_system_note(tx, &closed.item(), by, "closed")?;
        return announce_closed(tx, (closed, before), by);
    }
    let changes = successor_changes(before, issue);
    if !changes.is_empty() {
        let fact = IssueFact::changed(issue, before);
        tx.emit(Event::IssueUpdated { issue: fact, user: by, changes })?;
    }
    Ok(issue.clone())
}

fn announce_closed(
    tx: &mut Tx<'_>,
    (closed, before): (Issue, &Issue),
    by: UserId,
) -> Result<Issue> {
    tx.finish_todos(closed.id.into(), by)?;
    tx.emit(Event::IssueClosed { issue: IssueFact::changed(&closed, before), user: by })?;
    Ok(closed)
}

/// Opens an issue again; one that is open stays so.
pub fn reopen(tx: &mut Tx<'_>, issue: &Issue, by: UserId) -> Result<Issue> {
    let Some(opened) = moved(tx, issue, IssueStep::Reopen, by)? else { return Ok(issue.clone()) };
    write_system_note(tx, &opened.item(), by, "reopened")?;
    tx.emit(Event::IssueReopened { issue: IssueFact::changed(&opened, issue), user: by })?;
    Ok(opened)
}

fn moved(tx: &mut Tx<'_>, issue: &Issue, step: IssueStep, by: UserId) -> Result<Option<Issue>> {
    let to: IssueState = issue.state.after(step);
    if to == issue.state {
        return Ok(None);
    }
    let moved = store::move_to(tx, issue, to, by)?;
    if let Some(moved) = &moved {
        link::actions::state_changed(tx, moved)?;
    }
    Ok(moved)
}
