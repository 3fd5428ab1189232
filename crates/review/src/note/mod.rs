//! What is said about items, and what happened to them.

pub mod actions;
mod discussion;
pub mod event;
pub mod following;
pub mod image_place;
pub mod import;
mod model;
pub mod position;
pub mod reading;
pub mod resolving;
pub(crate) mod rules;
mod store;
mod system;

pub(crate) use discussion::fresh as fresh_discussion;
pub use model::{Discussion, Note, NoteType};
pub use store::{Head, NewRow, NoteStore};
pub use system::{write_system_note, write_system_note_about};
