//! Allowed values of enum columns.

use kernel::TextEnum;

use crate::{emoji, label::Color, note::position::Position};

/// Issues and merge requests, by the kinds that rows beside them have.
pub(super) const ITEM_KINDS: &[(&str, &str)] =
    &[("Issue", "issues"), ("MergeRequest", "merge_requests")];

/// Epics, in archives of groups.
pub(super) const EPIC: &[(&str, &str)] = &[("Epic", "epics")];

/// What people can react to.
pub(super) const AWARDED_KINDS: &[(&str, &str)] =
    &[("Issue", "issues"), ("MergeRequest", "merge_requests"), ("Note", "notes")];

/// Largest number of an item.
pub(super) const LAST_NUMBER: i64 = 1 << 31;

pub(super) fn is_one_of<E: TextEnum>(word: &str) -> bool {
    E::find(word).is_some()
}

pub(super) fn is_sha(word: &str) -> bool {
    word.len() == 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn is_color(word: &str) -> bool {
    Color::parse(word).is_ok()
}

/// The name under which an emoji is kept.
pub(super) fn is_emoji(word: &str) -> bool {
    emoji::canonical(word) == Some(word)
}

/// A place in a diff, as it is stored.
pub(super) fn is_position(text: &str) -> bool {
    text.len() < 1 << 16 && serde_json::from_str::<Position>(text).is_ok()
}
