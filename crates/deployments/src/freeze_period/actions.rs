//! Reading, making, changing and removing freeze periods, and whether one is on.

use db::Tx;
use kernel::{
    Error, Faults, Grant, Result, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::{FreezePeriodId, ProjectId},
    page::{Page, PageRequest},
};

use super::{FreezePeriod, FreezePeriodStore as _};
use crate::{
    policy::{ChangeFreezePeriods, ReadFreezePeriods},
    ports::Calendar,
};

/// So many a project may have.
const MOST: i64 = 100;
const INVALID: &str = "is invalid syntax";
/// What audit events tell of.
const WHAT: &str = "freeze_period";

/// Fields of a freeze period to change; `None` keeps a value.
#[derive(Clone, Debug, Default)]
pub struct FreezePeriodChange {
    pub freeze_start: Option<String>,
    pub freeze_end: Option<String>,
    pub cron_timezone: Option<String>,
}

pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadFreezePeriods>,
    page: PageRequest,
) -> Result<Page<FreezePeriod>> {
    tx.freeze_periods(grant.project(), page)
}

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadFreezePeriods>,
    id: FreezePeriodId,
) -> Result<FreezePeriod> {
    find(tx, grant.project(), id)
}

fn find(tx: &mut Tx<'_>, project: ProjectId, id: FreezePeriodId) -> Result<FreezePeriod> {
    tx.freeze_period(project, id)?.ok_or_else(Error::missing)
}

pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeFreezePeriods>,
    calendar: &impl Calendar,
    freeze_start: String,
    freeze_end: String,
    cron_timezone: String,
) -> Result<FreezePeriod> {
    let period = FreezePeriod {
        id: FreezePeriodId(0),
        project_id: grant.project(),
        freeze_start,
        freeze_end,
        cron_timezone,
        created_at: tx.now,
        updated_at: tx.now,
    };
    ensure_sound(calendar, &period)?;
    let first = tx.freeze_periods(grant.project(), PageRequest { page: MOST, per_page: 1 })?;
    if !first.items.is_empty() {
        return Err(Error::invalid("base", format!("a project has at most {MOST} freeze periods")));
    }
    let made = tx.insert_freeze_period(&period)?;
    record(tx, &made, |place| AuditRecord::addition("freeze_period_created", place, WHAT));
    Ok(made)
}

pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeFreezePeriods>,
    calendar: &impl Calendar,
    id: FreezePeriodId,
    change: FreezePeriodChange,
) -> Result<FreezePeriod> {
    let before = find(tx, grant.project(), id)?;
    let after = FreezePeriod {
        freeze_start: change.freeze_start.unwrap_or_else(|| before.freeze_start.clone()),
        freeze_end: change.freeze_end.unwrap_or_else(|| before.freeze_end.clone()),
        cron_timezone: change.cron_timezone.unwrap_or_else(|| before.cron_timezone.clone()),
        updated_at: tx.now,
        ..before.clone()
    };
    ensure_sound(calendar, &after)?;
    tx.save_freeze_period(&after)?;
    for (what, from, to) in [
        ("freeze_start", &before.freeze_start, &after.freeze_start),
        ("freeze_end", &before.freeze_end, &after.freeze_end),
        ("cron_timezone", &before.cron_timezone, &after.cron_timezone),
    ] {
        if from != to {
            record(tx, &after, |place| {
                AuditRecord::change("freeze_period_updated", place, what).values(from, to)
            });
        }
    }
    Ok(after)
}

pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeFreezePeriods>,
    id: FreezePeriodId,
) -> Result<()> {
    let found = find(tx, grant.project(), id)?;
    tx.delete_freeze_period(id)?;
    record(tx, &found, |place| AuditRecord::removal("freeze_period_deleted", place, WHAT));
    Ok(())
}

/// Writes down who did it.
fn record(tx: &mut Tx<'_>, period: &FreezePeriod, action: impl FnOnce(AuditPlace) -> AuditRecord) {
    let name = format!("{} - {}", period.freeze_start, period.freeze_end);
    let action = action(AuditPlace::Project(period.project_id));
    tx.mention(action.target("Ci::FreezePeriod", period.id.0, name));
}

fn ensure_sound(calendar: &impl Calendar, period: &FreezePeriod) -> Result<()> {
    let zone = &period.cron_timezone;
    let mut faults = Faults::default();
    for (field, cron) in
        [("freeze_start", &period.freeze_start), ("freeze_end", &period.freeze_end)]
    {
        if !calendar.is_cron(cron) {
            faults.add(field, INVALID);
        }
    }
    if !calendar.is_zone(zone) {
        faults.add("cron_timezone", INVALID);
    }
    faults.into_result()
}

/// Whether nothing is to be deployed to the environments of a project now.
pub fn is_frozen(tx: &mut Tx<'_>, calendar: &impl Calendar, project: ProjectId) -> Result<bool> {
    let all = tx.freeze_periods(project, PageRequest { page: 1, per_page: MOST })?;
    let now = tx.now;
    Ok(all.items.iter().any(|period| is_on(calendar, period, now)))
}

/// A period is on where its end comes before it begins the next time.
fn is_on(calendar: &impl Calendar, period: &FreezePeriod, now: Ts) -> bool {
    let next = |cron: &str| calendar.next(cron, &period.cron_timezone, now);
    match (next(&period.freeze_start), next(&period.freeze_end)) {
        (Some(start), Some(end)) => end < start,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use kernel::{
        Ts,
        ids::{FreezePeriodId, ProjectId},
    };

    use super::{FreezePeriod, is_on};
    use crate::ports::Calendar;

    /// Knows the hour of a day as a number.
    struct Hours;

    impl Calendar for Hours {
        fn is_cron(&self, _: &str) -> bool {
            true
        }

        fn is_zone(&self, _: &str) -> bool {
            true
        }

        fn next(&self, cron: &str, _: &str, after: Ts) -> Option<Ts> {
            let hour: i64 = cron.parse().ok()?;
            let days = if hour > after.0 % 24 { 0 } else { 1 };
            Some(Ts(after.0 - after.0 % 24 + 24 * days + hour))
        }
    }

    #[test]
    fn a_period_is_on_between_its_start_and_its_end() {
        let period = FreezePeriod {
            id: FreezePeriodId(1),
            project_id: ProjectId(1),
            freeze_start: "22".to_owned(),
            freeze_end: "6".to_owned(),
            cron_timezone: "UTC".to_owned(),
            created_at: Ts(0),
            updated_at: Ts(0),
        };
        for (hour, on) in [(0, true), (5, true), (6, false), (12, false), (22, true), (23, true)] {
            assert_eq!(is_on(&Hours, &period, Ts(hour)), on, "{hour}");
        }
    }
}
