//! The files that differ between two trees, ordered by path.

use std::{cmp::Ordering, iter::Peekable, vec};

use gix::ObjectId;

use super::{super::Reader, renames};
use crate::git::{Deadline, EntryInfo, EntryKind, FileMode, Oid, Result, TreePath};

/// A file on one side of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::git::reader) struct Side {
    pub(in crate::git::reader) mode: FileMode,
    pub(in crate::git::reader) id: ObjectId,
}

#[derive(Clone, Debug)]
pub(in crate::git::reader) struct Change {
    /// The new path; for a deleted file the one it had.
    pub(in crate::git::reader) path: TreePath,
    pub(in crate::git::reader) old: Option<Side>,
    pub(in crate::git::reader) new: Option<Side>,
    /// Where a renamed file lay before.
    pub(super) source: Option<TreePath>,
}

impl Change {
    pub(super) fn old_path(&self) -> &TreePath {
        self.source.as_ref().unwrap_or(&self.path)
    }

    pub(super) fn is_same_content(&self) -> bool {
        matches!((self.old, self.new), (Some(old), Some(new)) if old.id == new.id)
    }

    /// A file that became a link or a submodule, or the reverse, is shown as deleted and added.
    pub(super) fn split_by_type(self) -> Vec<Self> {
        let (Some(old), Some(new)) = (self.old, self.new) else { return vec![self] };
        if is_regular(old.mode) == is_regular(new.mode)
            && (is_regular(old.mode) || old.mode == new.mode)
        {
            return vec![self];
        }
        vec![Self { new: None, ..self.clone() }, Self { old: None, ..self }]
    }
}

pub(super) fn is_regular(mode: FileMode) -> bool {
    matches!(mode, FileMode::File | FileMode::Executable)
}

impl Reader {
    /// All changes, renames found.
    pub(super) fn changes(
        &self,
        from: Option<Oid>,
        to: Oid,
        deadline: Deadline,
    ) -> Result<Vec<Change>> {
        renames::pair(self, self.file_changes(from, to, deadline)?, deadline)
    }

    /// All changes, a renamed file as deleted and added.
    pub(in crate::git::reader) fn file_changes(
        &self,
        from: Option<Oid>,
        to: Oid,
        deadline: Deadline,
    ) -> Result<Vec<Change>> {
        let old = from.map(|id| self.tree_of(id.gix())).transpose()?;
        let new = self.tree_of(to.gix())?;
        let mut changes = Vec::new();
        let mut trees = Trees { reader: self, deadline, changes: &mut changes };
        trees.compare(old, Some(new), &TreePath::ROOT)?;
        Ok(changes)
    }
}

struct Trees<'a> {
    reader: &'a Reader,
    deadline: Deadline,
    changes: &'a mut Vec<Change>,
}

type Entries = Peekable<vec::IntoIter<EntryInfo>>;

impl Trees<'_> {
    fn compare(
        &mut self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        path: &TreePath,
    ) -> Result<()> {
        self.deadline.check()?;
        if old == new {
            return Ok(());
        }
        let (mut old, mut new) = (self.entries(old, path)?, self.entries(new, path)?);
        loop {
            let (one, other) = match next_by_name(&mut old, &mut new) {
                None => return Ok(()),
                Some(Ordering::Less) => (old.next(), None),
                Some(Ordering::Greater) => (None, new.next()),
                Some(Ordering::Equal) => (old.next(), new.next()),
            };
            self.entry(one, other)?;
        }
    }

    fn entries(&self, tree: Option<ObjectId>, path: &TreePath) -> Result<Entries> {
        let entries = tree.map(|tree| self.reader.children(tree, path)).transpose()?;
        Ok(entries.unwrap_or_default().into_iter().peekable())
    }

    /// One name; both sides are folders or neither is.
    fn entry(&mut self, old: Option<EntryInfo>, new: Option<EntryInfo>) -> Result<()> {
        let Some(known) = new.as_ref().or(old.as_ref()) else { return Ok(()) };
        let path = known.path.clone();
        let is_folder = known.kind() == EntryKind::Tree;
        let side = |entry: EntryInfo| Side { mode: entry.mode, id: entry.id.gix() };
        let (old, new) = (old.map(side), new.map(side));
        if old == new {
            return Ok(());
        }
        if is_folder {
            return self.compare(old.map(|side| side.id), new.map(|side| side.id), &path);
        }
        self.changes.push(Change { path, old, new, source: None });
        Ok(())
    }
}

/// Which side comes next; equal when both do. Git sorts folders as if their names ended in a slash, so a file and a
/// folder of one name are two entries.
fn next_by_name(old: &mut Entries, new: &mut Entries) -> Option<Ordering> {
    match (old.peek(), new.peek()) {
        (None, None) => None,
        (Some(_), None) => Some(Ordering::Less),
        (None, Some(_)) => Some(Ordering::Greater),
        (Some(old), Some(new)) => Some(sort_key(old).cmp(sort_key(new))),
    }
}

fn sort_key(entry: &EntryInfo) -> impl Iterator<Item = u8> {
    let slash = (entry.kind() == EntryKind::Tree).then_some(b'/');
    entry.path.name().iter().copied().chain(slash)
}
