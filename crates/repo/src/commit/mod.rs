//! Commits: making them through the API, what is known of them, and what people say about them.

pub mod answers;
pub mod read;
pub mod signature;

pub use answers::Answers;
pub use read::{CommitFilter, Source};
