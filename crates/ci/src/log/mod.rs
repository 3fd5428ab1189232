//! Job logs.

mod coverage;
mod files;
mod mask;
mod store;

pub use coverage::coverage;
pub use files::{AppendResult, LogFiles, LogKey};
pub use mask::Mask;
pub use store::{JobLog, LogStore};
