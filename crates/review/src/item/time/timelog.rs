//! The single entries of time that was spent on issues and merge requests.

use db::{
    OneOf as _, Tx, each_backend, error,
    keyset::{ListOrder, ListWindow, WHOLE},
    listing::{Bind, Conditions as Where, Selection, count, page_of_ids},
    schema::{issues, merge_requests, timelogs},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Error, Result, Standing, Ts,
    ids::{ProjectId, UserId},
    page::{Page, PageRequest},
};

use super::{event::Event, store::TimeStore as _};
use crate::{
    item::{Item, ItemId, ItemKind},
    ports::Projects,
};

/// Time that somebody spent on an item.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = timelogs, check_for_backend(db::AnyBackend))]
pub struct Timelog {
    pub id: i64,
    pub item_kind: ItemKind,
    pub item_id: i64,
    pub project_id: ProjectId,
    pub user_id: UserId,
    /// Seconds; what was taken back is below zero.
    pub time_spent: i64,
    pub summary: Option<String>,
    pub spent_at: Ts,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Timelog {
    pub fn item(&self) -> ItemId {
        ItemId { kind: self.item_kind, id: self.item_id }
    }

    /// Whether somebody who stands so in the project may take the entry away: their own, or any as a maintainer.
    pub fn may_remove(&self, who: &Standing) -> bool {
        let own = who.actor.id == Some(self.user_id) && who.writes(AccessLevel::Reporter);
        own || who.writes(AccessLevel::Maintainer)
    }
}

/// Which entries are asked for. Filters act only when they are set.
#[derive(Clone, Debug, Default)]
pub struct TimelogFilter {
    pub project: Option<ProjectId>,
    /// A group with all that is inside it, by its full path.
    pub group: Option<String>,
    pub user: Option<UserId>,
    pub spent_after: Option<Ts>,
    pub spent_before: Option<Ts>,
}

pub trait TimelogStore {
    /// The entries of these items of a kind, oldest first.
    fn timelogs_of(&mut self, kind: ItemKind, ids: &[i64]) -> Result<Vec<Timelog>>;
    fn find_timelog(&mut self, id: i64) -> Result<Option<Timelog>>;
    fn newest_timelog(&mut self, item: ItemId, user: UserId) -> Result<Option<Timelog>>;
    fn timelogs_in_order(&mut self, ids: &[i64]) -> Result<Vec<Timelog>>;
}

impl TimelogStore for Tx<'_> {
    fn timelogs_of(&mut self, kind: ItemKind, ids: &[i64]) -> Result<Vec<Timelog>> {
        let rows = timelogs::table
            .filter(timelogs::item_kind.eq(kind).and(timelogs::item_id.one_of(ids)))
            .order(timelogs::id);
        each_backend!(self, |conn| rows
            .select(Timelog::as_select())
            .load(conn)
            .map_err(error("Timelog")))
    }

    fn find_timelog(&mut self, id: i64) -> Result<Option<Timelog>> {
        each_backend!(self, |conn| timelogs::table
            .find(id)
            .select(Timelog::as_select())
            .first(conn)
            .optional()
            .map_err(error("Timelog")))
    }

    fn newest_timelog(&mut self, item: ItemId, user: UserId) -> Result<Option<Timelog>> {
        let newest = timelogs::table
            .filter(timelogs::item_kind.eq(item.kind).and(timelogs::item_id.eq(item.id)))
            .filter(timelogs::user_id.eq(user))
            .order(timelogs::id.desc());
        each_backend!(self, |conn| newest
            .select(Timelog::as_select())
            .first(conn)
            .optional()
            .map_err(error("Timelog")))
    }

    fn timelogs_in_order(&mut self, ids: &[i64]) -> Result<Vec<Timelog>> {
        let mut rows: Vec<Timelog> = each_backend!(self, |conn| timelogs::table
            .filter(timelogs::id.one_of(ids))
            .select(Timelog::as_select())
            .load(conn)
            .map_err(error("Timelog")))?;
        rows.sort_by_key(|row| ids.iter().position(|id| *id == row.id));
        Ok(rows)
    }
}

/// A page of the entries of merge requests and issues in projects that somebody may read, newest first. Entries of
/// confidential issues are for those who may read these.
pub fn list(
    tx: &mut Tx<'_>,
    projects: &impl Projects,
    actor: Actor,
    filter: &TimelogFilter,
    window: &ListWindow,
    page: PageRequest,
) -> Result<Page<Timelog>> {
    let selection = selection(tx, projects, actor, filter, window)?;
    let found =
        page_of_ids(tx, &selection, page, |tx| count(tx, &selection.from, &selection.binds))?;
    Ok(Page { items: tx.timelogs_in_order(&found.items)?, total: found.total })
}

/// The sum of all entries that [`list`] has, in seconds.
pub fn total(
    tx: &mut Tx<'_>,
    projects: &impl Projects,
    actor: Actor,
    filter: &TimelogFilter,
) -> Result<i64> {
    let Selection { from, binds, .. } = selection(tx, projects, actor, filter, &WHOLE)?;
    let sql = format!("SELECT CAST(COALESCE(SUM(t.time_spent), 0) AS BIGINT) AS id FROM {from}");
    Ok(db::listing::ids(tx, &sql, &binds)?.first().copied().unwrap_or_default())
}

fn selection(
    tx: &mut Tx<'_>,
    projects: &impl Projects,
    actor: Actor,
    filter: &TimelogFilter,
    window: &ListWindow,
) -> Result<Selection> {
    let mut all = Where::default();
    let group = filter.group.as_deref();
    let issues_in = projects.readable(tx, actor, ItemKind::Issue, group, true)?.all;
    let requests_in = projects.readable(tx, actor, ItemKind::MergeRequest, group, true)?.all;
    let open = match actor.admin {
        true => String::new(),
        false => format!(
            " AND EXISTS (SELECT 1 FROM issues i WHERE i.id = t.item_id AND {})",
            crate::item::list::confidential_for(actor, Some(tx.now))
        ),
    };
    all.plain(format!(
        "((t.item_kind = '{}' AND {}{open}) OR (t.item_kind = '{}' AND {}))",
        ItemKind::Issue,
        issues_in.contains("t.project_id"),
        ItemKind::MergeRequest,
        requests_in.contains("t.project_id"),
    ));
    if let Some(project) = filter.project {
        all.number("t.project_id = {}", project.0);
    }
    if let Some(user) = filter.user {
        all.number("t.user_id = {}", user.0);
    }
    if let Some(after) = filter.spent_after {
        all.number("t.spent_at >= {}", after.0);
    }
    if let Some(before) = filter.spent_before {
        all.number("t.spent_at <= {}", before.end_of_shown().0);
    }
    let order = ListOrder::of_ids("t.id", true);
    order.narrow(&mut all, window);
    let from = format!("timelogs t WHERE {}", all.text());
    let binds: Vec<Bind> = all.binds;
    Ok(Selection { id: "t.id", from, binds, order: order.sql(window) })
}

/// Takes an entry away, and the time it stands for.
///
/// # Errors
/// `Forbidden` for those who may not; `BadRequest` where more would be taken back than there is.
pub fn remove(tx: &mut Tx<'_>, who: &Standing, item: &Item, entry: &Timelog) -> Result<()> {
    if !entry.may_remove(who) {
        return Err(Error::forbidden());
    }
    let before = tx.time_stats(item.id)?;
    let (id, now, seconds) = (item.id.id, tx.now, entry.time_spent);
    let kept = match item.id.kind {
        ItemKind::Issue => {
            let of =
                issues::table.filter(issues::id.eq(id).and(issues::total_time_spent.ge(seconds)));
            let sum = issues::total_time_spent.eq(issues::total_time_spent - seconds);
            let row = diesel::update(of).set((sum, issues::updated_at.eq(now)));
            each_backend!(tx, |conn| row.execute(conn).map_err(error("Issue")))?
        }
        ItemKind::MergeRequest => {
            let of = merge_requests::table.filter(
                merge_requests::id.eq(id).and(merge_requests::total_time_spent.ge(seconds)),
            );
            let sum =
                merge_requests::total_time_spent.eq(merge_requests::total_time_spent - seconds);
            let row = diesel::update(of).set((sum, merge_requests::updated_at.eq(now)));
            each_backend!(tx, |conn| row.execute(conn).map_err(error("Merge request")))?
        }
        ItemKind::Epic => 0,
    };
    if kept == 0 {
        return Err(Error::invalid("base", "Time to subtract exceeds the total time spent"));
    }
    let row = diesel::delete(timelogs::table.find(entry.id));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Timelog")))?;
    let after = tx.time_stats(item.id)?;
    tx.emit(Event::new(item, &before, &after, who.actor.user()?))
}
