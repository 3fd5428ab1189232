//! The tree of a commit, and whether both are what their names say.

use super::{GitError, Oid, Result};

/// The tree of a commit, unexamined.
pub(super) fn tree_of(repo: &gix::Repository, commit: Oid) -> Result<Oid> {
    let commit = repo.find_commit(commit.gix()).map_err(GitError::corrupt)?;
    Ok(Oid::of(&commit.tree_id().map_err(GitError::corrupt)?))
}

/// The tree of a commit whose bytes, and those of the tree, are what their names say; nothing where they are not.
pub(super) fn sound_tree_of(repo: &gix::Repository, commit: Oid) -> Result<Option<Oid>> {
    let is_sound = |id: Oid| match repo.try_find_object(id.gix()) {
        Ok(Some(found)) => {
            let name = gix::objs::compute_hash(gix::hash::Kind::Sha1, found.kind, &found.data);
            name.is_ok_and(|name| Oid::of(&name) == id)
        }
        Ok(None) | Err(_) => false,
    };
    if !is_sound(commit) {
        return Ok(None);
    }
    let tree = tree_of(repo, commit)?;
    Ok((tree == Oid::EMPTY_TREE || is_sound(tree)).then_some(tree))
}
