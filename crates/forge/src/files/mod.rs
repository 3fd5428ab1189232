//! Files that people add.

pub mod attachments;
pub mod avatars;
pub mod sizes;
mod upload;

pub use upload::Upload;
