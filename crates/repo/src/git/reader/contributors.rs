//! Contributors of a repository.

use std::collections::HashMap;

use super::{LogQuery, Reader, commits};
use crate::git::{Deadline, Oid, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contributor {
    /// The name of the newest commit.
    pub name: String,
    pub email: String,
    pub commits: u64,
}

impl Reader {
    /// The authors of everything that leads to `tip`, merges aside, one for each e-mail address as it was written, the newest first.
    pub fn contributors(&self, tip: Oid, deadline: Deadline) -> Result<Vec<Contributor>> {
        let mut found: Vec<Contributor> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for id in self.log_ids(&LogQuery::of(tip), deadline)? {
            deadline.check()?;
            let object = self.object(id.gix())?;
            let commit = object.try_to_commit_ref()?;
            if commit.parents.len() > 1 {
                continue;
            }
            let author = commits::signature(commit.author, commit.encoding);
            let place = *places.entry(author.email.clone()).or_insert(found.len());
            match found.get_mut(place) {
                Some(known) => known.commits += 1,
                None => {
                    found.push(Contributor { name: author.name, email: author.email, commits: 1 })
                }
            }
        }
        Ok(found)
    }
}
