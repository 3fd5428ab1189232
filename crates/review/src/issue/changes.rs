//! Events and system notes about changes of an issue.

use db::Tx;
use kernel::{
    Result,
    ids::{MilestoneId, UserId},
    time::date_text,
};

use super::Issue;
use crate::{
    epic::EpicStore as _,
    event::Change,
    item::{Item, milestones},
    note::{sentence::title as title_sentence, write_system_note, write_system_note_about},
};

/// Every field with another value than before.
pub(super) fn between(old: &Issue, new: &Issue) -> Vec<Change> {
    let mut all = Vec::new();
    let mut note = |field: &'static str, before: Option<String>, after: Option<String>| {
        if before != after {
            all.push(Change { field, before, after });
        }
    };
    let text = |text: &str| Some(text.to_owned());
    note("iid", Some(old.iid.to_string()), Some(new.iid.to_string()));
    note("title", text(&old.title), text(&new.title));
    note("description", old.description.clone(), new.description.clone());
    note("issue_type", Some(old.issue_type.to_string()), Some(new.issue_type.to_string()));
    note("severity", Some(old.severity.to_string()), Some(new.severity.to_string()));
    note("confidential", Some(old.confidential.to_string()), Some(new.confidential.to_string()));
    // Where nothing was ever said about it, it is open as well.
    if old.discussion_locked.unwrap_or_default() != new.discussion_locked.unwrap_or_default() {
        let locked = |issue: &Issue| issue.discussion_locked.map(|locked| locked.to_string());
        note("discussion_locked", locked(old), locked(new));
    }
    let number = |value: Option<i64>| value.map(|value| value.to_string());
    let milestone = |issue: &Issue| number(issue.milestone_id.map(|id| id.0));
    note("milestone_id", milestone(old), milestone(new));
    note("epic_id", number(old.epic_id), number(new.epic_id));
    note("iteration_id", number(old.iteration_id), number(new.iteration_id));
    note("weight", number(old.weight), number(new.weight));
    let health = |issue: &Issue| issue.health_status.map(|status| status.to_string());
    note("health_status", health(old), health(new));
    let due = |issue: &Issue| issue.due_date.map(|day| date_text(day.date()));
    note("due_date", due(old), due(new));
    all
}

/// Tells of changes among an issue's notes.
pub(super) fn tell(tx: &mut Tx<'_>, issue: &Issue, by: UserId, changes: &[Change]) -> Result<()> {
    let item = issue.item();
    for change in changes {
        if change.field == "epic_id" {
            tell_of_epic(tx, &item, by, change)?;
        }
        if let Some(text) = sentence(tx, change)? {
            write_system_note(tx, &item, by, &text)?;
        }
    }
    Ok(())
}

/// Only those who may read the epic are told.
fn tell_of_epic(tx: &mut Tx<'_>, item: &Item, by: UserId, change: &Change) -> Result<()> {
    let id = |text: Option<&str>| text.and_then(|id| id.parse::<i64>().ok());
    let (before, after) = (id(change.before.as_deref()), id(change.after.as_deref()));
    let Some(id) = after.or(before) else { return Ok(()) };
    let Some(epic) = tx.epics_by_id(&[id])?.pop() else { return Ok(()) };
    let did = match (before, after) {
        (Some(_), Some(_)) => "changed epic to",
        (None, _) => "added to epic",
        (_, None) => "removed from epic",
    };
    write_system_note_about(tx, item, by, &format!("{did} &{}", epic.iid), &epic.whole())
}

fn sentence(tx: &mut Tx<'_>, change: &Change) -> Result<Option<String>> {
    let (before, after) = (change.before.as_deref(), change.after.as_deref());
    let or_none = |text: Option<&str>| text.unwrap_or("none").to_owned();
    Ok(Some(match change.field {
        "title" => title_sentence(&or_none(before), &or_none(after)),
        "description" => "changed the description".to_owned(),
        "issue_type" => format!("changed issue type to {}", or_none(after).replace('_', " ")),
        "severity" => format!("changed the severity to **{}**", or_none(after)),
        "confidential" => match after {
            Some("true") => "made the issue confidential".to_owned(),
            _ => "made the issue visible to everyone".to_owned(),
        },
        "discussion_locked" => match after {
            Some("true") => "locked this issue".to_owned(),
            _ => "unlocked this issue".to_owned(),
        },
        "milestone_id" => {
            let id = after.and_then(|id| id.parse().ok()).map(MilestoneId);
            milestones::sentence(tx, id)?
        }
        "weight" => match after {
            Some(weight) => format!("changed weight to **{weight}**"),
            None => "removed the weight".to_owned(),
        },
        "health_status" => match after {
            Some(status) => format!("changed health status to **{}**", status.replace('_', " ")),
            None => "removed the health status".to_owned(),
        },
        "due_date" => match after {
            Some(day) => format!("changed due date to {day}"),
            None => "removed due date".to_owned(),
        },
        _ => return Ok(None),
    }))
}
