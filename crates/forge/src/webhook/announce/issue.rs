//! Issues.

use admin::flags::Flag;
use db::Tx;
use kernel::{
    Result,
    ids::{IssueId, ProjectId, UserId},
};
use review::{
    event::{EarlierValues, IssueFact},
    issue::{IssueState, IssueStore as _},
};

use crate::{
    integration::EventTraits,
    webhook::{
        announcer::{Announcer, News},
        payload::issue::{self, IssueAction},
    },
};

pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &review::Event) -> Result<()> {
    let (issue, user, deed) = match fact {
        review::Event::IssueOpened { issue, user, .. } => (issue, *user, IssueAction::Open),
        review::Event::IssueUpdated { issue, user, changes } => {
            (issue, *user, IssueAction::Update(changes))
        }
        review::Event::IssueClosed { issue, user } => (issue, *user, IssueAction::Close),
        review::Event::IssueReopened { issue, user } => (issue, *user, IssueAction::Reopen),
        review::Event::IssueRemoved { .. } => return Ok(()),
    };
    let IssueFact { id, project, earlier, .. } = issue;
    tell_issue(tx, by, (*id, *project), user, (deed, earlier))
}

pub(super) fn tell_issue(
    tx: &mut Tx<'_>,
    by: &Announcer,
    (id, project): (IssueId, ProjectId),
    user: UserId,
    deed: (IssueAction<'_>, &EarlierValues),
) -> Result<()> {
    let flags = [Flag::Issues, Flag::ConfidentialIssues];
    let Some((context, audience)) = by.place(tx, project, &flags)? else { return Ok(()) };
    let Some(mut row) = tx.find_issue_by_id(id)? else { return Ok(()) };
    // A change is told as of before the step that was taken with it, of which another event tells.
    if let (IssueAction::Update(_), Some(was_open)) = (deed.0, deed.1.was_open)
        && was_open != (row.state == IssueState::Opened)
    {
        row.state = if was_open { IssueState::Opened } else { IssueState::Closed };
        row.closed_at = deed.1.closed_at;
    }
    let (flag, header) = match row.confidential {
        true => (Flag::ConfidentialIssues, "Confidential Issue Hook"),
        false => (Flag::Issues, "Issue Hook"),
    };
    if !audience.hears(flag) {
        return Ok(());
    }
    let part = issue::IssuePart::load(tx, row)?;
    let news = News {
        flag,
        header,
        project: Some(project),
        object: format!("issue/{id}"),
        payload: issue::issue(tx, &context, &part, user, deed)?,
        gaps: None,
    };
    by.tell(tx, &audience, news, &EventTraits::default())
}
