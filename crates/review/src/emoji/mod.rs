//! Emoji reactions on issues, merge requests and notes.

pub mod actions;
pub mod event;
pub mod reassign;
mod store;

pub use actions::forget_note;
pub use store::{Award, AwardStore};

use crate::item::{ItemId, ItemKind};
use kernel::ids::NoteId;

kernel::text_enum! {
    /// In which table something is that can be reacted to.
    pub enum AwardedKind {
        Issue = "Issue",
        MergeRequest = "MergeRequest",
        Epic = "Epic",
        Note = "Note",
    }
}

/// Something that can be reacted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AwardTarget {
    pub kind: AwardedKind,
    pub id: i64,
}

impl From<ItemId> for AwardTarget {
    fn from(item: ItemId) -> Self {
        let kind = match item.kind {
            ItemKind::Issue => AwardedKind::Issue,
            ItemKind::MergeRequest => AwardedKind::MergeRequest,
            ItemKind::Epic => AwardedKind::Epic,
        };
        Self { kind, id: item.id }
    }
}

impl From<NoteId> for AwardTarget {
    fn from(note: NoteId) -> Self {
        Self { kind: AwardedKind::Note, id: note.0 }
    }
}

/// The name and text of an emoji.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmojiDetails {
    pub emoji: &'static str,
    /// A few words for it.
    pub description: &'static str,
    /// The version of Unicode that has it: `6.0`.
    pub unicode_version: String,
}

/// What is known of the emoji that is kept under a name.
pub fn details(name: &str) -> Option<EmojiDetails> {
    let shortcode = match name {
        "thumbsup" => "+1",
        "thumbsdown" => "-1",
        name => name,
    };
    let found = emojis::get_by_shortcode(shortcode)?;
    let version = found.unicode_version();
    Some(EmojiDetails {
        emoji: found.as_str(),
        description: found.name(),
        unicode_version: format!("{}.{}", version.major(), version.minor()),
    })
}

/// The name under which an emoji is kept; `None` for what is none.
pub fn canonical(name: &str) -> Option<&str> {
    let name = name.trim().trim_matches(':');
    match name {
        "+1" => Some("thumbsup"),
        "-1" => Some("thumbsdown"),
        name => emojis::get_by_shortcode(name).map(|_| name),
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn an_emoji_has_one_name() {
        assert_eq!(canonical(":rocket:"), Some("rocket"));
        assert_eq!(canonical("+1"), Some("thumbsup"));
        assert_eq!(canonical("thumbsdown"), Some("thumbsdown"));
        assert_eq!(canonical("nonsense"), None);
        assert_eq!(canonical(""), None);
    }
}
