//! Allowed values of enum columns.

pub(super) use db::archive::{LAST_NUMBER, is_one_of, is_sha};

pub(super) use crate::note::position::is_stored_position;
use crate::{emoji, label::Color};

/// Issues and merge requests, by the kinds that rows beside them have.
pub(super) const ITEM_KINDS: &[(&str, &str)] =
    &[("Issue", "issues"), ("MergeRequest", "merge_requests")];

/// Epics, in archives of groups.
pub(super) const EPIC: &[(&str, &str)] = &[("Epic", "epics")];

/// What people can react to.
pub(super) const AWARDED_KINDS: &[(&str, &str)] =
    &[("Issue", "issues"), ("MergeRequest", "merge_requests"), ("Note", "notes")];

pub(super) fn is_color(word: &str) -> bool {
    Color::parse(word).is_ok()
}

/// The name under which an emoji is kept.
pub(super) fn is_emoji(word: &str) -> bool {
    emoji::canonical(word) == Some(word)
}
