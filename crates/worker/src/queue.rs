//! The queue as rows.

use db::{OneOf as _, Tx, each_backend, error, schema::work};
use diesel::{dsl::exists, prelude::*, sql_types::Bool};
use kernel::{Error, Result, Ts, ids::WorkId};
use time::Duration;

use crate::Job;

/// How long somebody who took a piece of work may keep it to themselves.
const LEASE: Duration = Duration::minutes(30);
/// After this many failures a piece of work waits for a person.
const MAX_ATTEMPTS: i32 = 12;
const NEVER: Ts = Ts(i64::MAX);

/// A piece of work that is ours until it is done, or has failed.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = work, check_for_backend(db::AnyBackend))]
pub struct ClaimedWork {
    pub id: WorkId,
    pub kind: String,
    /// Under what it waited.
    pub unique_key: Option<String>,
    pub payload: String,
    pub attempts: i32,
    /// The webhook event that led to it.
    pub cause: Option<String>,
}

/// The number of waiting and of failed jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    pub waiting: i64,
    pub given_up: i64,
}

pub trait Queue {
    /// Asks for work that is done once this transaction has committed.
    fn enqueue<J: Job>(&mut self, job: &J) -> Result<()>;
    /// As [`enqueue`](Self::enqueue), not before `at`.
    fn enqueue_at<J: Job>(&mut self, job: &J, at: Ts) -> Result<()>;
    /// As [`enqueue`](Self::enqueue), unless the same work waits already or is being done; whether it was asked for.
    fn enqueue_if_idle<J: Job>(&mut self, job: &J) -> Result<bool>;
    /// Takes the piece of work that has been due for the longest time, for the server of this name.
    fn take_work(&mut self, by: &str) -> Result<Option<ClaimedWork>>;
    /// Takes what waits under these keys, due or not, and under keys that continue one after a colon; oldest first.
    fn take_work_under(&mut self, keys: &[String], by: &str) -> Result<Vec<ClaimedWork>>;
    fn finish_work(&mut self, id: WorkId) -> Result<()>;
    /// Takes back what waits under a key, `KIND:key`, for who does it in this same transaction; whether it waited.
    fn withdraw_work(&mut self, key: &str) -> Result<bool>;
    /// Frees what a server that was killed had taken; for its next start, before anything is taken. Other servers keep
    /// what they are doing; where there are none, whatever was taken is free.
    fn free_work(&mut self, of: Option<&str>) -> Result<usize>;
    /// Puts failed work back, to be tried again later and later.
    fn fail_work(&mut self, taken: &ClaimedWork, cause: &str) -> Result<()>;
    fn work_depth(&mut self) -> Result<Depth>;
}

impl Queue for Tx<'_> {
    fn enqueue<J: Job>(&mut self, job: &J) -> Result<()> {
        let now = self.now;
        self.enqueue_at(job, now)
    }

    fn enqueue_at<J: Job>(&mut self, job: &J, at: Ts) -> Result<()> {
        insert(self, job, at).map(drop)
    }

    fn enqueue_if_idle<J: Job>(&mut self, job: &J) -> Result<bool> {
        let now = self.now;
        let payload = serde_json::to_string(job).map_err(Error::internal)?;
        let waiting = work::table.filter(work::unique_key.eq(key_of(job)));
        // What is being done has its key no more, and what was given up is not under way.
        let taken = work::table
            .filter(work::unique_key.is_null())
            .filter(work::kind.eq(J::KIND))
            .filter(work::payload.eq(payload))
            .filter(work::run_at.lt(NEVER));
        let (waits, runs): (bool, bool) =
            each_backend!(self, |conn| diesel::select((exists(waiting), exists(taken)))
                .get_result(conn)
                .map_err(error("Work")))?;
        Ok(!waits && !runs && insert(self, job, now)?)
    }

    fn take_work_under(&mut self, keys: &[String], by: &str) -> Result<Vec<ClaimedWork>> {
        let found: Vec<ClaimedWork> = each_backend!(self, |conn| {
            let mut under = work::table.filter(work::unique_key.one_of(keys)).into_boxed();
            for key in keys {
                // A semicolon is the sign after the colon.
                let (from, to) = (format!("{key}:"), format!("{key};"));
                under = under.or_filter(work::unique_key.gt(from).and(work::unique_key.lt(to)));
            }
            under
                .filter(work::run_at.lt(NEVER))
                .order(work::id)
                .select(ClaimedWork::as_select())
                .load(conn)
                .map_err(error("Work"))
        })?;
        let mut taken = Vec::with_capacity(found.len());
        for one in found {
            if take(self, one.id, by)? {
                taken.push(one);
            }
        }
        Ok(taken)
    }

    fn take_work(&mut self, by: &str) -> Result<Option<ClaimedWork>> {
        let now = self.now;
        let free = work::locked_until.is_null().or(work::locked_until.le(now));
        let due = work::table
            .filter(work::run_at.le(now))
            .filter(free)
            .order((work::run_at, work::id))
            .limit(1);
        let first: Option<ClaimedWork> = each_backend!(self, |conn| due
            .select(ClaimedWork::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Work")))?;
        let Some(taken) = first else { return Ok(None) };
        Ok(take(self, taken.id, by)?.then_some(taken))
    }

    fn finish_work(&mut self, id: WorkId) -> Result<()> {
        let row = work::table.find(id);
        each_backend!(self, |conn| diesel::delete(row).execute(conn).map_err(error("Work")))?;
        Ok(())
    }

    fn withdraw_work(&mut self, key: &str) -> Result<bool> {
        let waiting = work::table.filter(work::unique_key.eq(key));
        let gone = each_backend!(self, |conn| diesel::delete(waiting)
            .execute(conn)
            .map_err(error("Work")))?;
        Ok(gone > 0)
    }

    fn free_work(&mut self, of: Option<&str>) -> Result<usize> {
        // Before names were noted, there was one server.
        let own = work::taken_by.is_null().or(work::taken_by.eq(of).assume_not_null());
        let own = own.or(of.is_none().into_sql::<Bool>());
        let taken = work::table.filter(work::locked_until.is_not_null().and(own));
        each_backend!(self, |conn| diesel::update(taken)
            .set(work::locked_until.eq(None::<Ts>))
            .execute(conn)
            .map_err(error("Work")))
    }

    fn fail_work(&mut self, taken: &ClaimedWork, cause: &str) -> Result<()> {
        let attempts = taken.attempts + 1;
        let again = if attempts >= MAX_ATTEMPTS { NEVER } else { self.now.plus(pause(attempts)) };
        let row = work::table.find(taken.id);
        each_backend!(self, |conn| diesel::update(row)
            .set((
                work::attempts.eq(attempts),
                work::run_at.eq(again),
                work::locked_until.eq(None::<Ts>),
                work::last_error.eq(Some(cause)),
            ))
            .execute(conn)
            .map_err(error("Work")))?;
        Ok(())
    }

    fn work_depth(&mut self) -> Result<Depth> {
        let waiting = work::table.filter(work::run_at.lt(NEVER)).count();
        let waiting = each_backend!(self, |conn| waiting.get_result(conn).map_err(error("Work")))?;
        let given_up = work::table.filter(work::run_at.eq(NEVER)).count();
        let given_up =
            each_backend!(self, |conn| given_up.get_result(conn).map_err(error("Work")))?;
        Ok(Depth { waiting, given_up })
    }
}

/// Under what it waits; work without a key waits as often as it is asked for.
fn key_of<J: Job>(job: &J) -> Option<String> {
    job.unique_key().map(|key| format!("{}:{key}", J::KIND))
}

/// Whether it was not there yet.
fn insert<J: Job>(tx: &mut Tx<'_>, job: &J, at: Ts) -> Result<bool> {
    let row = (
        work::kind.eq(J::KIND),
        work::payload.eq(serde_json::to_string(job).map_err(Error::internal)?),
        work::unique_key.eq(key_of(job)),
        work::run_at.eq(at),
        work::attempts.eq(0),
        work::created_at.eq(tx.now),
        work::cause.eq(tx.cause.as_deref()),
    );
    let insert = diesel::insert_into(work::table).values(row);
    let count = each_backend!(tx, |conn| insert
        .on_conflict(work::unique_key)
        .do_nothing()
        .execute(conn)
        .map_err(error("Work")))?;
    Ok(count == 1)
}

/// Somebody else may have seen the same row: only one of us changes it. Without its key, the same work can be asked for
/// again while it is being done.
fn take(tx: &mut Tx<'_>, id: WorkId, by: &str) -> Result<bool> {
    let now = tx.now;
    let free = work::locked_until.is_null().or(work::locked_until.le(now));
    let mine = work::table.find(id).filter(free);
    let changed = each_backend!(tx, |conn| diesel::update(mine)
        .set((
            work::locked_until.eq(Some(now.plus(LEASE))),
            work::taken_by.eq(Some(by)),
            work::unique_key.eq(None::<String>),
        ))
        .execute(conn)
        .map_err(error("Work")))?;
    Ok(changed == 1)
}

/// 10 s, 20 s, 40 s … an hour.
fn pause(attempts: i32) -> Duration {
    let doubled = 10_i64 << attempts.clamp(1, 10).saturating_sub(1);
    Duration::seconds(doubled.min(3_600))
}
