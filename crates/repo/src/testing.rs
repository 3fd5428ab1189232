//! Repositories for tests, written through `git fast-import`: fixed people and dates, so every id is the same
//! everywhere.

mod fixture;
mod history;
mod random;
mod told;

pub use fixture::Fixture;
pub use history::{Entry, History, Mark};
