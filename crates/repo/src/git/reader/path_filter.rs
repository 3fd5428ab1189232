//! What lies at one path, in many trees that mostly share their parts.

use bstr::BString;
use gix::{
    ObjectId,
    objs::{FindExt as _, tree::EntryMode},
};

use crate::git::{GitError, Result, TreePath};

/// Mode and object at a path; `None` when there is nothing.
pub(super) type Found = Option<(EntryMode, ObjectId)>;

pub(super) struct PathFilter {
    parts: Vec<BString>,
    /// What earlier look-ups found below a tree, by the number of parts that led there.
    known: Vec<gix::hashtable::HashMap<ObjectId, Found>>,
    buffer: Vec<u8>,
}

impl PathFilter {
    /// `None` for the root, where there is nothing to filter.
    pub(super) fn new(path: &TreePath) -> Option<Self> {
        let parts: Vec<BString> = path.parts().map(ToOwned::to_owned).collect();
        let known = parts.iter().map(|_| gix::hashtable::HashMap::default()).collect();
        (!parts.is_empty()).then_some(Self { parts, known, buffer: Vec::new() })
    }

    pub(super) fn find(&mut self, repo: &gix::Repository, root: ObjectId) -> Result<Found> {
        let mut trees = Vec::with_capacity(self.parts.len());
        let mut tree = root;
        let mut found = None;
        for (depth, part) in self.parts.iter().enumerate() {
            if let Some(known) = self.known[depth].get(&tree) {
                found = *known;
                break;
            }
            trees.push(tree);
            let entries = repo.objects.find_tree_iter(&tree, &mut self.buffer);
            let entries = entries.or(Err(GitError::NotFound))?;
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
