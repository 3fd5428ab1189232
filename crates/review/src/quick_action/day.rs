//! Days as quick actions name them.

use kernel::{Ts, time::parse_date};
use time::Duration;

/// `2026-12-31`, `today`, `tomorrow`, `in 2 weeks`
pub(super) fn day(now: Ts, text: &str) -> Option<Ts> {
    let today = Ts::from_date(now.date());
    let text = text.to_lowercase();
    match text.as_str() {
        "today" => return Some(today),
        "tomorrow" => return Some(today.plus(Duration::days(1))),
        _ => {}
    }
    if let Ok(date) = parse_date(&text) {
        return Some(Ts::from_date(date));
    }
    let mut words = text.strip_prefix("in ")?.split_whitespace();
    let count: i64 = match words.next()? {
        "a" | "an" | "one" => 1,
        number => number.parse().ok().filter(|count| (0..10_000).contains(count))?,
    };
    let span = match words.next()?.trim_end_matches('s') {
        "day" => Duration::days(count),
        "week" => Duration::weeks(count),
        "month" => Duration::days(count * 30),
        _ => return None,
    };
    words.next().is_none().then(|| today.plus(span))
}

#[cfg(test)]
mod tests {
    use kernel::Ts;

    use super::day;

    #[test]
    fn days_are_named_in_several_ways() {
        let now = Ts::parse("2026-11-21T08:00:00Z").unwrap();
        let read = |text| day(now, text).map(|day| kernel::time::date_text(day.date()));
        assert_eq!(read("2027-01-02").as_deref(), Some("2027-01-02"));
        assert_eq!(read("tomorrow").as_deref(), Some("2026-11-22"));
        assert_eq!(read("in 2 weeks").as_deref(), Some("2026-12-05"));
        assert_eq!(
            (read("soon"), read("in 99999999 days"), read("in 1 day or so")),
            (None, None, None)
        );
    }
}
