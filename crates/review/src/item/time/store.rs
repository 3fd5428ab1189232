//! Work in the database: what it is thought to take, and what it took.

use db::{
    Tx, each_backend, error,
    schema::{issues, merge_requests, timelogs},
};
use diesel::prelude::*;
use kernel::{Error, Result, Ts, ids::UserId};

use crate::item::{Item, ItemId, ItemKind};

/// Seconds that can be spent on one item: some hundred times the longest span that can be said at once.
pub(crate) const MOST_SPENT: i64 = 1 << 40;

/// Seconds of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeStats {
    pub estimate: i64,
    pub spent: i64,
}

/// Time that somebody spent; what they take back is below zero.
#[derive(Clone, Debug)]
pub struct SpentTime {
    pub seconds: i64,
    pub at: Ts,
    pub summary: Option<String>,
}

pub trait TimeStore {
    fn time_stats(&mut self, item: ItemId) -> Result<TimeStats>;
    fn save_estimate(&mut self, item: ItemId, seconds: i64) -> Result<TimeStats>;
    /// Notes time that was spent; `None` where more would be taken back than there is, and where it would be more than
    /// an item can have.
    fn add_spent(
        &mut self,
        item: &Item,
        user: UserId,
        spent: &SpentTime,
    ) -> Result<Option<TimeStats>>;
}

impl TimeStore for Tx<'_> {
    fn time_stats(&mut self, item: ItemId) -> Result<TimeStats> {
        let of_issue = (issues::time_estimate, issues::total_time_spent);
        let of_request = (merge_requests::time_estimate, merge_requests::total_time_spent);
        let (estimate, spent) = match item.kind {
            ItemKind::Issue => each_backend!(self, |conn| issues::table
                .filter(issues::id.eq(item.id))
                .select(of_issue)
                .first(conn)
                .map_err(error("Issue")))?,
            ItemKind::MergeRequest => each_backend!(self, |conn| merge_requests::table
                .filter(merge_requests::id.eq(item.id))
                .select(of_request)
                .first(conn)
                .map_err(error("Merge request")))?,
            ItemKind::Epic => return Err(Error::missing()),
        };
        Ok(TimeStats { estimate, spent })
    }

    fn save_estimate(&mut self, item: ItemId, seconds: i64) -> Result<TimeStats> {
        let now = self.now;
        match item.kind {
            ItemKind::Issue => {
                let row = (issues::time_estimate.eq(seconds), issues::updated_at.eq(now));
                let row = diesel::update(issues::table.filter(issues::id.eq(item.id))).set(row);
                each_backend!(self, |conn| row.execute(conn).map_err(error("Issue")))?;
            }
            ItemKind::MergeRequest => {
                let row =
                    (merge_requests::time_estimate.eq(seconds), merge_requests::updated_at.eq(now));
                let of = merge_requests::table.filter(merge_requests::id.eq(item.id));
                let row = diesel::update(of).set(row);
                each_backend!(self, |conn| row.execute(conn).map_err(error("Merge request")))?;
            }
            ItemKind::Epic => {}
        }
        self.time_stats(item)
    }

    fn add_spent(
        &mut self,
        item: &Item,
        user: UserId,
        spent: &SpentTime,
    ) -> Result<Option<TimeStats>> {
        let (id, now, seconds) = (item.id.id, self.now, spent.seconds);
        let most = MOST_SPENT.saturating_sub(seconds);
        // The sum is worked out where it is kept: two people may spend time at once.
        let kept = match item.id.kind {
            ItemKind::Issue => {
                let fits = issues::total_time_spent.between(-seconds, most);
                let sum = issues::total_time_spent.eq(issues::total_time_spent + seconds);
                let of = issues::table.filter(issues::id.eq(id).and(fits));
                let row = diesel::update(of).set((sum, issues::updated_at.eq(now)));
                each_backend!(self, |conn| row.execute(conn).map_err(error("Issue")))?
            }
            ItemKind::MergeRequest => {
                let fits = merge_requests::total_time_spent.between(-seconds, most);
                let sum =
                    merge_requests::total_time_spent.eq(merge_requests::total_time_spent + seconds);
                let of = merge_requests::table.filter(merge_requests::id.eq(id).and(fits));
                let row = diesel::update(of).set((sum, merge_requests::updated_at.eq(now)));
                each_backend!(self, |conn| row.execute(conn).map_err(error("Merge request")))?
            }
            ItemKind::Epic => 0,
        };
        let Some(project) = item.project().filter(|_| kept > 0) else { return Ok(None) };
        let row = (
            timelogs::item_kind.eq(item.id.kind),
            timelogs::item_id.eq(id),
            timelogs::project_id.eq(project),
            timelogs::user_id.eq(user),
            timelogs::time_spent.eq(seconds),
            timelogs::summary.eq(&spent.summary),
            timelogs::spent_at.eq(spent.at),
            timelogs::created_at.eq(now),
            timelogs::updated_at.eq(now),
        );
        let row = diesel::insert_into(timelogs::table).values(row);
        each_backend!(self, |conn| row.execute(conn).map_err(error("Time")))?;
        self.time_stats(item.id).map(Some)
    }
}
