//! Spans of working time as people write them: `1mo 2w 3d 4h 5m 6s`, where a day has eight hours.

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 8 * HOUR;
const WEEK: i64 = 5 * DAY;
const MONTH: i64 = 4 * WEEK;

const UNITS: [(&str, i64); 6] =
    [("mo", MONTH), ("w", WEEK), ("d", DAY), ("h", HOUR), ("m", MINUTE), ("s", 1)];

/// Reads a span in seconds; `None` where the text has anything else in it.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    let mut rest = text;
    let mut total = 0.0_f64;
    let mut parts = 0;
    while !rest.is_empty() {
        let (number, after) = number(rest)?;
        let after = after.trim_start();
        let end = after.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        // A number alone stands for hours, and only where it is all there is.
        let unit = match word {
            "" if parts == 0 && after.is_empty() => HOUR,
            word => unit(word)?,
        };
        total += number * f64::from(i32::try_from(unit).ok()?);
        parts += 1;
        rest = after.trim_start_matches(|letter: char| letter == ',' || letter.is_whitespace());
    }
    if parts == 0 {
        return None;
    }
    let seconds = whole(total)?;
    Some(if negative { -seconds } else { seconds })
}

/// A number at the beginning, with or without a fraction.
fn number(text: &str) -> Option<(f64, &str)> {
    let end =
        text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

fn unit(word: &str) -> Option<i64> {
    Some(match word.to_ascii_lowercase().as_str() {
        "mo" | "mos" | "month" | "months" => MONTH,
        "w" | "week" | "weeks" => WEEK,
        "d" | "day" | "days" => DAY,
        "h" | "hr" | "hrs" | "hour" | "hours" => HOUR,
        "m" | "min" | "mins" | "minute" | "minutes" => MINUTE,
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        _ => return None,
    })
}

/// More than anybody works: what is stored stays far from the end of the numbers.
const MOST: f64 = 2_147_483_647.0;

fn whole(seconds: f64) -> Option<i64> {
    if !(0.0..=MOST).contains(&seconds) {
        return None;
    }
    // Through text, since a cast would not say what becomes of what does not fit.
    format!("{:.0}", seconds.round()).parse().ok()
}

/// Writes a span, largest units first; nothing for none. With `hours_only`, no unit is larger than an hour.
pub fn human(seconds: i64, hours_only: bool) -> Option<String> {
    let mut left = seconds.checked_abs()?;
    let mut parts: Vec<String> = Vec::new();
    for (name, length) in UNITS {
        if hours_only && length > HOUR {
            continue;
        }
        if left >= length {
            parts.push(format!("{}{name}", left / length));
            left %= length;
        }
    }
    let text = parts.join(" ");
    match seconds {
        0 => None,
        ..0 => Some(format!("-{text}")),
        1.. => Some(text),
    }
}

#[cfg(test)]
mod tests {
    use super::{human, parse};

    #[test]
    fn spans_are_read() {
        for (text, seconds) in [
            ("3h30m", 12_600),
            ("3h 30m", 12_600),
            ("1mo 2w 3d", 576_000 + 288_000 + 86_400),
            ("1.5h", 5_400),
            ("2", 7_200),
            ("0.5", 1_800),
            ("-1h", -3_600),
            ("- 1h 30m", -5_400),
            ("1 week, 2 days", 144_000 + 57_600),
            ("2 hrs 5 mins 10 secs", 7_510),
            ("0", 0),
            ("0h", 0),
        ] {
            assert_eq!(parse(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_span() {
        for text in ["", "  ", "-", "soon", "1h soon", "h", "1x", "1h 2", "1..5h", "--1h", "9e9h"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("99999999999999mo"), None);
    }

    #[test]
    fn spans_are_written_as_people_read_them() {
        for (seconds, text) in [
            (5_400, "1h 30m"),
            (28_800, "1d"),
            (144_000, "1w"),
            (576_000, "1mo"),
            (576_000 + 288_000 + 86_400 + 14_400 + 300 + 6, "1mo 2w 3d 4h 5m 6s"),
            (-3_600, "-1h"),
        ] {
            assert_eq!(human(seconds, false).as_deref(), Some(text));
        }
        assert_eq!(human(0, false), None);
        assert_eq!(human(144_060, true).as_deref(), Some("40h 1m"));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut seconds = 1;
        while seconds < 2_000_000_000 {
            for span in [seconds, -seconds] {
                for hours_only in [false, true] {
                    let text = human(span, hours_only).unwrap();
                    assert_eq!(parse(&text), Some(span), "{text}");
                }
            }
            seconds = seconds * 7 / 3 + 1;
        }
    }
}
