//! Comments and system notes.

pub mod actions;
mod discussion;
pub mod event;
pub mod image_place;
pub mod import;
pub mod line_tracking;
mod model;
pub mod position;
pub mod reading;
pub mod resolution;
pub(crate) mod rules;
pub(crate) mod sentence;
mod store;
mod system;

pub(crate) use discussion::fresh as fresh_discussion;
pub use model::{Discussion, Note, NoteType};
pub use store::{Head, NewRow, NoteStore};
pub use system::{write_system_note, write_system_note_about};
