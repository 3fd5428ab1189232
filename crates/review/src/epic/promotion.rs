//! Issues that become epics.

use db::{Tx, each_backend, error, schema::issues};
use diesel::prelude::*;
use kernel::{AccessLevel, Result, Standing, ids::NamespaceId};

use super::{
    Epic,
    actions::{EpicChange, make},
};
use crate::{
    Home,
    issue::{self, Issue, IssueState, IssueType, relocation::copy_notes},
    item::{
        ItemKind, ItemStore as _,
        labels::{LabelChange, UnknownLabels},
    },
    note::write_system_note_about,
    ports::{Forge, GroupHierarchy},
    reference::rewritten,
};

/// The group of which an issue can become an epic, for somebody who may manage the issue: an ordinary one that is open
/// and has not become one before, of a project in a group in which they report.
pub(crate) fn target(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    who: &Standing,
    issue: &Issue,
) -> Result<Option<NamespaceId>> {
    let ordinary = issue.issue_type == IssueType::Issue && issue.promoted_to_epic_id.is_none();
    if issue.state == IssueState::Closed || !ordinary {
        return Ok(None);
    }
    let groups = places.above(tx, Home::Project(issue.project_id))?;
    let Some(group) = groups.first().copied() else { return Ok(None) };
    let level = places.level_in(tx, who.actor, group)?;
    Ok((who.actor.admin || level >= AccessLevel::Reporter).then_some(group))
}

/// Makes an epic of an issue, with its labels as far as the group has them and what was said about it, and closes the
/// issue.
pub(crate) fn promote(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    who: &Standing,
    issue: &Issue,
    group: NamespaceId,
) -> Result<Epic> {
    let by = who.actor.user()?;
    let worn = tx.labels_of(ItemKind::Issue, &[issue.id.0])?.remove(&issue.id.0);
    let names = worn.into_iter().flatten().map(|label| label.name).collect();
    let texts = issue.description.clone().into_iter().collect();
    let description = rewritten(tx, forge, issue.project_id, Home::Group(group), texts)?.pop();
    let asked = EpicChange {
        title: Some(issue.title.clone()),
        description: Some(description),
        confidential: Some(issue.confidential),
        labels: LabelChange { all: Some(names), ..LabelChange::default() },
        ..EpicChange::default()
    };
    let epic = make(tx, forge, group, by, asked, UnknownLabels::LeaveOut)?;
    copy_notes(tx, forge, issue, &epic.whole())?;
    let row = diesel::update(issues::table.find(issue.id));
    let row = row.set(issues::promoted_to_epic_id.eq(epic.id));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Issue")))?;
    let told = format!("promoted to epic &{}", epic.iid);
    write_system_note_about(tx, &issue.item(), by, &told, &epic.whole())?;
    issue::actions::close(tx, issue, by)?;
    Ok(epic)
}
