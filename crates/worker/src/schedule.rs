//! Work that is asked for again and again: at an hour of each day, or after a span.

use db::{Tx, each_backend, error, schema::work_schedules};
use diesel::prelude::*;
use kernel::{Result, Ts};
use time::{Duration, Time};

/// The interval of periodic work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recurrence {
    /// At once, and then whenever so much time has passed.
    Every(Duration),
    /// Each day at this time, UTC.
    Daily(Time),
}

impl Recurrence {
    fn first(self, now: Ts) -> Ts {
        match self {
            Self::Every(_) => now,
            Self::Daily(_) => self.after(now),
        }
    }

    fn after(self, now: Ts) -> Ts {
        match self {
            Self::Every(span) => now.plus(span),
            Self::Daily(hour) => {
                let today = Ts::from_datetime(now.datetime().replace_time(hour));
                if today > now { today } else { today.plus(Duration::days(1)) }
            }
        }
    }
}

pub trait Schedules {
    /// Whether work of this kind is due. Of all processes that ask, one is told yes, once for all times that were
    /// missed. Also tells when to ask again.
    fn take_turn(&mut self, kind: &str, recurrence: Recurrence) -> Result<ScheduleCheck>;
}

/// Whether it is now, and when it will be again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleCheck {
    pub due: bool,
    pub next: Ts,
}

impl Schedules for Tx<'_> {
    fn take_turn(&mut self, kind: &str, recurrence: Recurrence) -> Result<ScheduleCheck> {
        let now = self.now;
        let first =
            (work_schedules::kind.eq(kind), work_schedules::next_at.eq(recurrence.first(now)));
        let insert = diesel::insert_into(work_schedules::table).values(first);
        each_backend!(self, |conn| insert
            .on_conflict(work_schedules::kind)
            .do_nothing()
            .execute(conn)
            .map_err(error("Work")))?;
        let row = work_schedules::table.find(kind);
        let at: Ts = each_backend!(self, |conn| row
            .select(work_schedules::next_at)
            .get_result(conn)
            .map_err(error("Work")))?;
        let due = at <= now;
        // A schedule that has become closer than it was is followed from now on.
        let next = if due { recurrence.after(now) } else { at.min(recurrence.after(now)) };
        if next == at {
            return Ok(ScheduleCheck { due, next });
        }
        // Somebody else may have seen the same moment: only one of us moves it on.
        let seen = row.filter(work_schedules::next_at.eq(at));
        let moved = each_backend!(self, |conn| diesel::update(seen)
            .set(work_schedules::next_at.eq(next))
            .execute(conn)
            .map_err(error("Work")))?;
        Ok(ScheduleCheck { due: due && moved == 1, next })
    }
}

#[cfg(test)]
mod tests {
    use kernel::Ts;
    use time::{Duration, macros::time};

    use super::Recurrence;

    #[test]
    fn an_hour_of_the_day_comes_once_a_day() {
        let daily = Recurrence::Daily(time!(0:10));
        let next =
            |text: &str| Ts::parse(text).map(|now| daily.after(now).iso()).unwrap_or_default();

        assert_eq!(next("2026-01-01T00:00:00Z"), "2026-01-01T00:10:00.000Z");
        assert_eq!(next("2026-01-01T00:10:00Z"), "2026-01-02T00:10:00.000Z");
        assert_eq!(next("2026-12-31T23:59:59Z"), "2027-01-01T00:10:00.000Z");
    }

    #[test]
    fn a_span_begins_at_once() {
        let hourly = Recurrence::Every(Duration::hours(1));
        let now = Ts::from_unix(1_000);

        assert_eq!(hourly.first(now), now);
        assert_eq!(hourly.after(now), Ts::from_unix(4_600));
    }
}
