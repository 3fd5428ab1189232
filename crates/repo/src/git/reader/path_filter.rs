//! The entries at one path in many trees that mostly share their parts.

use std::sync::Arc;

use bstr::BString;
use gix::{
    ObjectId,
    objs::{Find as _, TreeRefIter, tree::EntryMode},
};

use super::{
    Reader,
    changed_paths::{ChangedPaths, PathKeys},
};
use crate::git::{GitError, Result, TreePath};

/// Look-ups before the filters of changed paths are taken in: most pages are full before.
const PATIENCE: u32 = 30;

/// Mode and object at a path; `None` when there is nothing.
pub(super) type PathEntry = Option<(EntryMode, ObjectId)>;

pub(super) struct PathFilter<'r> {
    reader: &'r Reader,
    parts: Vec<BString>,
    /// What earlier look-ups found below a tree, by the number of parts that led there.
    known: Vec<gix::hashtable::HashMap<ObjectId, PathEntry>>,
    buffer: Vec<u8>,
    keys: Option<PathKeys>,
    changed: Option<Arc<ChangedPaths>>,
    patience: u32,
}

impl<'r> PathFilter<'r> {
    /// `None` for the root, where there is nothing to filter.
    pub(super) fn new(reader: &'r Reader, path: &TreePath) -> Option<Self> {
        let parts: Vec<BString> = path.parts().map(ToOwned::to_owned).collect();
        let known = parts.iter().map(|_| gix::hashtable::HashMap::default()).collect();
        (!parts.is_empty()).then(|| Self {
            reader,
            parts,
            known,
            buffer: Vec::new(),
            keys: PathKeys::new(path),
            changed: None,
            patience: PATIENCE,
        })
    }

    /// True only if the commit agrees with its first parent; says nothing while look-ups are few.
    pub(super) fn is_surely_same(&mut self, commit: ObjectId) -> bool {
        let Some(keys) = self.keys.as_ref().filter(|_| self.patience == 0) else { return false };
        if self.changed.is_none() {
            self.changed = Some(self.reader.changed_paths());
        }
        self.changed.as_ref().is_some_and(|changed| changed.surely_same(commit, keys))
    }

    pub(super) fn find(&mut self, root: ObjectId) -> Result<PathEntry> {
        self.patience = self.patience.saturating_sub(1);
        let mut trees = Vec::with_capacity(self.parts.len());
        let mut tree = root;
        let mut found = None;
        for (depth, part) in self.parts.iter().enumerate() {
            if let Some(known) = self.known[depth].get(&tree) {
                found = *known;
                break;
            }
            trees.push(tree);
            let object = self.reader.repo.objects.try_find(&tree, &mut self.buffer)?;
            let entries = match &object {
                Some(object) => TreeRefIter::from_bytes(object.data, tree.kind()),
                None if tree.is_empty_tree() => TreeRefIter::from_bytes(&[], tree.kind()),
                None => return Err(GitError::NotFound),
            };
            let entry = entries.filter_map(Result::ok).find(|entry| entry.filename == part);
            let is_last = depth + 1 == self.parts.len();
            match entry {
                Some(entry) if is_last => found = Some((entry.mode, entry.oid.to_owned())),
                Some(entry) if entry.mode.is_tree() => {
                    tree = entry.oid.to_owned();
                    continue;
                }
                _ => {}
            }
            break;
        }
        for (depth, tree) in trees.into_iter().enumerate() {
            self.known[depth].insert(tree, found);
        }
        Ok(found)
    }
}
