//! Wikis of projects and groups: pages that are files of a repository, and versions that are its commits.

pub mod attachment;
pub mod changes;
pub mod find;
pub mod format;
pub mod journal;
pub mod name;
mod plan;
pub mod write;

pub use attachment::Attachment;
pub use find::{Page, PageFile, PageName};
pub use format::{Markup, PageFormat};
pub use plan::WikiChange;
pub use write::{Locks, Site, WikiRequest, WikiResult, Writer};
