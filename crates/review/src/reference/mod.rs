//! References in texts and their effects: to-dos, participants, and notes on the items named.

mod code;
mod mentions;
mod parse;
mod rewrite;
mod store;

pub(crate) use code::Blocks;
pub(crate) use mentions::{find_items, name_from};
pub use mentions::{forget_note, names_anything, note_changed, readable_items, text_changed};
pub use parse::{ItemName, Reference, References, find, parse};
pub(crate) use rewrite::rewritten;
pub use store::{MentionStore, ParticipantStore};
