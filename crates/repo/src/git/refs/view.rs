//! Reads refs: from files of their own and from `packed-refs`.

use std::{cell::OnceCell, collections::HashMap};

use super::{
    loose::{self, LooseRef},
    packed::PackedRefs,
};
use crate::git::{GitError, Oid, RefName, RepoPath, Result};

/// As git follows them.
const MOST_STEPS: usize = 5;

/// Reads the file of many refs when it is first needed, and once: who holds locks sees in it what he has locked.
pub(super) struct View<'r> {
    repo: &'r RepoPath,
    packed: OnceCell<PackedRefs>,
}

impl<'r> View<'r> {
    pub(super) fn new(repo: &'r RepoPath) -> Self {
        Self { repo, packed: OnceCell::new() }
    }

    pub(super) fn packed(&self) -> Result<&PackedRefs> {
        if let Some(packed) = self.packed.get() {
            return Ok(packed);
        }
        let packed = PackedRefs::open(self.repo)?;
        Ok(self.packed.get_or_init(|| packed))
    }

    /// The object that a ref names in the end.
    pub(super) fn find(&self, name: &RefName) -> Result<Option<Oid>> {
        let mut name = name.clone();
        for _ in 0..MOST_STEPS {
            match loose::find(self.repo, &name)? {
                Some(LooseRef::Id(id)) => return Ok(Some(id)),
                Some(LooseRef::Symbolic(other)) => name = other,
                Some(LooseRef::Damage) => {
                    let text = format!("the file of the ref {name} is damaged");
                    return Err(GitError::Corrupt(text));
                }
                None => return self.packed()?.find(&name),
            }
        }
        Err(GitError::Corrupt(format!("the ref {name} leads in a circle")))
    }

    /// The same for whoever deletes it: a damaged file goes with it, and says nothing, as with git.
    pub(super) fn find_to_delete(&self, name: &RefName) -> Result<Option<Oid>> {
        match loose::find(self.repo, name)? {
            Some(LooseRef::Damage) => self.packed()?.find(name),
            _ => self.find(name),
        }
    }
}

/// Where refs are now, without any lock; one that is not there is left out.
pub fn read(repo: &RepoPath, names: &[RefName]) -> Result<HashMap<RefName, Oid>> {
    let mut found = HashMap::new();
    let mut others = Vec::new();
    for name in names.iter().filter(|name| name.is_storable()) {
        match loose::find(repo, name)? {
            Some(LooseRef::Id(id)) => drop(found.insert(name.clone(), id)),
            Some(LooseRef::Symbolic(_) | LooseRef::Damage) | None => others.push(name),
        }
    }
    // Only now: a ref that is put there while we look loses its own file afterwards.
    let view = View::new(repo);
    for name in others {
        found.extend(view.find(name)?.map(|id| (name.clone(), id)));
    }
    Ok(found)
}
