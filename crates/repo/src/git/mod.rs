//! Git itself: reads in process with gix, everything else through the git command line.

pub mod archive;
pub mod blame;
pub mod blob_stream;
mod blocking;
pub(crate) mod branch_name;
pub(crate) mod cache;
pub mod change;
pub mod cli;
pub mod commit_object;
mod commit_tree;
pub mod deadline;
pub mod error;
pub mod fork;
pub mod hook;
mod lock_file;
pub mod maintenance;
pub mod merge;
pub mod objects;
mod open;
pub mod output_stream;
pub mod pkt_line;
pub mod push_head;
pub mod quarantine;
pub mod reader;
pub mod rebase;
pub mod refs;
pub mod service;
mod side_store;
pub mod snapshot;
pub mod stale_locks;
pub mod storage;
pub mod tag;
pub mod transfer;
pub mod tree_edit;
pub mod types;

pub use blob_stream::blob_stream;
pub use cli::Git;
pub use deadline::Deadline;
pub use error::{GitError, Result};
pub use reader::{
    BlobInfo, BranchCommits, Contributor, DiffLimits, LogQuery, Order, Range, Reader, RefInfo,
    Repositories, SignedObject, TagInfo, Tips, TreePage,
};
pub use storage::{NewRepository, RepoPath, Storage, Wiki};
pub use types::{
    ChangeKind, CommitInfo, EntryInfo, EntryKind, FileDiff, FileMode, LineStats, Oid, RefKind,
    RefName, Signature, TreePath,
};
