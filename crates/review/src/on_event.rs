//! Notes, to-dos and feed entries that follow from events of issues and merge requests.

use db::Tx;
use kernel::{
    Result,
    ids::{LabelId, MilestoneId, UserId},
};

use crate::{
    Home,
    activity::{self, ResourceState},
    epic,
    event::{Change, Event, IssueFact, OpenedIssue},
    item::{Item, ItemKind, ItemStore as _},
    merge_request::{self, MergeRequestStore as _, state::Step},
    ports::Forge,
    reference,
};

/// To be told of every fact, in the transaction that made it true.
pub fn of_issues(tx: &mut Tx<'_>, forge: &impl Forge, fact: &Event) -> Result<()> {
    let (issue, user) = match fact {
        Event::IssueOpened { issue, user, begun } => {
            return opened(tx, forge, issue, *user, begun);
        }
        Event::IssueUpdated { issue, user, .. }
        | Event::IssueClosed { issue, user }
        | Event::IssueReopened { issue, user }
        | Event::IssueRemoved { issue, user } => (issue, *user),
    };
    let Some(item) = tx.find_item(Home::Project(issue.project), ItemKind::Issue, issue.iid)? else {
        return Ok(());
    };
    match fact {
        Event::IssueOpened { .. } | Event::IssueRemoved { .. } => Ok(()),
        Event::IssueUpdated { changes, .. } => updated(tx, forge, &item, user, changes),
        Event::IssueClosed { .. } => {
            activity::state_changed(tx, &item, user, ResourceState::Closed)
        }
        Event::IssueReopened { .. } => {
            activity::state_changed(tx, &item, user, ResourceState::Reopened)
        }
    }
}

/// What is known of a new issue is not asked for again. Who may read it has to be, where its text names somebody: it
/// may have become confidential since.
fn opened(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    fact: &IssueFact,
    user: UserId,
    begun: &OpenedIssue,
) -> Result<()> {
    let OpenedIssue { issue, labels } = begun;
    let item = issue.item();
    activity::state_changed(tx, &item, user, ResourceState::Opened)?;
    activity::labels_changed(tx, &item, user, labels, &[])?;
    activity::milestone_changed(tx, &item, user, None, issue.milestone_id)?;
    let text = item.description.as_deref();
    if !reference::names_anything(forge, text) {
        return Ok(());
    }
    match tx.find_item(Home::Project(fact.project), ItemKind::Issue, fact.iid)? {
        Some(item) => reference::text_changed(tx, forge, &item, user, None, text),
        None => Ok(()),
    }
}

/// As [`of_issues`], for epics.
pub fn of_epics(tx: &mut Tx<'_>, forge: &impl Forge, fact: &epic::Event) -> Result<()> {
    let (epic, user, before) = match fact {
        epic::Event::Opened { epic, user } => (epic, *user, None),
        epic::Event::Updated { epic, user, changes } => {
            let described = changes.iter().find(|change| change.field == "description");
            let Some(change) = described else { return Ok(()) };
            (epic, *user, change.before.as_deref())
        }
        _ => return Ok(()),
    };
    let Some(item) = tx.find_item(Home::Group(epic.group), ItemKind::Epic, epic.iid)? else {
        return Ok(());
    };
    reference::text_changed(tx, forge, &item, user, before, item.description.as_deref())
}

/// As [`of_issues`], for merge requests.
pub fn of_merge_requests(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    fact: &merge_request::Event,
) -> Result<()> {
    match fact {
        merge_request::Event::Opened { merge_request, user, .. } => {
            let item = tx.merge_request(*merge_request)?.item();
            activity::state_changed(tx, &item, *user, ResourceState::Opened)?;
            reference::text_changed(tx, forge, &item, *user, None, item.description.as_deref())
        }
        merge_request::Event::Updated { merge_request, user, described: Some(texts), .. } => {
            let item = tx.merge_request(*merge_request)?.item();
            let (before, after) = (texts.0.as_deref(), texts.1.as_deref());
            reference::text_changed(tx, forge, &item, *user, before, after)
        }
        merge_request::Event::Stepped { merge_request, user: Some(user), step, .. } => {
            let state = match step {
                Step::Close => ResourceState::Closed,
                Step::Reopen => ResourceState::Reopened,
                Step::Merge => ResourceState::Merged,
                Step::Lock | Step::Unlock => return Ok(()),
            };
            let item = tx.merge_request(*merge_request)?.item();
            activity::state_changed(tx, &item, *user, state)
        }
        _ => Ok(()),
    }
}

/// What follows from the fields that have another value now.
pub(crate) fn updated(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    item: &Item,
    user: UserId,
    changes: &[Change],
) -> Result<()> {
    for change in changes {
        let (before, after) = (change.before.as_deref(), change.after.as_deref());
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<i64>().ok());
        match change.field {
            "description" => reference::text_changed(tx, forge, item, user, before, after)?,
            "labels" => {
                let (old, new) = (ids(before), ids(after));
                let without = |all: &[LabelId], others: &[LabelId]| -> Vec<LabelId> {
                    all.iter().filter(|id| !others.contains(id)).copied().collect()
                };
                let (added, removed) = (without(&new, &old), without(&old, &new));
                activity::labels_changed(tx, item, user, &added, &removed)?;
            }
            "milestone_id" => {
                let id = |text| number(text).map(MilestoneId);
                activity::milestone_changed(tx, item, user, id(before), id(after))?;
            }
            "iteration_id" => {
                activity::iteration_changed(tx, item, user, number(before), number(after))?;
            }
            "weight" => activity::weight_changed(tx, item, user, number(after))?,
            _ => {}
        }
    }
    Ok(())
}

fn ids(text: Option<&str>) -> Vec<LabelId> {
    let texts = text.unwrap_or_default().split(',');
    texts.filter_map(|id| id.parse().ok().map(LabelId)).collect()
}
