//! Commits: making them through the API, what is known of them, and what people say about them.

pub mod answers;

pub use answers::Answers;
