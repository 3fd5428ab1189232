//! Durations as people write them: `1h 30m`, `3 hours 4 min`, `1:30`, `1.5 days`, `1 hour and 10 minutes`.

const MINUTE: f64 = 60.0;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;
const MONTH: f64 = 30.0 * DAY;
const YEAR: f64 = 365.25 * DAY;

/// Seconds of the longest durations that keywords take.
pub(crate) const LONGEST_DELAY: u64 = 7 * 24 * 60 * 60;
pub(crate) const LONGEST_TIMEOUT: u64 = 30 * 24 * 60 * 60;

/// The seconds of a duration; `None` for what is none, and for no time at all.
pub fn seconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let total = if text.contains(':') { clock(text)? } else { parts(text)? };
    let whole = total.round();
    if !(1.0..1e15).contains(&whole) {
        return None;
    }
    format!("{whole:.0}").parse().ok()
}

/// `1:30`, `1:30:00`: the last part counts seconds, the ones before minutes, hours, days, months and years.
fn clock(text: &str) -> Option<f64> {
    let units = [1.0, MINUTE, HOUR, DAY, MONTH, YEAR];
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    if parts.len() > units.len() {
        return None;
    }
    let mut total = 0.0;
    for (part, unit) in parts.iter().rev().zip(units) {
        total += number(part)? * unit;
    }
    Some(total)
}

/// Numbers, each before its unit. A unit at the beginning counts once, a number at the end seconds, and one before another number
/// nothing.
fn parts(text: &str) -> Option<f64> {
    let (mut rest, mut total, mut count) = (text, 0.0, None);
    let mut is_first = true;
    while !rest.is_empty() {
        let part = rest.trim_start();
        let (digits, word) = (digits(part), letters(part));
        if word.is_empty() {
            count = Some(number(digits)?);
            is_first = false;
        } else if let Some(unit) = unit(&word.to_ascii_lowercase()) {
            let once = is_first.then_some(1.0);
            total += unit * count.take().or(once).unwrap_or(0.0);
            is_first = false;
        } else if !is_joint(&word.to_ascii_lowercase()) {
            return None;
        }
        let length = digits.len().max(word.len());
        rest = part[length..].trim_start_matches(|sign: char| sign.is_whitespace() || sign == ',');
    }
    Some(total + count.unwrap_or(0.0))
}

/// The number at the beginning: `30`, `1.5` and `.5`; nothing when there is none.
fn digits(text: &str) -> &str {
    let whole = text.bytes().take_while(u8::is_ascii_digit).count();
    let after = text[whole..].strip_prefix('.').unwrap_or_default();
    let fraction = after.bytes().take_while(u8::is_ascii_digit).count();
    let point = usize::from(fraction > 0);
    &text[..whole + point + fraction]
}

fn letters(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_alphabetic).count()]
}

fn number(text: &str) -> Option<f64> {
    let is_whole = !text.is_empty() && digits(text) == text;
    is_whole.then(|| text.parse().ok()).flatten()
}

/// Words that only join.
fn is_joint(word: &str) -> bool {
    matches!(word, "and" | "with" | "plus")
}

fn unit(word: &str) -> Option<f64> {
    Some(match word {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => MINUTE,
        "h" | "hr" | "hrs" | "hour" | "hours" => HOUR,
        "d" | "day" | "days" | "dy" => DAY,
        "w" | "wk" | "wks" | "week" | "weeks" => 7.0 * DAY,
        "mo" | "mos" | "month" | "months" => MONTH,
        "y" | "yr" | "yrs" | "year" | "years" => YEAR,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn durations_are_read_in_all_their_forms() {
        for (text, expected) in [
            ("30", 30),
            ("30 s", 30),
            ("1h 30m", 5400),
            ("1h30m", 5400),
            ("3 hours 4 min", 3 * 3600 + 240),
            ("1 hour and 10 minutes", 4200),
            ("1:30", 90),
            ("1:00:00", 3600),
            ("1.5h", 5400),
            ("1 day", 86_400),
            ("2 wk", 14 * 86_400),
            ("1 mo", 30 * 86_400),
            ("1 month", 30 * 86_400),
            ("1 year", 31_557_600),
            ("47 Yrs 6 mos and 4d", 47 * 31_557_600 + 180 * 86_400 + 4 * 86_400),
            ("1 day, 2 hours", 86_400 + 7200),
            ("day", 86_400),
            ("minute 30s", 90),
            ("1 min min", 60),
            ("1 30", 30),
            ("1: 30", 90),
            ("1:0:0:0:0", 30 * 86_400),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_none() {
        for text in [
            "",
            "0",
            "0 s",
            "soon",
            "a day",
            "7 elephants",
            "1 day ago",
            "-1 day",
            "1:x",
            "1 mon",
            "1:00.",
            "1.",
            "never",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
