//! Trees and what is in them.

use std::collections::HashSet;

use bstr::{BStr, ByteSlice as _};
use gix::{ObjectId, objs::TreeRefIter};

use super::Reader;
use crate::git::{EntryInfo, EntryKind, FileMode, GitError, Oid, Result, TreePath};

/// Folders in folders beyond this were made to harm.
const DEEPEST: usize = 512;

/// Which part of a listing is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreePage {
    pub skip: usize,
    /// `None` takes all.
    pub take: Option<usize>,
}

impl Reader {
    /// The entry at a path of a commit or tree. The root itself is a tree without a name.
    pub fn entry(&self, at: Oid, path: &TreePath) -> Result<EntryInfo> {
        self.find_entry(at, path)?.ok_or(GitError::NotFound)
    }

    pub fn find_entry(&self, at: Oid, path: &TreePath) -> Result<Option<EntryInfo>> {
        let mut id = self.tree_of(at.gix())?;
        let mut mode = FileMode::Tree;
        for part in path.parts() {
            if mode != FileMode::Tree {
                return Ok(None);
            }
            let Some(entry) = self.child(id, part)? else { return Ok(None) };
            (id, mode) = entry;
        }
        Ok(Some(EntryInfo { id: Oid::of(&id), path: path.clone(), mode }))
    }

    /// What a tree has under a name.
    fn child(&self, tree: ObjectId, name: &BStr) -> Result<Option<(ObjectId, FileMode)>> {
        let object = self.object(tree).map_err(GitError::lost)?;
        for entry in TreeRefIter::from_bytes(&object.data, tree.kind()) {
            let entry = entry?;
            if entry.filename == name {
                return Ok(Some((entry.oid.to_owned(), FileMode::of(entry.mode))));
            }
        }
        Ok(None)
    }

    /// What lies in the folder `path`. With `deep`, everything below it in git's order, folders before their content;
    /// otherwise folders, then files, then submodules, each by name.
    pub fn list(
        &self,
        at: Oid,
        path: &TreePath,
        deep: bool,
        page: TreePage,
    ) -> Result<Vec<EntryInfo>> {
        let folder = self.entry(at, path)?;
        if folder.kind() != EntryKind::Tree {
            return Err(GitError::NotFound);
        }
        let end = page.take.map(|take| page.skip.saturating_add(take));
        let mut entries = Vec::new();
        if deep {
            self.list_deep(folder.id.gix(), path, end, &mut entries)?;
        } else {
            entries = self.children(folder.id.gix(), path)?;
            entries.sort_by(|one, other| {
                one.kind().cmp(&other.kind()).then_with(|| one.path.cmp(&other.path))
            });
        }
        entries.truncate(end.unwrap_or(usize::MAX));
        Ok(entries.split_off(page.skip.min(entries.len())))
    }

    fn list_deep(
        &self,
        tree: ObjectId,
        path: &TreePath,
        end: Option<usize>,
        into: &mut Vec<EntryInfo>,
    ) -> Result<()> {
        for entry in self.children(tree, path)? {
            if end.is_some_and(|end| into.len() >= end) {
                return Ok(());
            }
            let folder = (entry.mode == FileMode::Tree).then(|| (entry.id, entry.path.clone()));
            into.push(entry);
            if let Some((id, path)) = folder {
                self.list_deep(id.gix(), &path, end, into)?;
            }
        }
        Ok(())
    }

    /// The entries of one tree, in git's order. Refuses to go on without end: who walks down does so on the stack.
    pub(super) fn children(&self, tree: ObjectId, path: &TreePath) -> Result<Vec<EntryInfo>> {
        if path.parts().count() > DEEPEST {
            return Err(GitError::TooLarge);
        }
        let object = self.object(tree).map_err(GitError::lost)?;
        let mut children = Vec::new();
        for entry in TreeRefIter::from_bytes(&object.data, tree.kind()) {
            let entry = entry?;
            ensure_plain(entry.filename)?;
            children.push(EntryInfo {
                id: Oid::of(entry.oid),
                path: path.join(entry.filename),
                mode: FileMode::of(entry.mode),
            });
        }
        Ok(children)
    }

    /// Refuses a tree in which a name leads out of its folder: nobody could put that into files.
    pub fn ensure_plain_names(&self, at: Oid, path: &TreePath) -> Result<()> {
        let folder = self.entry(at, path)?;
        let mut open = match folder.kind() {
            EntryKind::Tree => vec![folder.id.gix()],
            _ => Vec::new(),
        };
        let mut seen: HashSet<ObjectId> = open.iter().copied().collect();
        while let Some(tree) = open.pop() {
            for entry in self.children(tree, &TreePath::ROOT)? {
                if entry.mode == FileMode::Tree && seen.insert(entry.id.gix()) {
                    open.push(entry.id.gix());
                }
            }
        }
        Ok(())
    }

    /// The file of the root that introduces the project to its readers.
    pub fn readme(&self, at: Oid) -> Result<Option<EntryInfo>> {
        let mut found = self.files_in_root(at, |name| name.split('.').next() == Some("readme"))?;
        let is_markdown = |entry: &EntryInfo| {
            let name = entry.path.name().to_ascii_lowercase();
            name.ends_with(b".md") || name.ends_with(b".markdown")
        };
        found.sort_by_key(|entry| !is_markdown(entry));
        Ok(found.into_iter().next())
    }

    /// The files of the root that say how the project may be used, by name: `COPYING.md`, `LICENSE`, `LICENSE-MIT`.
    pub fn licenses(&self, at: Oid) -> Result<Vec<EntryInfo>> {
        const STEMS: [&str; 4] = ["license", "licence", "copying", "unlicense"];
        let mut found = self.files_in_root(at, |name| {
            name.split(['.', '-']).next().is_some_and(|stem| STEMS.contains(&stem))
        })?;
        found.sort_by_cached_key(|entry| entry.path.name().to_ascii_lowercase());
        Ok(found)
    }

    /// The files whose names, in small letters, are wanted.
    fn files_in_root(&self, at: Oid, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<EntryInfo>> {
        let mut found = self.children(self.tree_of(at.gix())?, &TreePath::ROOT)?;
        found.retain(|entry| {
            let name = entry.path.name().to_str_lossy().to_lowercase();
            entry.kind() == EntryKind::Blob && is_wanted(&name)
        });
        Ok(found)
    }
}

/// # Errors
/// `InvalidPath` for a name that leads somewhere else.
fn ensure_plain(name: &BStr) -> Result<()> {
    if name.is_empty() || name == "." || name == ".." || name.contains(&b'/') {
        return Err(GitError::InvalidPath(name.to_string()));
    }
    Ok(())
}
