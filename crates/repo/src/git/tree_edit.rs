//! Changing a few paths of a large tree: only the folders on the way are read and written again.

use std::collections::BTreeMap;

use bstr::{BStr, BString};
use gix::objs::tree::{Entry, EntryKind, EntryMode};
use gix::objs::{Kind, Tree};

use super::objects::NewObjects;
use super::{FileMode, GitError, Oid, TreePath};

/// A file, link or submodule: whatever is not a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    pub mode: EntryMode,
    pub id: Oid,
}

impl Leaf {
    pub fn file(id: Oid, mode: FileMode) -> Self {
        let kind = match mode {
            FileMode::Tree => EntryKind::Tree,
            FileMode::File => EntryKind::Blob,
            FileMode::Executable => EntryKind::BlobExecutable,
            FileMode::Link => EntryKind::Link,
            FileMode::Submodule => EntryKind::Commit,
        };
        Self { mode: kind.into(), id }
    }
}

/// The content of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathContent {
    Nothing,
    /// Nothing, and nothing can be: a part of the way is a file.
    BelowFile,
    Leaf(Leaf),
    Folder,
}

enum Node {
    Leaf(Leaf),
    /// A folder nobody has looked into.
    Closed(Oid),
    Open(Folder),
}

#[derive(Default)]
struct Folder {
    entries: BTreeMap<BString, Node>,
    /// Its name while it is as stored.
    stored: Option<Oid>,
}

/// A tree being edited. Reads come from the repository and from what this edit has made itself.
pub struct TreeEdit<'repo> {
    repo: &'repo gix::Repository,
    root: Folder,
}

impl<'repo> TreeEdit<'repo> {
    pub fn new(repo: &'repo gix::Repository, root: Oid) -> Result<Self, GitError> {
        Ok(Self { repo, root: load(repo, root)? })
    }

    pub fn find(&mut self, path: &TreePath) -> Result<PathContent, GitError> {
        let mut folder = &mut self.root;
        let mut parts = path.parts().peekable();
        while let Some(part) = parts.next() {
            let Some(node) = folder.entries.get_mut(part) else { return Ok(PathContent::Nothing) };
            if let Node::Leaf(leaf) = node {
                return Ok(if parts.peek().is_none() {
                    PathContent::Leaf(*leaf)
                } else {
                    PathContent::BelowFile
                });
            }
            folder = open(self.repo, node)?;
        }
        Ok(PathContent::Folder)
    }

    /// Puts a leaf at a path where [`find`](Self::find) saw nothing or a leaf, making folders on the way.
    pub fn put(&mut self, path: &TreePath, leaf: Leaf) -> Result<(), GitError> {
        let mut folder = &mut self.root;
        for part in path.parent().parts() {
            folder.stored = None;
            let node = folder
                .entries
                .entry(part.to_owned())
                .or_insert_with(|| Node::Open(Folder::default()));
            folder = open(self.repo, node)?;
        }
        folder.stored = None;
        folder.entries.insert(path.name().to_owned(), Node::Leaf(leaf));
        Ok(())
    }

    /// Takes a leaf away, and with it every folder that becomes empty.
    pub fn remove(&mut self, path: &TreePath) -> Result<(), GitError> {
        let parts: Vec<&BStr> = path.parts().collect();
        remove(self.repo, &mut self.root, &parts)
    }

    /// Makes the changed trees and names the root.
    pub fn write(self, objects: &mut NewObjects) -> Result<Oid, GitError> {
        write(self.root, objects)
    }
}

fn load(repo: &gix::Repository, id: Oid) -> Result<Folder, GitError> {
    let mut entries = BTreeMap::new();
    if id == Oid::EMPTY_TREE {
        return Ok(Folder { entries, stored: Some(id) });
    }
    let tree = repo.find_tree(id.gix()).map_err(GitError::corrupt)?;
    for entry in tree.iter() {
        let entry = entry.map_err(GitError::corrupt)?;
        let id = Oid::of(entry.oid());
        let node = if entry.mode().is_tree() {
            Node::Closed(id)
        } else {
            Node::Leaf(Leaf { mode: entry.mode(), id })
        };
        entries.insert(entry.filename().to_owned(), node);
    }
    Ok(Folder { entries, stored: Some(id) })
}

/// Looks into a folder. A leaf here means that the caller did not ask [`TreeEdit::find`] first.
fn open<'node>(
    repo: &gix::Repository,
    node: &'node mut Node,
) -> Result<&'node mut Folder, GitError> {
    if let Node::Closed(id) = node {
        *node = Node::Open(load(repo, *id)?);
    }
    match node {
        Node::Open(folder) => Ok(folder),
        Node::Closed(_) | Node::Leaf(_) => {
            Err(GitError::Corrupt("a file lies on the way".to_owned()))
        }
    }
}

fn remove(repo: &gix::Repository, folder: &mut Folder, parts: &[&BStr]) -> Result<(), GitError> {
    let Some((part, rest)) = parts.split_first() else { return Err(GitError::NotFound) };
    let Some(node) = folder.entries.get_mut(*part) else { return Err(GitError::NotFound) };
    folder.stored = None;
    if rest.is_empty() {
        folder.entries.remove(*part);
        return Ok(());
    }
    let inner = open(repo, node)?;
    remove(repo, inner, rest)?;
    if inner.entries.is_empty() {
        folder.entries.remove(*part);
    }
    Ok(())
}

fn write(folder: Folder, objects: &mut NewObjects) -> Result<Oid, GitError> {
    if let Some(stored) = folder.stored {
        return Ok(stored);
    }
    let mut tree = Tree { entries: Vec::with_capacity(folder.entries.len()) };
    for (filename, node) in folder.entries {
        let (mode, id) = match node {
            Node::Leaf(leaf) => (leaf.mode, leaf.id),
            Node::Closed(id) => (EntryKind::Tree.into(), id),
            Node::Open(inner) => (EntryKind::Tree.into(), write(inner, objects)?),
        };
        tree.entries.push(Entry { mode, filename, oid: id.gix() });
    }
    // git's order is not that of the names: a folder sorts as if it ended in a slash.
    tree.entries.sort();
    let mut body = Vec::new();
    gix::objs::WriteTo::write_to(&tree, &mut body)?;
    objects.add(Kind::Tree, body)
}
