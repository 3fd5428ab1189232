//! Epics in the database.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{epics, issues, milestones},
};
use diesel::{
    dsl::{exists, max, min},
    prelude::*,
    sql_query,
};
use kernel::{
    Result, Ts,
    ids::{NamespaceId, UserId},
};

use super::model::{DateRange, Epic};
use crate::{Home, issue::IssueState, item::removal, sequence};

/// Epics of one statement.
const AT_ONCE: usize = 500;

/// Columns of an epic that can be changed.
#[derive(Clone, Debug)]
pub(super) struct EpicDetails {
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) state: IssueState,
    pub(super) confidential: bool,
    pub(super) color: String,
    pub(super) start_date_fixed: Option<Ts>,
    pub(super) start_date_is_fixed: bool,
    pub(super) due_date_fixed: Option<Ts>,
    pub(super) due_date_is_fixed: bool,
    pub(super) closed_at: Option<Ts>,
    pub(super) updated_at: Ts,
}

pub trait EpicStore {
    fn find_epic(&mut self, group: NamespaceId, iid: i64) -> Result<Option<Epic>>;
    /// Epics of whatever group, in no order.
    fn epics_by_id(&mut self, ids: &[i64]) -> Result<Vec<Epic>>;
    /// Rows in the order of their ids here; what is gone is left out.
    fn epics_in_order(&mut self, ids: &[i64]) -> Result<Vec<Epic>>;
    /// The epics that are inside of one of these, as people ordered them.
    fn epics_inside(&mut self, parents: &[i64]) -> Result<Vec<Epic>>;
    /// From when to when the milestones of their issues last.
    fn spans_of_epics(&mut self, ids: &[i64]) -> Result<HashMap<i64, DateRange>>;
}

impl EpicStore for Tx<'_> {
    fn find_epic(&mut self, group: NamespaceId, iid: i64) -> Result<Option<Epic>> {
        let found = epics::table.filter(epics::namespace_id.eq(group).and(epics::iid.eq(iid)));
        each_backend!(self, |conn| found
            .select(Epic::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Epic")))
    }

    fn epics_by_id(&mut self, ids: &[i64]) -> Result<Vec<Epic>> {
        each_backend!(self, |conn| epics::table
            .filter(epics::id.one_of(ids))
            .select(Epic::as_select())
            .load(conn)
            .map_err(error("Epic")))
    }

    fn epics_in_order(&mut self, ids: &[i64]) -> Result<Vec<Epic>> {
        let rows = self.epics_by_id(ids)?;
        let mut rows: HashMap<i64, Epic> = rows.into_iter().map(|row| (row.id, row)).collect();
        Ok(ids.iter().filter_map(|id| rows.remove(id)).collect())
    }

    fn epics_inside(&mut self, parents: &[i64]) -> Result<Vec<Epic>> {
        each_backend!(self, |conn| epics::table
            .filter(epics::parent_id.one_of(parents))
            .order((epics::parent_position, epics::id.desc()))
            .select(Epic::as_select())
            .load(conn)
            .map_err(error("Epic")))
    }

    fn spans_of_epics(&mut self, ids: &[i64]) -> Result<HashMap<i64, DateRange>> {
        let rows = issues::table
            .inner_join(milestones::table)
            .filter(issues::epic_id.one_of(ids))
            .group_by(issues::epic_id)
            .select((issues::epic_id, min(milestones::start_date), max(milestones::due_date)));
        let rows: Vec<(Option<i64>, Option<Ts>, Option<Ts>)> =
            each_backend!(self, |conn| rows.load(conn).map_err(error("Epic")))?;
        let span =
            |(epic, start, due): (Option<i64>, _, _)| Some((epic?, DateRange { start, due }));
        Ok(rows.into_iter().filter_map(span).collect())
    }
}

pub(super) fn insert(
    tx: &mut Tx<'_>,
    group: NamespaceId,
    author: UserId,
    details: &EpicDetails,
) -> Result<Epic> {
    let iid = sequence::next(tx, Home::Group(group), "epic")?;
    let row = (
        epics::iid.eq(iid),
        epics::namespace_id.eq(group),
        epics::title.eq(&details.title),
        epics::description.eq(&details.description),
        epics::state.eq(details.state),
        epics::author_id.eq(author),
        epics::confidential.eq(details.confidential),
        epics::color.eq(&details.color),
        epics::start_date_fixed.eq(details.start_date_fixed),
        epics::start_date_is_fixed.eq(details.start_date_is_fixed),
        epics::due_date_fixed.eq(details.due_date_fixed),
        epics::due_date_is_fixed.eq(details.due_date_is_fixed),
        epics::closed_at.eq(details.closed_at),
        epics::created_at.eq(details.updated_at),
        epics::updated_at.eq(details.updated_at),
    );
    each_backend!(tx, |conn| diesel::insert_into(epics::table)
        .values(row)
        .returning(Epic::as_returning())
        .get_result(conn)
        .map_err(error("Epic")))
}

/// Puts an epic inside of another one, or nowhere.
pub(super) fn save_parent(tx: &mut Tx<'_>, id: i64, parent: Option<(i64, i64)>) -> Result<Epic> {
    let row = (
        epics::parent_id.eq(parent.map(|(parent, _)| parent)),
        epics::parent_position.eq(parent.map(|(_, position)| position)),
        epics::updated_at.eq(tx.now),
    );
    each_backend!(tx, |conn| diesel::update(epics::table.find(id))
        .set(row)
        .returning(Epic::as_returning())
        .get_result(conn)
        .map_err(error("Epic")))
}

/// The epics of a group that are inside of others, each with the one that it is inside of.
pub(super) fn parents_in(tx: &mut Tx<'_>, group: NamespaceId) -> Result<Vec<(i64, i64)>> {
    let inner = epics::table
        .filter(epics::namespace_id.eq(group).and(epics::parent_id.is_not_null()))
        .select((epics::id, epics::parent_id.assume_not_null()));
    each_backend!(tx, |conn| inner.load(conn).map_err(error("Epic")))
}

/// What these epics are inside of, by their ids.
pub(super) fn parents_of(tx: &mut Tx<'_>, ids: &[i64]) -> Result<HashMap<i64, i64>> {
    let mut all = HashMap::new();
    for some in ids.chunks(AT_ONCE) {
        let inner = epics::table
            .filter(epics::id.one_of(some).and(epics::parent_id.is_not_null()))
            .select((epics::id, epics::parent_id.assume_not_null()));
        let inner: Vec<(i64, i64)> =
            each_backend!(tx, |conn| inner.load(conn).map_err(error("Epic")))?;
        all.extend(inner);
    }
    Ok(all)
}

/// Takes epics out of those that they are inside of.
pub(super) fn forget_parents(tx: &mut Tx<'_>, ids: &[i64]) -> Result<()> {
    let none: Option<i64> = None;
    for some in ids.chunks(AT_ONCE) {
        let rows = diesel::update(epics::table.filter(epics::id.one_of(some)));
        let rows = rows.set((epics::parent_id.eq(none), epics::parent_position.eq(none)));
        each_backend!(tx, |conn| rows.execute(conn).map_err(error("Epic")))?;
    }
    Ok(())
}

pub(super) fn keep(tx: &mut Tx<'_>, id: i64, details: &EpicDetails) -> Result<Epic> {
    let row = (
        epics::title.eq(&details.title),
        epics::description.eq(&details.description),
        epics::state.eq(details.state),
        epics::confidential.eq(details.confidential),
        epics::color.eq(&details.color),
        epics::start_date_fixed.eq(details.start_date_fixed),
        epics::start_date_is_fixed.eq(details.start_date_is_fixed),
        epics::due_date_fixed.eq(details.due_date_fixed),
        epics::due_date_is_fixed.eq(details.due_date_is_fixed),
        epics::closed_at.eq(details.closed_at),
        epics::updated_at.eq(details.updated_at),
    );
    each_backend!(tx, |conn| diesel::update(epics::table.find(id))
        .set(row)
        .returning(Epic::as_returning())
        .get_result(conn)
        .map_err(error("Epic")))
}

/// Removes an epic with all that hangs on it; its issues stay, and so do the epics inside of it. Whether it was still
/// there.
pub(crate) fn delete(tx: &mut Tx<'_>, epic: &Epic) -> Result<bool> {
    let (nowhere, none): (Option<i64>, Option<i64>) = (None, None);
    let left = diesel::update(issues::table.filter(issues::epic_id.eq(epic.id)));
    let left = left.set((issues::epic_id.eq(none), issues::epic_position.eq(nowhere)));
    each_backend!(tx, |conn| left.execute(conn).map_err(error("Issue")))?;
    let inside = diesel::update(epics::table.filter(epics::parent_id.eq(epic.id)));
    let inside = inside.set((epics::parent_id.eq(none), epics::parent_position.eq(nowhere)));
    each_backend!(tx, |conn| inside.execute(conn).map_err(error("Epic")))?;
    removal::forget(tx, epic.item())?;
    let row = diesel::delete(epics::table.find(epic.id));
    let gone = each_backend!(tx, |conn| row.execute(conn).map_err(error("Epic")))?;
    Ok(gone > 0)
}

/// Whether an epic has issues that are not confidential.
pub(super) fn has_open_issues(tx: &mut Tx<'_>, epic: i64) -> Result<bool> {
    let open = issues::table.filter(issues::epic_id.eq(epic).and(issues::confidential.eq(false)));
    each_backend!(tx, |conn| diesel::select(exists(open)).get_result(conn).map_err(error("Issue")))
}

/// Forgets what is left of epics that went with their groups: their labels, what was said about them and asked of people,
/// and that issues worked towards them.
pub fn forget_gone(tx: &mut Tx<'_>) -> Result<()> {
    const GONE: &str = "= 'Epic' AND NOT EXISTS (SELECT 1 FROM epics e WHERE e.id =";
    let felt = format!(
        "DELETE FROM award_emoji WHERE item_kind = 'Note' AND item_id IN \
         (SELECT n.id FROM notes n WHERE n.item_kind {GONE} n.item_id))"
    );
    let parents = "UPDATE epics SET parent_id = NULL, parent_position = NULL WHERE parent_id IS NOT NULL \
                   AND NOT EXISTS (SELECT 1 FROM epics e WHERE e.id = epics.parent_id)";
    let places = "UPDATE issues SET epic_id = NULL, epic_position = NULL WHERE epic_id IS NOT NULL \
                  AND NOT EXISTS (SELECT 1 FROM epics e WHERE e.id = issues.epic_id)";
    let mut all = vec![felt, parents.to_owned(), places.to_owned()];
    for (table, kind, id) in [
        ("award_emoji", "item_kind", "item_id"),
        ("item_labels", "item_kind", "item_id"),
        ("item_subscriptions", "item_kind", "item_id"),
        ("item_participants", "item_kind", "item_id"),
        ("item_mentions", "source_kind", "source_id"),
        ("todos", "item_kind", "item_id"),
        ("notes", "item_kind", "item_id"),
        // Others were told that they name them.
        ("notes", "source_kind", "source_id"),
    ] {
        all.push(format!("DELETE FROM {table} WHERE {kind} {GONE} {table}.{id})"));
    }
    for sql in all {
        each_backend!(tx, |conn| sql_query(&sql).execute(conn).map_err(error("Epic")))?;
    }
    Ok(())
}
