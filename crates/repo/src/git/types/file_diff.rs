//! The difference of one file between two trees.

use bstr::BString;

use super::{FileMode, TreePath};

/// Lines added and removed; binary files count as none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineStats {
    pub additions: u64,
    pub deletions: u64,
}

impl LineStats {
    pub fn total(self) -> u64 {
        self.additions + self.deletions
    }
}

impl std::ops::AddAssign for LineStats {
    fn add_assign(&mut self, other: Self) {
        self.additions += other.additions;
        self.deletions += other.deletions;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Deleted,
    Modified,
    Renamed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    pub change: ChangeKind,
    /// The same as `new_path` unless renamed.
    pub old_path: TreePath,
    pub new_path: TreePath,
    /// `None` where the file did not exist.
    pub old_mode: Option<FileMode>,
    pub new_mode: Option<FileMode>,
    pub stats: LineStats,
    pub binary: bool,
    /// The text was left out because this file alone is beyond a limit.
    pub too_large: bool,
    /// The text was left out because the files before it used up what the whole diff may hold.
    pub collapsed: bool,
    /// The hunks as git prints them, from the first `@@` on; empty when there are none or they were left out.
    pub text: BString,
}

impl FileDiff {
    pub fn is_new(&self) -> bool {
        self.change == ChangeKind::Added
    }

    pub fn is_deleted(&self) -> bool {
        self.change == ChangeKind::Deleted
    }

    pub fn is_renamed(&self) -> bool {
        self.change == ChangeKind::Renamed
    }

    /// The mode before, as the API prints it: `0` where there was no file.
    pub fn a_mode(&self) -> &'static str {
        self.old_mode.map_or("0", FileMode::as_str)
    }

    /// The mode after; see [`a_mode`](Self::a_mode).
    pub fn b_mode(&self) -> &'static str {
        self.new_mode.map_or("0", FileMode::as_str)
    }
}
