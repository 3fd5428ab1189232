//! Quick actions: lines of a text that change the item it is about.

mod parse;
mod table;

pub use parse::{Command, Parted, part};
