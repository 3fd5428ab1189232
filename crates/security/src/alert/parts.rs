//! Parts of what monitors send.

use kernel::Ts;
use serde_json::Value;
use sha1::{Digest as _, Sha1};
use time::{
    OffsetDateTime, PrimitiveDateTime,
    format_description::{BorrowedFormatItem, well_known::Rfc2822},
    macros::format_description,
};

/// A text, or what can be written as one; nothing for an empty text and for lists and maps.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => (!text.trim().is_empty()).then(|| text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// So many signs at most, the last of which tell that there were more.
pub(super) fn shortened(text: String, most: usize) -> String {
    const DOTS: &str = "...";
    match text.chars().count() > most {
        true => text.chars().take(most - DOTS.len()).chain(DOTS.chars()).collect(),
        false => text,
    }
}

/// Texts out of lists in lists.
pub(super) fn flattened(value: &Value) -> Vec<String> {
    match value {
        Value::Array(all) => all.iter().flat_map(flattened).collect(),
        one => text(one).into_iter().collect(),
    }
}

/// A moment in one of the usual forms.
pub(super) fn moment(value: &Value) -> Option<Ts> {
    let text = value.as_str()?.trim();
    let by_mail = || OffsetDateTime::parse(text, &Rfc2822).ok().map(Ts::from_datetime);
    let by_program = || {
        let parsed = FORMS.iter().find_map(|form| PrimitiveDateTime::parse(text, form).ok());
        parsed.map(|at| Ts::from_datetime(at.assume_utc()))
    };
    // `2020-02-03 04:05:06 +0000` and `… UTC`, as many programs write it.
    let joined = text.replacen(" +", "+", 1).replacen(" -", "-", 1).replacen(" UTC", "Z", 1);
    let told = Ts::parse(&joined).or_else(by_mail).or_else(by_program);
    told.filter(|at| at.is_readable())
}

/// `2020/02/03 04:05:06`, `03 Feb 2020 04:05:06` and `Mon Feb  3 04:05:06 2020`, all in UTC.
const FORMS: [&[BorrowedFormatItem<'static>]; 3] = [
    format_description!("[year]/[month]/[day] [hour]:[minute]:[second]"),
    format_description!("[day padding:none] [month repr:short] [year] [hour]:[minute]:[second]"),
    format_description!(
        "[weekday repr:short] [month repr:short] [day padding:space] [hour]:[minute]:[second] [year]"
    ),
];

/// The same, or milliseconds since 1970 in 13 digits.
pub(super) fn end(value: &Value) -> Option<Ts> {
    let digits = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    if digits.len() == 13 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let milliseconds: i64 = digits.parse().ok()?;
        return Some(Ts(milliseconds.saturating_mul(1_000)));
    }
    moment(value)
}

pub(super) fn sha1_hex(text: &str) -> String {
    hex::encode(Sha1::digest(text))
}

/// A value in the one form that does not depend on the order of names.
pub(super) fn canonical(value: &Value, into: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort_unstable();
            into.push('{');
            for name in names {
                into.push_str(&Value::from(name.as_str()).to_string());
                into.push(':');
                canonical(&fields[name], into);
                into.push(',');
            }
            into.push('}');
        }
        Value::Array(all) => {
            into.push('[');
            for one in all {
                canonical(one, into);
                into.push(',');
            }
            into.push(']');
        }
        plain => into.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{canonical, end, flattened, moment, shortened};

    #[test]
    fn long_texts_end_in_dots() {
        assert_eq!(shortened("abcdef".to_owned(), 6), "abcdef");
        assert_eq!(shortened("abcdefg".to_owned(), 6), "abc...");
        assert_eq!(shortened("ääääääää".to_owned(), 6), "äää...");
    }

    #[test]
    fn moments_come_in_many_forms() {
        let iso = "2020-02-03T04:05:06.000Z";
        for form in [
            "2020-02-03T04:05:06Z",
            "2020-02-03 05:05:06 +0100",
            "2020-02-03 04:05:06 UTC",
            "Mon, 03 Feb 2020 04:05:06 +0000",
            "2020/02/03 04:05:06",
            "3 Feb 2020 04:05:06",
            "Mon Feb  3 04:05:06 2020",
        ] {
            assert_eq!(moment(&json!(form)).map(kernel::Ts::iso).as_deref(), Some(iso), "{form}");
        }
        for milliseconds in [json!(1_580_702_706_000_i64), json!("1580702706000")] {
            assert_eq!(end(&milliseconds).map(kernel::Ts::iso).as_deref(), Some(iso));
        }
        for odd in [
            json!("2020-02-03T04:05:06+1ä2"),
            json!("soon"),
            json!("0000/02/03 04:05:06"),
            json!(12),
            json!(null),
            json!([1]),
            json!(""),
        ] {
            assert_eq!((moment(&odd), end(&odd)), (None, None), "{odd}");
        }
    }

    #[test]
    fn the_order_of_names_makes_no_difference() {
        let form = |value: serde_json::Value| {
            let mut text = String::new();
            canonical(&value, &mut text);
            text
        };
        assert_eq!(
            form(json!({ "a": { "c": 1, "b": [2] } })),
            form(json!({ "a": { "b": [2], "c": 1 } }))
        );
        assert_ne!(form(json!(["a", "b"])), form(json!(["a,b"])));
    }

    #[test]
    fn lists_in_lists_become_one() {
        assert_eq!(flattened(&json!(["a", ["b", [1]], {}, null])), ["a", "b", "1"]);
    }
}
