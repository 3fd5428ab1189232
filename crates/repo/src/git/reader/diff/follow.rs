//! One file through its former names, as `git log --follow` tells its history.

use gix::ObjectId;

use super::{
    super::{Reader, path_filter::PathFilter, walk::Walk},
    changes::Side,
    renames::{self, Candidate},
};
use crate::git::reader::tree::TreePage;
use crate::git::{Deadline, EntryKind, FileMode, Oid, Result, TreePath};

/// Asked about commits in the order of the log. The name changes for all that follow, on whatever line of history.
pub(in crate::git::reader) struct PathHistory<'r> {
    reader: &'r Reader,
    path: TreePath,
    filter: Option<PathFilter<'r>>,
    first_parent: bool,
    deadline: Deadline,
}

impl<'r> PathHistory<'r> {
    pub(in crate::git::reader) fn new(
        reader: &'r Reader,
        path: &TreePath,
        first_parent: bool,
        deadline: Deadline,
    ) -> Self {
        let filter = PathFilter::new(reader, path);
        Self { reader, path: path.clone(), filter, first_parent, deadline }
    }

    /// Whether the commit changed the file. Merges never do, unless only first parents count.
    pub(in crate::git::reader) fn touches(
        &mut self,
        walk: &mut Walk<'_>,
        id: ObjectId,
    ) -> Result<bool> {
        let parents = walk.parents(id);
        if parents.len() > 1 && !self.first_parent {
            return Ok(false);
        }
        let tree = walk.tree(id)?;
        let before = parents.first().map(|parent| walk.tree(*parent)).transpose()?;
        if before == Some(tree) {
            return Ok(false);
        }
        let Some(filter) = &mut self.filter else { return Ok(true) };
        if filter.is_surely_same(id) {
            return Ok(false);
        }
        let new = filter.find(tree)?;
        let old = match before {
            Some(before) => filter.find(before)?,
            None => None,
        };
        if let (Some((mode, id)), None, Some(before)) = (new, old, before) {
            self.rename(Side { mode: FileMode::of(mode), id }, tree, before)?;
        }
        Ok(new != old)
    }

    /// The file appears here: goes on under the name it had, or was copied from.
    fn rename(&mut self, side: Side, tree: ObjectId, before: ObjectId) -> Result<()> {
        let mut sources = Vec::new();
        let mut kept = Vec::new();
        let all = self.reader.list(Oid::of(&before), &TreePath::ROOT, true, TreePage::default())?;
        let now = self.reader.list(Oid::of(&tree), &TreePath::ROOT, true, TreePage::default())?;
        let now: std::collections::HashSet<&TreePath> = now
            .iter()
            .filter(|entry| entry.kind() != EntryKind::Tree)
            .map(|entry| &entry.path)
            .collect();
        for entry in all.into_iter().filter(|entry| entry.kind() != EntryKind::Tree) {
            kept.push(now.contains(&entry.path));
            let side = Side { mode: entry.mode, id: entry.id.gix() };
            sources.push(Candidate { path: entry.path, side });
        }
        let target = Candidate { path: self.path.clone(), side };
        if let Some(path) = renames::origin(self.reader, &sources, kept, target, self.deadline)? {
            self.filter = PathFilter::new(self.reader, &path);
            self.path = path;
        }
        Ok(())
    }
}
