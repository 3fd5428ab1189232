//! The cursor of a list whose pages are found by the last element of the page before: base64 of a JSON object with the
//! values by which the list is ordered.

use base64::{
    Engine as _,
    engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD},
};
use kernel::{Error, Result};
use serde_json::{Map, Value};

crate::params! {
    /// The pages of a list that is ordered by ID, the newest first.
    pub struct CursorPage: keyset {
        /// `keyset`: pages are found by `cursor`, whose value the link to the next page has.
        pagination: Option<String>,
        /// With `keyset` only `id`.
        order_by: Option<String>,
        /// With `keyset` only `desc`.
        sort: Option<String>,
        /// Opaque; from the link to the next page.
        cursor: Option<String>,
    }
}

impl CursorPage {
    /// Whether pages are found by a cursor. Nothing else asks for that: without `pagination=keyset` no cursor is read.
    pub fn is_keyset(&self) -> bool {
        self.pagination.as_deref() == Some("keyset")
    }

    /// The ID of the element behind which the page begins; `None` for the first page, and where there is no keyset.
    ///
    /// # Errors
    /// `NotAllowed` for another order, `BadRequest` for a cursor that nobody was given.
    pub fn last_id(&self) -> Result<Option<i64>> {
        if !self.is_keyset() {
            return Ok(None);
        }
        let other = |given: &Option<String>, only: &str| {
            given.as_deref().is_some_and(|given| !given.is_empty() && given != only)
        };
        if other(&self.order_by, "id") || other(&self.sort, "desc") {
            return Err(no_keyset());
        }
        let Some(cursor) = &self.cursor else { return Ok(None) };
        let [id] = read_cursor(cursor, ["id"])?;
        id.parse().map(Some).map_err(|_odd| unreadable())
    }
}

/// The key that says in which direction the list goes on, and its value for "to the next page".
const DIRECTION: (&str, &str) = ("_kd", "n");

/// The cursor behind an element with these values.
pub fn cursor_of<const N: usize>(values: [(&str, String); N]) -> String {
    let values = values.map(|(name, value)| (name.to_owned(), Value::String(value)));
    let mut place = Map::from_iter(values);
    place.insert(DIRECTION.0.to_owned(), Value::String(DIRECTION.1.to_owned()));
    URL_SAFE.encode(Value::Object(place).to_string())
}

/// The values of these names, in the order in which they were written, in a cursor that has no others.
///
/// # Errors
/// `BadRequest` for what [`cursor_of`] did not write.
pub fn read_cursor<const N: usize>(cursor: &str, names: [&str; N]) -> Result<[String; N]> {
    values(cursor, names).ok_or_else(unreadable)
}

/// What is said of a cursor that nobody was given.
pub fn unreadable() -> Error {
    Error::bad_request().parameters("cursor is invalid")
}

/// What is said where a list cannot be paged by its last element, or not in this order.
pub fn no_keyset() -> Error {
    Error::not_allowed()
        .parameters("Keyset pagination is not yet available for this type of request")
}

fn values<const N: usize>(cursor: &str, names: [&str; N]) -> Option<[String; N]> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor.trim_end_matches('=')).ok()?;
    let place: Value = serde_json::from_slice(&bytes).ok()?;
    let mut found = names.map(|_| String::new());
    for (name, slot) in names.iter().zip(&mut found) {
        place[*name].as_str()?.clone_into(slot);
    }
    // No database keeps such a text.
    let are_values = names
        .iter()
        .zip(&found)
        .all(|(name, value)| !value.contains('\0') && (*name != "id" || is_id(value)));
    // One way to write it: other keys, doubled ones, and another direction are nobody's.
    let mut values = found.iter();
    let written = cursor_of(names.map(|name| (name, values.next().cloned().unwrap_or_default())));
    let is_written = written.trim_end_matches('=') == cursor.trim_end_matches('=');
    (are_values && is_written).then_some(found)
}

/// Whether a text is an ID as it is written: a positive number without a sign or leading zeros.
fn is_id(text: &str) -> bool {
    text.parse::<i64>().is_ok_and(|id| id > 0 && id.to_string() == text)
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE};

    use super::{cursor_of, read_cursor};

    #[test]
    fn what_is_written_is_read() {
        let cursor = cursor_of([("name", "a/b é".to_owned()), ("id", "42".to_owned())]);

        let found = read_cursor(&cursor, ["name", "id"]).unwrap();
        assert_eq!(found, ["a/b é", "42"]);
        let bare = cursor.trim_end_matches('=');
        assert_eq!(read_cursor(bare, ["name", "id"]).unwrap(), ["a/b é", "42"]);
    }

    #[test]
    fn anything_else_is_refused() {
        let coded = |text: &str| URL_SAFE.encode(text);
        for cursor in [
            "".to_owned(),
            "*".to_owned(),
            "abc".to_owned(),
            coded("[1]"),
            coded(r#"{"id":4}"#),
            coded(r#"{"name":"x"}"#),
            coded(r#"{"id":"a\u0000"}"#),
            coded(r#"{"id":"4"}"#),
            coded(r#"{"id":"4","_kd":"p"}"#),
            coded(r#"{"_kd":"n","id":"4","id":"4"}"#),
            coded(r#"{"_kd":"n","id":"4","more":"1"}"#),
            cursor_of([("name", "x".to_owned()), ("id", "4".to_owned())]),
            cursor_of([("id", "+20".to_owned())]),
            cursor_of([("id", "020".to_owned())]),
            cursor_of([("id", "-1".to_owned())]),
            cursor_of([("id", "0".to_owned())]),
        ] {
            assert!(read_cursor(&cursor, ["id"]).is_err(), "{cursor}");
        }
    }
}
