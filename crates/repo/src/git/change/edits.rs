//! File actions as they change a tree, and the paths that they may name.

use bstr::{BStr, ByteSlice as _};
use gix::objs::Kind;

use super::{ActionKind, ChangeError, FileAction, Refusal};
use crate::git::{
    FileMode, TreePath,
    objects::NewObjects,
    tree_edit::{Leaf, PathContent, TreeEdit},
};

/// Does to the tree what an action says.
pub(super) fn apply(
    tree: &mut TreeEdit<'_>,
    objects: &mut NewObjects,
    action: &FileAction,
) -> Result<(), ChangeError> {
    match action.kind {
        ActionKind::Create => create(tree, objects, action),
        ActionKind::Update => update(tree, objects, action),
        ActionKind::Move => relocate(tree, objects, action),
        ActionKind::Delete => {
            let path = normalize(action.path.as_bstr())?;
            leaf(tree, &path)?;
            Ok(tree.remove(&path)?)
        }
        ActionKind::Chmod => chmod(tree, action),
    }
}

fn create(
    tree: &mut TreeEdit<'_>,
    objects: &mut NewObjects,
    action: &FileAction,
) -> Result<(), ChangeError> {
    let path = writable(action.path.as_bstr())?;
    ensure_free(tree, &path)?;
    let id = objects.add(Kind::Blob, action.content.clone().unwrap_or_default())?;
    Ok(tree.put(&path, Leaf::file(id, mode(action)))?)
}

/// Keeps the mode: an executable stays one, and a link gets a new target.
fn update(
    tree: &mut TreeEdit<'_>,
    objects: &mut NewObjects,
    action: &FileAction,
) -> Result<(), ChangeError> {
    let path = normalize(action.path.as_bstr())?;
    let old = leaf(tree, &path)?;
    if old.mode.is_commit() {
        return Err(Refusal::FileMissing.into());
    }
    let id = objects.add(Kind::Blob, action.content.clone().unwrap_or_default())?;
    Ok(tree.put(&path, Leaf { id, ..old })?)
}

fn relocate(
    tree: &mut TreeEdit<'_>,
    objects: &mut NewObjects,
    action: &FileAction,
) -> Result<(), ChangeError> {
    let from =
        normalize(action.previous_path.as_ref().map_or(BStr::new(""), |path| path.as_bstr()))?;
    let to = writable(action.path.as_bstr())?;
    let mut moved = leaf(tree, &from)?;
    if moved.mode.is_link() && !may_be_a_link(&to) {
        return Err(Refusal::InvalidPath(action.path.to_string()).into());
    }
    match tree.find(&to)? {
        PathContent::Leaf(_) => return Err(Refusal::FileExists.into()),
        PathContent::Folder => return Err(Refusal::FolderExists.into()),
        PathContent::Nothing | PathContent::BelowFile => {}
    }
    tree.remove(&from)?;
    // Only now: the file in the way may have been the moved one.
    ensure_free(tree, &to)?;
    if let Some(content) = &action.content {
        if moved.mode.is_commit() {
            return Err(Refusal::FileMissing.into());
        }
        moved.id = objects.add(Kind::Blob, content.clone())?;
    }
    Ok(tree.put(&to, moved)?)
}

/// Links and submodules have no such bit.
fn chmod(tree: &mut TreeEdit<'_>, action: &FileAction) -> Result<(), ChangeError> {
    let path = normalize(action.path.as_bstr())?;
    let old = leaf(tree, &path)?;
    if !old.mode.is_blob() || old.mode.is_link() {
        return Err(Refusal::FileMissing.into());
    }
    Ok(tree.put(&path, Leaf::file(old.id, mode(action)))?)
}

fn mode(action: &FileAction) -> FileMode {
    if action.executable == Some(true) { FileMode::Executable } else { FileMode::File }
}

fn leaf(tree: &mut TreeEdit<'_>, path: &TreePath) -> Result<Leaf, ChangeError> {
    match tree.find(path)? {
        PathContent::Leaf(leaf) => Ok(leaf),
        PathContent::Nothing | PathContent::BelowFile | PathContent::Folder => {
            Err(Refusal::FileMissing.into())
        }
    }
}

fn ensure_free(tree: &mut TreeEdit<'_>, path: &TreePath) -> Result<(), ChangeError> {
    match tree.find(path)? {
        PathContent::Nothing => Ok(()),
        PathContent::Leaf(_) | PathContent::BelowFile => Err(Refusal::FileExists.into()),
        PathContent::Folder => Err(Refusal::FolderExists.into()),
    }
}

/// A path that a new entry may have.
fn writable(text: &BStr) -> Result<TreePath, Refusal> {
    let path = normalize(text)?;
    TreePath::new(path.as_bstr()).map_err(|_invalid| Refusal::InvalidPath(text.to_string()))
}

/// Git follows no link named `.gitmodules`, and refuses whoever brings one.
fn may_be_a_link(path: &TreePath) -> bool {
    use gix::validate::path::component;
    component(path.name(), Some(component::Mode::Symlink), component::Options::default()).is_ok()
}

/// A path as git spells it: `/a/./b/` is `a/b`. Anything stored can be named, so that it can be removed.
pub(super) fn normalize(text: &BStr) -> Result<TreePath, Refusal> {
    if text.is_empty() {
        return Err(Refusal::NoPath);
    }
    let parts = || text.split_str("/");
    if parts().any(|part| part == b"..") {
        return Err(Refusal::Traversal);
    }
    let kept: Vec<&[u8]> = parts().filter(|part| !matches!(*part, b"" | b".")).collect();
    if kept.is_empty() {
        return Err(Refusal::NoPath);
    }
    if text.contains_str("//") {
        return Err(Refusal::InvalidPath(text.to_string()));
    }
    let path = TreePath::lookup(bstr::join("/", kept));
    path.map_err(|_invalid| Refusal::InvalidPath(text.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{Refusal, normalize, writable};

    #[test]
    fn paths_are_spelled_as_git_does() {
        for (text, expected) in
            [("a", "a"), ("/a", "a"), ("./a/./b/", "a/b"), ("a b/ü", "a b/ü"), ("a\\b", "a\\b")]
        {
            assert_eq!(normalize(text.into()).unwrap().to_text(), expected);
        }
    }

    #[test]
    fn paths_that_nobody_may_write_are_refused() {
        let invalid = |text: &str| Refusal::InvalidPath(text.to_owned());
        for (text, refusal) in [
            ("", Refusal::NoPath),
            ("/", Refusal::NoPath),
            (".", Refusal::NoPath),
            ("..", Refusal::Traversal),
            ("../a", Refusal::Traversal),
            ("a/../../b", Refusal::Traversal),
            ("a//b", invalid("a//b")),
            (".git/config", invalid(".git/config")),
            ("a/.GIT", invalid("a/.GIT")),
            ("git~1", invalid("git~1")),
            (".g\u{200c}it/x", invalid(".g\u{200c}it/x")),
            ("a\\b", invalid("a\\b")),
            ("a\0b", invalid("a\0b")),
            ("a\nb", invalid("a\nb")),
        ] {
            assert_eq!(writable(text.into()), Err(refusal), "{text:?}");
        }
    }
}
