//! Resource events: changes of an item's labels, milestone, state, weight and iteration.

use db::{CountOf, Tx, each_backend, error, schema::resource_events};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{LabelId, MilestoneId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::store::{Action, record};
use crate::item::{Item, ItemId, ItemKind};

kernel::text_enum! {
    /// Which side of an item changed.
    pub enum ResourceKind {
        Label = "label",
        Milestone = "milestone",
        State = "state",
        Weight = "weight",
        Iteration = "iteration",
    }
}

kernel::text_enum! {
    pub enum ResourceAction { Add = "add", Remove = "remove" }
}

kernel::text_enum! {
    /// The new state of an item.
    pub enum ResourceState {
        Opened = "opened",
        Closed = "closed",
        Reopened = "reopened",
        Merged = "merged",
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = resource_events, check_for_backend(db::AnyBackend))]
pub struct ResourceEvent {
    pub id: i64,
    pub item_kind: ItemKind,
    pub item_id: i64,
    pub user_id: UserId,
    pub action: Option<ResourceAction>,
    pub label_id: Option<LabelId>,
    pub milestone_id: Option<MilestoneId>,
    pub iteration_id: Option<i64>,
    pub state: Option<ResourceState>,
    pub weight: Option<i64>,
    pub created_at: Ts,
}

#[derive(Clone, Copy, Debug, Default)]
struct Change {
    action: Option<ResourceAction>,
    label: Option<LabelId>,
    milestone: Option<MilestoneId>,
    iteration: Option<i64>,
    state: Option<ResourceState>,
    weight: Option<i64>,
}

/// An item got some labels and lost others.
pub fn labels_changed(
    tx: &mut Tx<'_>,
    item: &Item,
    user: UserId,
    added: &[LabelId],
    removed: &[LabelId],
) -> Result<()> {
    let added = added.iter().map(|label| (ResourceAction::Add, *label));
    let removed = removed.iter().map(|label| (ResourceAction::Remove, *label));
    for (action, label) in added.chain(removed) {
        let change = Change { action: Some(action), label: Some(label), ..Change::default() };
        insert(tx, item, user, ResourceKind::Label, change)?;
    }
    Ok(())
}

/// An item moved from one milestone to another, or into or out of one.
pub fn milestone_changed(
    tx: &mut Tx<'_>,
    item: &Item,
    user: UserId,
    old: Option<MilestoneId>,
    new: Option<MilestoneId>,
) -> Result<()> {
    for (action, milestone) in moved(old, new) {
        let change =
            Change { action: Some(action), milestone: Some(milestone), ..Change::default() };
        insert(tx, item, user, ResourceKind::Milestone, change)?;
    }
    Ok(())
}

/// As [`milestone_changed`], for iterations.
pub fn iteration_changed(
    tx: &mut Tx<'_>,
    item: &Item,
    user: UserId,
    old: Option<i64>,
    new: Option<i64>,
) -> Result<()> {
    for (action, iteration) in moved(old, new) {
        let change =
            Change { action: Some(action), iteration: Some(iteration), ..Change::default() };
        insert(tx, item, user, ResourceKind::Iteration, change)?;
    }
    Ok(())
}

fn moved<T: PartialEq + Copy>(
    old: Option<T>,
    new: Option<T>,
) -> impl Iterator<Item = (ResourceAction, T)> {
    let changed = old != new;
    let left = old.filter(|_| changed && new.is_none()).map(|old| (ResourceAction::Remove, old));
    let entered = new.filter(|_| changed).map(|new| (ResourceAction::Add, new));
    left.into_iter().chain(entered)
}

/// An item was opened, closed, reopened or merged: told among its own events and in the feeds.
pub fn state_changed(
    tx: &mut Tx<'_>,
    item: &Item,
    user: UserId,
    state: ResourceState,
) -> Result<()> {
    let action = match state {
        ResourceState::Opened => Action::Created,
        ResourceState::Closed => Action::Closed,
        ResourceState::Reopened => Action::Reopened,
        ResourceState::Merged => Action::Merged,
    };
    if state != ResourceState::Opened {
        let change = Change { state: Some(state), ..Change::default() };
        insert(tx, item, user, ResourceKind::State, change)?;
    }
    record(tx, item, user, action)
}

/// An item weighs something else now.
pub fn weight_changed(
    tx: &mut Tx<'_>,
    item: &Item,
    user: UserId,
    weight: Option<i64>,
) -> Result<()> {
    insert(tx, item, user, ResourceKind::Weight, Change { weight, ..Change::default() })
}

fn insert(
    tx: &mut Tx<'_>,
    item: &Item,
    user: UserId,
    kind: ResourceKind,
    change: Change,
) -> Result<()> {
    let row = (
        resource_events::project_id.eq(item.project()),
        resource_events::item_kind.eq(item.id.kind),
        resource_events::item_id.eq(item.id.id),
        resource_events::user_id.eq(user),
        resource_events::kind.eq(kind),
        resource_events::action.eq(change.action),
        resource_events::label_id.eq(change.label),
        resource_events::milestone_id.eq(change.milestone),
        resource_events::iteration_id.eq(change.iteration),
        resource_events::state.eq(change.state),
        resource_events::weight.eq(change.weight),
        resource_events::created_at.eq(tx.now),
    );
    let row = diesel::insert_into(resource_events::table).values(row);
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Event")))?;
    Ok(())
}

pub trait ResourceEventStore {
    /// A page of what happened to one side of an item, oldest first.
    fn resource_events(
        &mut self,
        item: ItemId,
        kind: ResourceKind,
        page: PageRequest,
    ) -> Result<Page<ResourceEvent>>;
    fn find_resource_event(
        &mut self,
        item: ItemId,
        kind: ResourceKind,
        id: i64,
    ) -> Result<Option<ResourceEvent>>;
}

impl ResourceEventStore for Tx<'_> {
    fn resource_events(
        &mut self,
        item: ItemId,
        kind: ResourceKind,
        page: PageRequest,
    ) -> Result<Page<ResourceEvent>> {
        let of_item =
            resource_events::item_kind.eq(item.kind).and(resource_events::item_id.eq(item.id));
        let rows = resource_events::table.filter(of_item.and(resource_events::kind.eq(kind)));
        let items = each_backend!(self, |conn| rows
            .order(resource_events::id)
            .limit(page.per_page)
            .offset(page.offset())
            .select(ResourceEvent::as_select())
            .load(conn)
            .map_err(error("Event")))?;
        let counted = CountOf(rows.select(resource_events::id).limit(COUNT_LIMIT + 1));
        let total = each_backend!(self, |conn| counted.get_result(conn).map_err(error("Event")))?;
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn find_resource_event(
        &mut self,
        item: ItemId,
        kind: ResourceKind,
        id: i64,
    ) -> Result<Option<ResourceEvent>> {
        let of_item =
            resource_events::item_kind.eq(item.kind).and(resource_events::item_id.eq(item.id));
        let row = resource_events::table
            .filter(of_item.and(resource_events::kind.eq(kind)))
            .filter(resource_events::id.eq(id));
        each_backend!(self, |conn| row
            .select(ResourceEvent::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Event")))
    }
}
