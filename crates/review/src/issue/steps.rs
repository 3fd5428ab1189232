//! Closing issues, and opening them again.

use db::Tx;
use kernel::{Result, ids::UserId};

use super::{Issue, IssueState, IssueStep, link, store};
use crate::{Event, note::write_system_note, todo::TodoStore as _};

/// Closes an issue; one that is closed stays so.
pub fn close(tx: &mut Tx<'_>, issue: &Issue, by: UserId) -> Result<Issue> {
    let Some(closed) = moved(tx, issue, IssueStep::Close, by)? else { return Ok(issue.clone()) };
    let item = closed.item();
    write_system_note(tx, &item, by, "closed")?;
    tx.finish_todos(item.id, by)?;
    tx.emit(Event::IssueClosed { issue: (&closed).into(), user: by })?;
    Ok(closed)
}

/// Opens an issue again; one that is open stays so.
pub fn reopen(tx: &mut Tx<'_>, issue: &Issue, by: UserId) -> Result<Issue> {
    let Some(opened) = moved(tx, issue, IssueStep::Reopen, by)? else { return Ok(issue.clone()) };
    write_system_note(tx, &opened.item(), by, "reopened")?;
    tx.emit(Event::IssueReopened { issue: (&opened).into(), user: by })?;
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
