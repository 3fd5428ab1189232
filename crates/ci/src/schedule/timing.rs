//! The next run of a schedule: a cron expression of five fields in a time zone with daylight saving time.

use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};
use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use kernel::{Faults, Ts};

use super::zone::zone;

/// Nobody writes longer ones, and each sign of it takes time.
const LONGEST: usize = 255;
/// A schedule that is not due within so many years never is: the longest pause is that of a 29th of February on a certain
/// day of the week, over the end of a century.
const YEARS: i64 = 50;
const SECONDS_OF_YEAR: i64 = 31_556_952;
const DAYS: usize = 50 * 366;

/// What a wrong field is told. The blank at the beginning is part of it.
const INVALID: &str = " is invalid syntax";

/// An expression means something only in its zone: whichever of the two is wrong, clients are told of both.
fn refuse(faults: &mut Faults) {
    for field in ["cron", "cron_timezone"] {
        faults.add(field, INVALID);
    }
}

/// A cron expression in its zone.
#[derive(Clone, Debug)]
pub struct Timing {
    cron: Cron,
    /// The same at midnight of its days: to find out whether there are any. `None` for a nickname, which always has some.
    days: Option<Cron>,
    zone: TimeZone,
}

impl Timing {
    /// Reads both.
    pub fn read(cron: &str, cron_timezone: &str, faults: &mut Faults) -> Option<Self> {
        let Some(zone) = zone(cron_timezone) else {
            refuse(faults);
            return None;
        };
        let fields = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed);
        let fields = fields.build();
        let short = Some(cron).filter(|cron| cron.len() <= LONGEST);
        match short.and_then(|cron| fields.parse(cron).ok()) {
            Some(parsed) => {
                let days = midnights(cron).and_then(|days| fields.parse(&days).ok());
                Some(Self { cron: parsed, days, zone })
            }
            None => {
                refuse(faults);
                None
            }
        }
    }

    /// The first moment after this one at which it is due; `None` where it never is. An hour that the clock leaves out is
    /// made up for when it goes on, and one that comes twice counts once, unless the expression is due every so often.
    pub fn next(&self, after: Ts) -> Option<Ts> {
        let after_utc = Timestamp::from_second(after.unix()).ok()?;
        if !self.has_day(after_utc) {
            return None;
        }
        let from = after_utc.to_zoned(self.zone.clone());
        let next = self.cron.find_next_occurrence(&from, false).ok()?.timestamp().as_second();
        (next - after.unix() <= YEARS * SECONDS_OF_YEAR).then(|| Ts::from_unix(next))
    }

    /// Whether one of its days comes within the years that are looked at. The search for a moment would go on through
    /// thousands of years.
    fn has_day(&self, after: Timestamp) -> bool {
        let Some(cron) = &self.days else { return true };
        let Ok(first) = after.to_zoned(TimeZone::UTC).start_of_day() else { return false };
        let mut days = first.datetime().date().series(1.day()).take(DAYS);
        days.any(|day| {
            let midnight = day.to_zoned(TimeZone::UTC);
            midnight.is_ok_and(|midnight| cron.is_time_matching(&midnight).unwrap_or_default())
        })
    }

    /// As [`next`](Self::next), for an expression that somebody just wrote.
    pub fn first(&self, after: Ts, faults: &mut Faults) -> Option<Ts> {
        let first = self.next(after);
        if first.is_none() {
            refuse(faults);
        }
        first
    }
}

/// The expression with the first minute of a day in the place of its minutes and hours.
fn midnights(cron: &str) -> Option<String> {
    let fields: Vec<&str> = cron.split_whitespace().collect();
    let [_, _, day, month, weekday] = fields[..] else { return None };
    Some(format!("0 0 {day} {month} {weekday}"))
}

#[cfg(test)]
mod tests {
    use kernel::{Faults, Ts};

    use super::Timing;

    fn timing(cron: &str, zone: &str) -> Option<Timing> {
        Timing::read(cron, zone, &mut Faults::default())
    }

    /// The next times after a moment, as UTC.
    fn times(cron: &str, zone: &str, after: &str, many: usize) -> Vec<String> {
        let timing = timing(cron, zone).unwrap();
        let mut at = Ts::parse(after).unwrap();
        let next = || {
            at = timing.next(at)?;
            Some(at.iso().replace(":00.000Z", ""))
        };
        std::iter::from_fn(next).take(many).collect()
    }

    #[test]
    fn an_expression_is_meant_in_its_zone() {
        let after = "2026-01-01T00:00:00Z";
        assert_eq!(times("0 4 * * *", "UTC", after, 1), ["2026-01-01T04:00"]);
        assert_eq!(times("0 4 * * *", "Tokyo", after, 1), ["2026-01-01T19:00"]);
        assert_eq!(times("0 4 * * *", "America/New_York", after, 1), ["2026-01-01T09:00"]);
        assert_eq!(
            times("30 1 * * 1-5", "UTC", after, 2),
            ["2026-01-01T01:30", "2026-01-02T01:30"]
        );
        assert_eq!(times("0 0 1 * 0", "UTC", after, 2), ["2026-01-04T00:00", "2026-01-11T00:00"]);
        assert_eq!(
            times("*/20 * * * *", "UTC", after, 2),
            ["2026-01-01T00:20", "2026-01-01T00:40"]
        );
    }

    #[test]
    fn an_hour_that_is_left_out_is_made_up_for() {
        // At 02:00 the clocks of Berlin go to 03:00, which is 01:00 UTC.
        let times = times("30 2 * * *", "Berlin", "2026-03-28T12:00:00Z", 2);
        assert_eq!(times, ["2026-03-29T01:00", "2026-03-30T00:30"]);
    }

    #[test]
    fn an_hour_that_comes_twice_counts_once_unless_it_is_every_so_often() {
        // At 03:00 the clocks of Berlin go back to 02:00, which is 01:00 UTC.
        let after = "2026-10-24T23:00:00Z";
        assert_eq!(
            times("30 2 * * *", "Berlin", after, 2),
            ["2026-10-25T00:30", "2026-10-26T01:30"]
        );
        let often = times("*/30 * * * *", "Berlin", after, 6);
        assert_eq!(
            often[1..5],
            ["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30"]
        );
    }

    #[test]
    fn names_and_nicknames_are_read_and_nonsense_is_not() {
        for cron in
            ["@daily", "@hourly", "0 0 * JAN MON", "0 0 * * 1#2", "0 0 L * *", " 0  1 * * * "]
        {
            assert!(timing(cron, "UTC").is_some(), "{cron}");
        }
        let long = "0,".repeat(200) + "0 * * * *";
        for cron in ["", "x", "* * * *", "60 * * * *", "0 0 0 * * *", "0 24 * * *", "@never", &long]
        {
            let mut faults = Faults::default();
            assert!(Timing::read(cron, "UTC", &mut faults).is_none(), "{cron}");
            let told = ["cron", "cron_timezone"]
                .map(|field| (field.to_owned(), vec![" is invalid syntax".to_owned()]));
            assert_eq!(faults.into_fields(), told);
        }
        let mut faults = Faults::default();
        assert!(Timing::read("* * * * *", "Nowhere", &mut faults).is_none());
        let fields: Vec<_> = faults.into_fields().into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["cron", "cron_timezone"]);
    }

    #[test]
    fn what_is_never_due_is_found_out() {
        let now = Ts::parse("2026-01-01T00:00:00Z").unwrap();
        let from = jiff::Timestamp::from_second(now.unix()).unwrap();
        for cron in ["0 0 31 2 *", "0 0 30 2 *", "0 0 31 4,6,9,11 *", "* * 31 2,4,6,9,11 *"] {
            let (timing, mut faults) = (timing(cron, "Berlin").unwrap(), Faults::default());
            assert_eq!(timing.first(now, &mut faults), None, "{cron}");
            assert!(!faults.is_empty());
            assert!(!timing.has_day(from), "no moment is searched for: {cron}");
        }
        let rare =
            ["0 0 29 2 *", "30 23 29 2 1", "0 0 31 * *", "0 0 1 JAN *", "@yearly", "0 12 L * *"];
        for cron in rare {
            assert!(timing(cron, "UTC").unwrap().next(now).is_some(), "{cron}");
        }
    }
}
