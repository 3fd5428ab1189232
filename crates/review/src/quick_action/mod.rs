//! Quick actions: lines of a text that change the item it is about.

mod apply;
mod beyond;
pub mod described;
mod named;
mod parse;
mod table;

pub use apply::{Done, run};
pub use parse::{Command, Parted, part};
