//! The objects that refs name.

use std::collections::{HashMap, hash_map::Entry};

use gix::objs::Kind;

use super::packed::Target;
use crate::git::{GitError, Oid, RepoPath, Result, open::open};

const MOST_TAGS_OF_TAGS: usize = 32;

/// Looks at each object once.
pub(super) struct Objects {
    repo: gix::Repository,
    known: HashMap<Oid, (Kind, Target)>,
}

impl Objects {
    pub(super) fn open(repo: &RepoPath) -> Result<Self> {
        Ok(Self { repo: open(repo)?, known: HashMap::new() })
    }

    /// # Errors
    /// When it is not there, or a tag in front of it.
    pub(super) fn find(&mut self, id: Oid) -> Result<(Kind, Target)> {
        Ok(match self.known.entry(id) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                let kind = kind_of(&self.repo, id)?;
                let peeled = if kind == Kind::Tag { Some(peel(&self.repo, id)?) } else { None };
                *place.insert((kind, Target { id, peeled }))
            }
        })
    }
}

fn kind_of(repo: &gix::Repository, id: Oid) -> Result<Kind> {
    let header = repo.try_find_header(id.gix())?;
    let absent = || GitError::Corrupt(format!("a ref is to name {id}, which is not there"));
    Ok(header.ok_or_else(absent)?.kind())
}

/// What a tag stands for.
fn peel(repo: &gix::Repository, tag: Oid) -> Result<Oid> {
    let mut id = tag;
    for _ in 0..MOST_TAGS_OF_TAGS {
        if kind_of(repo, id)? != Kind::Tag {
            return Ok(id);
        }
        let object = repo.find_object(id.gix())?;
        id = Oid::of(&object.try_to_tag_ref()?.target());
    }
    Err(GitError::Corrupt(format!("the tag {tag} stands for too many other tags")))
}
