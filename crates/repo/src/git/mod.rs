//! Git itself: reads in process with gix, everything else through the git command line.

pub mod deadline;
pub mod error;
pub mod storage;
pub mod types;

pub use deadline::Deadline;
pub use error::{GitError, Result};
pub use storage::{RepoPath, Storage};
pub use types::{
    ChangeKind, CommitInfo, EntryInfo, EntryKind, FileDiff, FileMode, LineStats, Oid, RefKind,
    RefName, Signature, TreePath,
};
