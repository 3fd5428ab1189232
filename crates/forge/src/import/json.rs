//! Reading what a source sends: every value may be missing, of another type, or far too long.

use kernel::Ts;
use review::merge_request::draft::drafted;
use serde_json::Value;

use super::people::SourceUser;

/// Letters of a title or name, and bytes of a description.
const LONGEST_NAME: usize = 255;
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

/// A title or name that fits, and is `None` where there is none.
pub(crate) fn name(value: &Value, key: &str) -> Option<String> {
    fitting_name(text(value, key))
}

fn fitting_name(text: &str) -> Option<String> {
    let name: String = text.replace('\0', "").trim().chars().take(LONGEST_NAME).collect();
    Some(name).filter(|name| !name.is_empty())
}

pub(crate) fn title(value: &Value) -> String {
    name(value, "title").unwrap_or_else(|| NO_TITLE.to_owned())
}

/// The title of a merge request, with the mark of a draft where it is one.
pub(crate) fn merge_request_title(value: &Value) -> String {
    let title = title(value);
    match value["draft"].as_bool() {
        Some(true) => fitting_name(&drafted(&title)).unwrap_or(title),
        _ => title,
    }
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

    use super::{fitting, list, merge_request_title, millis, name, number, title};

    #[test]
    fn odd_values_are_read_as_missing() {
        let odd = json!({ "title": 7, "number": -1, "at": "x" });
        assert_eq!((title(&odd).as_str(), number(&odd, "number")), ("(no title)", None));
        assert!(millis(&odd, "at").is_none() && list(&odd).is_empty());
        assert_eq!(fitting(" \n"), None);
        assert_eq!(fitting(&"ü".repeat(600_000)).map(|text| text.len()), Some(1_048_576));
    }

    #[test]
    fn names_and_titles_fit_without_what_the_database_refuses() {
        let given = json!({ "name": "\0 tea\0pot ", "blank": " \0", "title": "ü".repeat(300) });
        assert_eq!(name(&given, "name").as_deref(), Some("teapot"));
        assert_eq!((name(&given, "blank"), name(&given, "none")), (None, None));
        assert_eq!(title(&given), "ü".repeat(255));
        let draft = json!({ "draft": true, "title": "ü".repeat(300) });
        assert_eq!(merge_request_title(&draft), format!("Draft: {}", "ü".repeat(248)));
    }
}
