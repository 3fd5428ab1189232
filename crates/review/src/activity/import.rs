//! Imported activity of items from another installation, a page at a time.

use std::collections::{BTreeSet, HashMap};

use db::{
    Tx, each_backend, error,
    schema::{milestones, resource_events as events},
};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{LabelId, MilestoneId, ProjectId, UserId},
};

use super::{ResourceAction, ResourceKind, ResourceState};
use crate::{
    Home,
    item::ItemId,
    label::{LabelFilter, LabelStore as _},
};

/// The change of an imported event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportedChange {
    State(ResourceState),
    /// With the label's name.
    Label(ResourceAction, String),
    /// With the milestone's title.
    Milestone(ResourceAction, String),
}

/// Something that happened to an item in another installation.
#[derive(Clone, Debug)]
pub struct ImportedEvent {
    pub item: ItemId,
    pub user: UserId,
    pub change: ImportedChange,
    pub at: Ts,
}

/// Writes what happened. Labels and milestones that are not there any more are left out.
pub fn insert_events(tx: &mut Tx<'_>, project: ProjectId, new: &[ImportedEvent]) -> Result<usize> {
    let (labels, titles) = (labels(tx, project, new)?, milestones(tx, project, new)?);
    let rows: Vec<_> = new
        .iter()
        .filter_map(|one| {
            let (kind, action, label, milestone, state) = match &one.change {
                ImportedChange::State(state) => {
                    (ResourceKind::State, None, None, None, Some(*state))
                }
                ImportedChange::Label(action, name) => {
                    (ResourceKind::Label, Some(*action), Some(*labels.get(name)?), None, None)
                }
                ImportedChange::Milestone(action, title) => {
                    let id = *titles.get(title)?;
                    (ResourceKind::Milestone, Some(*action), None, Some(id), None)
                }
            };
            Some((
                events::project_id.eq(project),
                events::item_kind.eq(one.item.kind),
                events::item_id.eq(one.item.id),
                events::user_id.eq(one.user),
                events::kind.eq(kind),
                events::action.eq(action),
                events::label_id.eq(label),
                events::milestone_id.eq(milestone),
                events::state.eq(state),
                events::created_at.eq(one.at),
            ))
        })
        .collect();
    if rows.is_empty() {
        return Ok(0);
    }
    each_backend!(tx, |conn| diesel::insert_into(events::table)
        .values(&rows)
        .execute(conn)
        .map_err(error("Event")))
}

fn labels(
    tx: &mut Tx<'_>,
    project: ProjectId,
    new: &[ImportedEvent],
) -> Result<HashMap<String, LabelId>> {
    let names: BTreeSet<String> = new
        .iter()
        .filter_map(|one| match &one.change {
            ImportedChange::Label(_, name) => Some(name.clone()),
            ImportedChange::State(_) | ImportedChange::Milestone(..) => None,
        })
        .collect();
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let names: Vec<String> = names.into_iter().collect();
    let found = tx.labels_named(&LabelFilter::of(Home::Project(project)), &names)?;
    Ok(found.into_iter().map(|label| (label.name, label.id)).collect())
}

fn milestones(
    tx: &mut Tx<'_>,
    project: ProjectId,
    new: &[ImportedEvent],
) -> Result<HashMap<String, MilestoneId>> {
    let titles: BTreeSet<&String> = new
        .iter()
        .filter_map(|one| match &one.change {
            ImportedChange::Milestone(_, title) => Some(title),
            ImportedChange::State(_) | ImportedChange::Label(..) => None,
        })
        .collect();
    if titles.is_empty() {
        return Ok(HashMap::new());
    }
    let found = milestones::table
        .filter(milestones::project_id.eq(project).and(milestones::title.eq_any(titles)))
        .select((milestones::title, milestones::id));
    let found: Vec<(String, MilestoneId)> =
        each_backend!(tx, |conn| found.load(conn).map_err(error("Milestone")))?;
    Ok(found.into_iter().collect())
}
