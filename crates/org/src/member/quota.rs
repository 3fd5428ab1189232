//! The daily limit of invitations to a top-level namespace and all that it contains.

use db::{Tx, each_backend, error, schema::daily_invites};
use diesel::prelude::*;
use kernel::{Result, Ts, ids::NamespaceId};

use super::member_source::Lineage;

/// So many a day, and days begin at midnight UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    Unlimited,
    PerDay(u32),
}

impl Quota {
    /// Zero is no limit.
    pub fn of(most: u32) -> Self {
        match most {
            0 => Self::Unlimited,
            most => Self::PerDay(most),
        }
    }

    /// What is said where so many more are too many for today; nobody is never too many. Only where there is a limit is
    /// it asked how many more there are. Whoever asks has taken their turn, so that two who invite at once count each
    /// other.
    pub(super) fn refusal(
        self,
        tx: &mut Tx<'_>,
        lineage: &Lineage,
        more: impl FnOnce(&mut Tx<'_>) -> Result<usize>,
    ) -> Result<Option<String>> {
        let Self::PerDay(most) = self else { return Ok(None) };
        let Some(top) = lineage.top() else { return Ok(None) };
        let more = more(tx)?;
        let wanted = made_today(tx, top)?.saturating_add(number(more));
        let text = || format!("Invite limit of {most} per day exceeded.");
        Ok((more > 0 && wanted > i64::from(most)).then(text))
    }

    /// Counts those who were let in or invited. Where there is no limit, nobody is counted.
    pub(super) fn note(self, tx: &mut Tx<'_>, lineage: &Lineage, more: usize) -> Result<()> {
        let Some(top) = lineage.top().filter(|_| self != Self::Unlimited && more > 0) else {
            return Ok(());
        };
        let (day, made) = (today(tx), made_today(tx, top)?.saturating_add(number(more)));
        let row = (
            daily_invites::namespace_id.eq(top),
            daily_invites::day.eq(day),
            daily_invites::made.eq(made),
        );
        let insert = diesel::insert_into(daily_invites::table)
            .values(row)
            .on_conflict(daily_invites::namespace_id)
            .do_update()
            .set((daily_invites::day.eq(day), daily_invites::made.eq(made)));
        each_backend!(tx, |conn| insert.execute(conn).map_err(error("Invitation")))?;
        Ok(())
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn today(tx: &Tx<'_>) -> Ts {
    Ts::from_date(tx.now.date())
}

fn made_today(tx: &mut Tx<'_>, top: NamespaceId) -> Result<i64> {
    let query = daily_invites::table
        .filter(daily_invites::namespace_id.eq(top))
        .filter(daily_invites::day.eq(today(tx)))
        .select(daily_invites::made);
    let made: Option<i64> =
        each_backend!(tx, |conn| query.get_result(conn).optional().map_err(error("Invitation")))?;
    Ok(made.unwrap_or(0))
}
