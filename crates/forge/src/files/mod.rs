//! Files that people add, below the data folder.

pub mod attachments;
pub mod avatars;
pub mod sizes;
mod upload;

pub use upload::Upload;
