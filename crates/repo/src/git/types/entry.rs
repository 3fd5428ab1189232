//! One entry of a tree.

use super::{Oid, TreePath};

/// The object type of a tree entry, in git's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    Tree,
    Blob,
    /// A submodule: a commit of another repository.
    Commit,
}

impl EntryKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Blob => "blob",
            Self::Commit => "commit",
        }
    }
}

/// The modes that git keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileMode {
    Tree,
    File,
    Executable,
    Link,
    Submodule,
}

impl FileMode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tree => "040000",
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Submodule => "160000",
        }
    }

    pub fn kind(self) -> EntryKind {
        match self {
            Self::Tree => EntryKind::Tree,
            Self::File | Self::Executable | Self::Link => EntryKind::Blob,
            Self::Submodule => EntryKind::Commit,
        }
    }

    pub fn of(mode: gix::objs::tree::EntryMode) -> Self {
        use gix::objs::tree::EntryKind as Kind;
        match mode.kind() {
            Kind::Tree => Self::Tree,
            Kind::Blob => Self::File,
            Kind::BlobExecutable => Self::Executable,
            Kind::Link => Self::Link,
            Kind::Commit => Self::Submodule,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryInfo {
    pub id: Oid,
    /// From the root of the repository.
    pub path: TreePath,
    pub mode: FileMode,
}

impl EntryInfo {
    pub fn kind(&self) -> EntryKind {
        self.mode.kind()
    }

    pub fn is_executable(&self) -> bool {
        self.mode == FileMode::Executable
    }
}
