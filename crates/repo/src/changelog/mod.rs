//! Changelogs: what the trailers of commits tell the readers of a release.

pub mod collect;
pub mod config;
mod file;
pub mod release;
mod template;
mod version;

pub use collect::{ChangelogCommits, Request, collect};
pub use file::with_release;
pub use release::{Entry, Release};
pub use version::Version;

use kernel::Error;

/// A changelog that cannot be made, in the words that callers know.
pub(crate) fn failed(why: impl std::fmt::Display) -> Error {
    Error::unprocessable().whole(format!("Failed to generate the changelog: {why}"))
}
