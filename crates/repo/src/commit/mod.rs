//! Commits: making them through the API, what is known of them, and what people say about them.

pub mod answers;
pub mod blame;
pub mod discussion;
mod encoding;
pub mod file;
pub mod note;
pub mod read;
pub mod signature;
pub mod write;

pub use answers::Answers;
pub use encoding::Encoding;
pub use file::{FileFacts, FileQuery};
pub use read::{CommitFilter, Source};
pub use write::{Pick, RefusalStyle, Writer};
