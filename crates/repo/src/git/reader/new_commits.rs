//! The contents of a new commit: its message, and the files that none of its parents has in that form.

use std::collections::HashMap;

use bstr::BString;
use gix::{
    ObjectId,
    diff::tree::{Recorder, State, recorder::Change},
    objs::TreeRefIter,
};

use super::Reader;
use crate::git::{GitError, Oid, Result};

/// A file with a content that none of the commit's parents has at this place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedFile {
    pub path: BString,
    pub id: Oid,
    /// Whether no parent has anything at this place.
    pub is_new: bool,
    /// Whether it is a file or a link; submodules are neither.
    pub is_blob: bool,
}

/// The commit as it was written.
#[derive(Clone, Debug)]
pub struct RawCommit {
    pub tree: Oid,
    pub parents: Vec<Oid>,
    pub message: BString,
    pub author_name: String,
    pub author_email: String,
    pub committer_email: String,
    pub is_signed: bool,
}

impl Reader {
    pub fn written(&self, id: Oid) -> Result<RawCommit> {
        let object = self.object(id.gix())?;
        let commit = object.try_to_commit_ref()?;
        let is_signed = commit.extra_headers.iter().any(|(name, _)| {
            let name: &[u8] = name.as_ref();
            name == b"gpgsig" || name == b"gpgsig-sha256"
        });
        let author = super::commits::signature(commit.author, commit.encoding);
        let committer = super::commits::signature(commit.committer, commit.encoding);
        Ok(RawCommit {
            tree: Oid::of(&commit.tree()),
            parents: commit.parents().map(|parent| Oid::of(&parent)).collect(),
            message: commit.message.to_owned(),
            author_name: author.name,
            author_email: author.email,
            committer_email: committer.email,
            is_signed,
        })
    }

    /// The files that a commit brings. What a merge takes from any of its parents is not brought by it.
    pub fn arrivals(&self, commit: &RawCommit) -> Result<Vec<AddedFile>> {
        let Some((first, others)) = commit.parents.split_first() else {
            return self.arrivals_since(None, commit.tree);
        };
        let mut found = self.arrivals_since(Some(*first), commit.tree)?;
        for other in others {
            if found.is_empty() {
                break;
            }
            let since: HashMap<BString, bool> = self
                .arrivals_since(Some(*other), commit.tree)?
                .into_iter()
                .map(|one| (one.path, one.is_new))
                .collect();
            found.retain_mut(|one| match since.get(&one.path) {
                None => false,
                Some(is_new) => {
                    one.is_new &= is_new;
                    true
                }
            });
        }
        Ok(found)
    }

    fn arrivals_since(&self, parent: Option<Oid>, tree: Oid) -> Result<Vec<AddedFile>> {
        let old = parent.map(|parent| self.tree_of(parent.gix())).transpose()?;
        if old == Some(tree.gix()) {
            return Ok(Vec::new());
        }
        let old = old.map(|old| self.object(old)).transpose()?;
        let old = old.as_ref().map(|old| old.data.as_slice()).unwrap_or_default();
        let new = self.object(tree.gix())?;
        let mut recorder = Recorder::default();
        gix::diff::tree(
            TreeRefIter::from_bytes(old, gix::hash::Kind::Sha1),
            TreeRefIter::from_bytes(&new.data, gix::hash::Kind::Sha1),
            State::default(),
            &self.repo.objects,
            &mut recorder,
        )
        .map_err(GitError::corrupt)?;
        Ok(recorder.records.into_iter().filter_map(arrival).collect())
    }

    /// The commit that an id leads to, through tags; `None` where that is a tree or a blob.
    pub fn peeled(&self, id: Oid) -> Result<Option<Oid>> {
        match self.peel_to_commit(id.gix()) {
            Ok(commit) => Ok(Some(Oid::of(&commit))),
            Err(GitError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How large an object is.
    pub fn size_of(&self, id: Oid) -> Result<u64> {
        Ok(self.header(id.gix())?.1)
    }
}

fn arrival(change: Change) -> Option<AddedFile> {
    let (mode, id, path, is_new): (_, ObjectId, _, _) = match change {
        Change::Addition { entry_mode, oid, path, .. } => (entry_mode, oid, path, true),
        Change::Modification { previous_oid, entry_mode, oid, path, .. } if oid != previous_oid => {
            (entry_mode, oid, path, false)
        }
        Change::Modification { .. } | Change::Deletion { .. } => return None,
    };
    let is_blob = !mode.is_commit();
    (!mode.is_tree()).then(|| AddedFile { path, id: Oid::of(&id), is_new, is_blob })
}
