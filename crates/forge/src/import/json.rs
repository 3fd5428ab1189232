//! Reading what a source sends: every value may be missing, of another type, or far too long.

use kernel::Ts;
use serde_json::Value;

use super::people::SourceUser;

/// Letters of a title, and bytes of a description.
const LONGEST_TITLE: usize = 255;
const LONGEST_TEXT: usize = 1_048_576;
/// Stands for a title that is missing.
const NO_TITLE: &str = "(no title)";

pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

pub(crate) fn number(value: &Value, name: &str) -> Option<i64> {
    value[name].as_i64().filter(|number| *number > 0)
}

/// A moment as text in ISO form.
pub(crate) fn moment(value: &Value, name: &str) -> Option<Ts> {
    Ts::parse(value[name].as_str()?)
}

/// A moment as milliseconds since 1970.
pub(crate) fn millis(value: &Value, name: &str) -> Option<Ts> {
    Some(Ts::from_unix(value[name].as_i64()?.checked_div(1000)?))
}

pub(crate) fn title(value: &Value) -> String {
    let title: String = text(value, "title").trim().chars().take(LONGEST_TITLE).collect();
    let title = title.replace('\0', "");
    if title.is_empty() { NO_TITLE.to_owned() } else { title }
}

/// A text that fits, and is `None` where there is none.
pub(crate) fn fitting(text: &str) -> Option<String> {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text.get(..end).unwrap_or_default().replace('\0', "");
    Some(text).filter(|text| !text.trim().is_empty())
}

/// The elements of a list; nothing for what is no list.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Somebody as the hosted service names them.
pub(crate) fn host_user(value: &Value) -> SourceUser {
    SourceUser { login: text(value, "login").to_owned(), id: number(value, "id"), email: None }
}

/// Somebody as the server that people run themselves names them.
pub(crate) fn server_user(value: &Value) -> SourceUser {
    let email = Some(text(value, "emailAddress").to_owned());
    SourceUser {
        login: text(value, "slug").to_owned(),
        id: None,
        email: email.filter(|email| email.contains('@')),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{fitting, list, millis, number, title};

    #[test]
    fn odd_values_are_read_as_missing() {
        let odd = json!({ "title": 7, "number": -1, "at": "x" });
        assert_eq!((title(&odd).as_str(), number(&odd, "number")), ("(no title)", None));
        assert!(millis(&odd, "at").is_none() && list(&odd).is_empty());
        assert_eq!(title(&json!({ "title": "ü".repeat(300) })).chars().count(), 255);
        assert_eq!(fitting(" \n"), None);
        assert_eq!(fitting(&"ü".repeat(600_000)).map(|text| text.len()), Some(1_048_576));
    }
}
