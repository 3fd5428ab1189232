//! Quick actions: lines of a text that change the item it is about.

mod apply;
mod cross_item;
mod day;
mod deferred;
pub mod in_description;
mod parse;
mod planning;
mod table;
mod with_arguments;

pub use apply::{ActionSummary, run};
pub use deferred::DeferredAction;
pub use parse::{Command, ParsedText, part};
