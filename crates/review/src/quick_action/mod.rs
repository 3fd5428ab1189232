//! Quick actions: lines of a text that change the item it is about.

mod apply;
mod beyond;
mod day;
pub mod described;
mod later;
mod named;
mod parse;
mod planned;
mod table;

pub use apply::{Done, run};
pub use later::Later;
pub use parse::{Command, Parted, part};
