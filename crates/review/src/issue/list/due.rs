//! Spans of days in which issues are due.

use kernel::Ts;

use crate::item::list::Conditions;

kernel::text_enum! {
    /// Spans that days on which issues are due lie in.
    pub enum Due {
        None = "0",
        Any = "any",
        Today = "today",
        Tomorrow = "tomorrow",
        Overdue = "overdue",
        Week = "week",
        Month = "month",
        NextMonthAndPreviousTwoWeeks = "next_month_and_previous_two_weeks",
    }
}

pub(super) fn due_in(all: &mut Conditions, due: Due, (today, first_day): (Ts, u8)) {
    let (from, to) = match due {
        Due::None => return all.plain("i.due_date IS NULL"),
        Due::Any => return all.plain("i.due_date IS NOT NULL"),
        Due::Overdue => return all.plain(format!("i.due_date < {}", today.0)),
        due => span(due, today, first_day),
    };
    all.plain(format!("i.due_date >= {} AND i.due_date < {}", from.0, to.0));
}

/// The first day of a span, and the first after it.
fn span(due: Due, today: Ts, first_day: u8) -> (Ts, Ts) {
    use time::Duration;
    let days = |from: Ts, days: i64| from.plus(Duration::days(days));
    let date = today.date();
    let first = Ts::from_date(date.replace_day(1).unwrap_or(date));
    // No month is longer than 31 days, and none is left behind by as many.
    let next = |first: Ts| {
        let within = days(first, 31).date();
        Ts::from_date(within.replace_day(1).unwrap_or(within))
    };
    match due {
        Due::Tomorrow => (days(today, 1), days(today, 2)),
        Due::Week => {
            let weekday = date.weekday().number_days_from_sunday();
            let begin = days(today, -i64::from((weekday + 7 - first_day.min(6)) % 7));
            (begin, days(begin, 7))
        }
        Due::Month => (first, next(first)),
        Due::NextMonthAndPreviousTwoWeeks => (days(today, -14), next(next(first))),
        Due::None | Due::Any | Due::Today | Due::Overdue => (today, days(today, 1)),
    }
}

#[cfg(test)]
mod tests {
    use kernel::Ts;

    use super::{Due, span};

    #[test]
    fn spans_of_days_begin_and_end_where_people_think() {
        // A Wednesday.
        let today = Ts::parse("2026-01-28").unwrap();
        for (due, from, to) in [
            (Due::Today, "2026-01-28", "2026-01-29"),
            (Due::Tomorrow, "2026-01-29", "2026-01-30"),
            (Due::Week, "2026-01-26", "2026-02-02"),
            (Due::Month, "2026-01-01", "2026-02-01"),
            (Due::NextMonthAndPreviousTwoWeeks, "2026-01-14", "2026-03-01"),
        ] {
            let expected = (Ts::parse(from).unwrap(), Ts::parse(to).unwrap());
            assert_eq!(span(due, today, 1), expected, "{due}");
        }
    }

    #[test]
    fn a_week_begins_with_the_day_that_is_said() {
        let today = Ts::parse("2026-01-28").unwrap();
        for (first_day, from) in [(0, "2026-01-25"), (1, "2026-01-26"), (6, "2026-01-24")] {
            assert_eq!(span(Due::Week, today, first_day).0, Ts::parse(from).unwrap());
        }
    }
}
