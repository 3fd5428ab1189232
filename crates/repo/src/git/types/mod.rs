//! The words in which the rest of the product speaks about git: plain data, no repository behind it.

mod commit;
mod entry;
mod file_diff;
mod oid;
mod ref_name;
mod tree_path;

pub use commit::{CommitInfo, Signature};
pub use entry::{EntryInfo, EntryKind, FileMode};
pub use file_diff::{ChangeKind, FileDiff, LineStats};
pub use oid::Oid;
pub use ref_name::{RefKind, RefName};
pub use tree_path::TreePath;
