//! What a plain word means: the scalars of YAML 1.1, in the dialect that configurations have always been read with.

use crate::config::node::Node;

/// The value of a plain scalar, or a type that files cannot create.
pub(super) enum Scalar<'w> {
    Text(&'w str),
    /// Anything but text.
    Value(Node),
    Date,
    Time,
}

pub(super) fn read(word: &str) -> Scalar<'_> {
    let Some(first) = word.bytes().next() else { return Scalar::Value(Node::Null) };
    // Nearly every word begins with a letter that leads to nothing else than text.
    match first {
        b'0'..=b'9' | b'.' | b'+' | b'-' | b':' => {
            named(word).map_or_else(|| numeric(word), Scalar::Value)
        }
        _ if word.len() <= 5 && b"~nNyYtTfFoO".contains(&first) => {
            named(word).map_or(Scalar::Text(word), Scalar::Value)
        }
        _ => Scalar::Text(word),
    }
}

/// The words that are spelled out.
fn named(word: &str) -> Option<Node> {
    let small = |expected: &str| word.eq_ignore_ascii_case(expected);
    if word == "~" || small("null") {
        return Some(Node::Null);
    }
    if ["yes", "true", "on"].into_iter().any(small) {
        return Some(Node::Bool(true));
    }
    if ["no", "false", "off"].into_iter().any(small) {
        return Some(Node::Bool(false));
    }
    if small(".inf") || small("+.inf") {
        return Some(Node::Float(f64::INFINITY));
    }
    if small("-.inf") {
        return Some(Node::Float(f64::NEG_INFINITY));
    }
    small(".nan").then_some(Node::Float(f64::NAN))
}

fn numeric(word: &str) -> Scalar<'_> {
    if word.len() > 1 && word.starts_with(':') {
        return Scalar::Text(symbol(&word[1..]));
    }
    // Letters of hexadecimal digits, of powers and of times.
    if word.bytes().any(|sign| sign.is_ascii_alphabetic() && !b"abcdefABCDEFtTxZ".contains(&sign)) {
        return Scalar::Text(word);
    }
    if is_time(word) {
        return Scalar::Time;
    }
    if is_date(word) {
        return Scalar::Date;
    }
    let value = sixties(word).or_else(|| fraction(word)).or_else(|| whole(word));
    value.map_or(Scalar::Text(word), Scalar::Value)
}

/// `:word` and `:"some words"` are the text without what marks them.
fn symbol(rest: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = rest.strip_prefix(quote).and_then(|text| text.rsplit_once(quote)) {
            return inner.0.strip_prefix(':').unwrap_or(inner.0);
        }
    }
    rest
}

/// `2022-12-24`. Whether a month has that day is not asked: what looks like a date is refused before anybody counts.
fn is_date(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let number = |text: &str, most: u8| {
        matches!(text.len(), 1 | 2)
            && text.bytes().all(|sign| sign.is_ascii_digit())
            && text.parse::<u8>().is_ok_and(|number| number <= most)
    };
    let is_year = year.len() == 4 && year.bytes().all(|sign| sign.is_ascii_digit());
    is_year && number(month, 12) && number(day, 31)
}

/// `2022-12-24 18:00:00`, also with `T`, a fraction and a zone.
fn is_time(word: &str) -> bool {
    let Some((date, time)) = word.split_once(['T', 't', ' ', '\t']) else { return false };
    let date = date.strip_prefix('-').unwrap_or(date);
    let sizes: Vec<usize> = date.split('-').map(str::len).collect();
    let dated = matches!(sizes[..], [4, 1 | 2, 1 | 2])
        && date.bytes().all(|sign| sign.is_ascii_digit() || sign == b'-');
    let time = time.trim_start();
    let end = time.find(|sign: char| !sign.is_ascii_digit() && sign != ':').unwrap_or(time.len());
    let sizes: Vec<usize> = time[..end].split(':').map(str::len).collect();
    dated && matches!(sizes[..], [1 | 2, 2, 2]) && is_zone(&time[end..])
}

/// What may follow the seconds.
fn is_zone(rest: &str) -> bool {
    let rest = rest
        .strip_prefix('.')
        .map_or(rest, |fraction| fraction.trim_start_matches(|sign: char| sign.is_ascii_digit()));
    let rest = rest.trim_start();
    let Some(offset) = rest.strip_prefix(['+', '-']) else { return rest.is_empty() || rest == "Z" };
    let (hours, minutes) = offset.split_once(':').unwrap_or((offset, ""));
    let digits = |text: &str| text.bytes().all(|sign| sign.is_ascii_digit());
    let sizes = matches!((hours.len(), minutes.len()), (1 | 2, 0 | 2) | (3 | 4, 0));
    sizes && digits(hours) && digits(minutes)
}

/// `1:30` and `1:30:00`: both are 5400, since the first part is always taken for hours.
fn sixties(word: &str) -> Option<Node> {
    let parts: Vec<&str> = word.split(':').collect();
    let ([_, rest @ ..], 2..=3) = (&parts[..], parts.len()) else { return None };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|sign| sign.is_ascii_digit());
    let (last, before) = rest.split_last()?;
    let (last_whole, fraction) = last.split_once('.').map_or((*last, None), |(a, b)| (a, Some(b)));
    let in_range = |text: &str| digits(text) && text.parse::<u8>().is_ok_and(|part| part < 60);
    let head = parts[0].strip_prefix(['-', '+']).unwrap_or(parts[0]);
    let headed = head.starts_with(|sign: char| sign.is_ascii_digit())
        && head.bytes().all(|sign| sign.is_ascii_digit() || sign == b'_');
    let small = last_whole.len() <= 2 && in_range(last_whole);
    if !headed || !small || !before.iter().all(|part| part.len() <= 2 && in_range(part)) {
        return None;
    }
    match fraction {
        None => whole_sixties(&parts),
        Some(digits) if digits.bytes().all(|sign| sign.is_ascii_digit() || sign == b'_') => {
            let scale = [3600.0, 60.0, 1.0];
            // A number ends where its fraction begins with something else than a digit.
            let number = |text: &str| {
                text.split_once("._").map_or(text, |(whole, _)| whole).replace('_', "")
            };
            let part = |text: &str| number(text).parse::<f64>().unwrap_or(0.0);
            Some(Node::Float(parts.iter().zip(scale).map(|(text, unit)| part(text) * unit).sum()))
        }
        Some(_) => None,
    }
}

fn whole_sixties(parts: &[&str]) -> Option<Node> {
    let mut sum: i128 = 0;
    for (text, unit) in parts.iter().zip([3600, 60, 1]) {
        let part: i128 = text.replace('_', "").parse().ok()?;
        sum = sum.checked_add(part.checked_mul(unit)?)?;
    }
    Some(Node::of_int(sum))
}

/// `1.5`, `.5`, `1.5e+3`: a point is needed, and a sign in the power.
fn fraction(word: &str) -> Option<Node> {
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    let (number, power) = match unsigned.split_once(['e', 'E']) {
        Some((number, power)) => (number, Some(power)),
        None => (unsigned, None),
    };
    let (before, after) = number.split_once('.')?;
    let digits = |text: &str| text.bytes().all(|sign| sign.is_ascii_digit());
    let headed = before.is_empty() || before.starts_with(|sign: char| sign.is_ascii_digit());
    let plain = before.bytes().all(|sign| sign.is_ascii_digit() || matches!(sign, b'_' | b','));
    let powered = power.is_none_or(|power| {
        power.strip_prefix(['-', '+']).is_some_and(|rest| !rest.is_empty() && digits(rest))
    });
    let empty = before.is_empty() && after.is_empty();
    if !headed || !plain || !digits(after) || !powered || empty {
        return None;
    }
    let text: String = word.chars().filter(|sign| !matches!(sign, ',' | '_')).collect();
    text.parse().ok().map(Node::Float)
}

/// `10`, `1_000`, `1,000`, `0755`, `0x1F`, `0b11`.
fn whole(word: &str) -> Option<Node> {
    let (sign, unsigned) = match word.as_bytes().first()? {
        b'-' => (-1, &word[1..]),
        b'+' => (1, &word[1..]),
        _ => (1, word),
    };
    let (radix, digits) = match unsigned.as_bytes() {
        [b'0', b'b', ..] => (2, &unsigned[2..]),
        [b'0', b'x', ..] => (16, &unsigned[2..]),
        [b'0', _, ..] => (8, &unsigned[1..]),
        [b'0'..=b'9', ..] => (10, unsigned),
        _ => return None,
    };
    if radix == 10 && !separated(digits) {
        return None;
    }
    let text: String = digits.chars().filter(|sign| !matches!(sign, ',' | '_')).collect();
    if text.starts_with(['-', '+']) {
        return None;
    }
    i128::from_str_radix(&text, radix).ok().map(|value| Node::of_int(sign * value))
}

/// Whether what parts digits stands between two of them.
fn separated(digits: &str) -> bool {
    let bytes = digits.as_bytes();
    let parts = |sign: u8| matches!(sign, b',' | b'_');
    bytes.iter().all(|sign| sign.is_ascii_digit() || parts(*sign))
        && !bytes.windows(2).any(|pair| parts(pair[0]) && parts(pair[1]))
        && !bytes.last().is_some_and(|sign| parts(*sign))
}

#[cfg(test)]
mod tests {
    use super::{Scalar, read};
    use crate::config::node::Node;

    fn shown(word: &str) -> String {
        match read(word) {
            Scalar::Text(text) => format!("text {text}"),
            Scalar::Value(Node::Null) => "null".to_owned(),
            Scalar::Value(value) => value.scalar().unwrap(),
            Scalar::Date => "date".to_owned(),
            Scalar::Time => "time".to_owned(),
        }
    }

    #[test]
    fn words_for_yes_and_no_are_booleans() {
        for word in ["yes", "Yes", "YES", "on", "True", "TRUE"] {
            assert_eq!(shown(word), "true", "{word}");
        }
        for word in ["no", "No", "OFF", "false"] {
            assert_eq!(shown(word), "false", "{word}");
        }
        for word in ["y", "n", "yess", "nope"] {
            assert_eq!(shown(word), format!("text {word}"));
        }
    }

    #[test]
    fn numbers_have_the_forms_of_yaml_1_1() {
        for (word, value) in [
            ("0", "0"),
            ("-12", "-12"),
            ("+12", "12"),
            ("0755", "493"),
            ("0x1F", "31"),
            ("0b11", "3"),
            ("1_000", "1000"),
            ("1,000", "1000"),
            ("089", "text 089"),
            ("0o17", "text 0o17"),
            ("1__0", "text 1__0"),
            ("1_", "text 1_"),
            ("0x", "text 0x"),
            ("-", "text -"),
            ("--1", "text --1"),
            ("0-1", "text 0-1"),
            ("12a", "text 12a"),
        ] {
            assert_eq!(shown(word), value, "{word}");
        }
    }

    #[test]
    fn fractions_need_a_point() {
        for (word, value) in [
            ("1.10", "1.1"),
            ("1.", "1.0"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("1.5e+3", "1500.0"),
            ("1e3", "text 1e3"),
            ("1.5e3", "text 1.5e3"),
            (".", "text ."),
            ("1.2.3", "text 1.2.3"),
            (".inf", "Infinity"),
            ("-.Inf", "-Infinity"),
            (".nan", "NaN"),
        ] {
            assert_eq!(shown(word), value, "{word}");
        }
    }

    #[test]
    fn digits_with_colons_count_in_sixties() {
        for (word, value) in [
            ("1:30", "5400"),
            ("1:30:00", "5400"),
            ("1:30:01", "5401"),
            ("1:30.5", "5430.0"),
            ("1:30._5", "5400.0"),
            ("-1:30", "-1800"),
            ("8080:80", "text 8080:80"),
            ("1:60", "text 1:60"),
            ("1:2:3:4", "text 1:2:3:4"),
            ("1:", "text 1:"),
        ] {
            assert_eq!(shown(word), value, "{word}");
        }
    }

    #[test]
    fn dates_and_times_are_told_apart() {
        for (word, value) in [
            ("2022-12-24", "date"),
            ("2022-1-4", "date"),
            ("2022-13-01", "text 2022-13-01"),
            ("2022-02-30", "date"),
            ("2022-00-0", "date"),
            ("2022-01-32", "text 2022-01-32"),
            ("2022-12-24 18:00:00", "time"),
            ("2022-12-24T18:00:00Z", "time"),
            ("2022-12-24T18:00:00.5 +02:00", "time"),
            ("2022-12-24 18:00", "text 2022-12-24 18:00"),
            ("1.2.3-4", "text 1.2.3-4"),
        ] {
            assert_eq!(shown(word), value, "{word}");
        }
    }

    #[test]
    fn a_symbol_is_its_text() {
        assert_eq!(shown(":word"), "text word");
        assert_eq!(shown(":\"two words\""), "text two words");
        assert_eq!(shown(":"), "text :");
        assert_eq!(shown("~"), "null");
        assert_eq!(shown("Null"), "null");
    }
}
