//! What is said about items, and what happened to them.

mod discussion;
mod system;

pub use system::write_system_note;
