//! The commits that a push brings to a branch.

use std::collections::{HashMap, HashSet, hash_map::Entry};

use super::{LogQuery, Reader, graph::Graph};
use crate::git::{Deadline, Oid, Result};

/// The commits that a branch gained by a move.
#[derive(Clone, Debug, Default)]
pub struct BranchCommits {
    /// Each commit that came, with the one of the branch's own line that brought it.
    pub commits: HashMap<Oid, Oid>,
    /// Whether the branch still has all that it had.
    pub forward: bool,
}

impl Reader {
    /// What came when a branch moved. However many commits that are, the history is walked once; then each of them is
    /// asked for its parents.
    pub fn brought(&self, before: Oid, after: Oid) -> Result<BranchCommits> {
        let query = LogQuery { exclude: vec![before], ..LogQuery::of(after) };
        let new: HashSet<Oid> = self.log_ids(&query, Deadline::NEVER)?.into_iter().collect();
        let mut graph = Graph::new(&self.repo)?;
        let mut line = Vec::new();
        let mut next = Some(after);
        while let Some(id) = next.filter(|id| new.contains(id)) {
            line.push(id);
            next = graph.links(id.gix())?.parents.first().map(|id| Oid::of(id));
        }
        let mut found =
            BranchCommits { commits: HashMap::with_capacity(new.len()), forward: before == after };
        // From the oldest on: whatever one of them leads to, and none before it did, came with it.
        for by in line.into_iter().rev() {
            let mut open = vec![by];
            while let Some(id) = open.pop() {
                if !new.contains(&id) {
                    found.forward |= id == before;
                } else if let Entry::Vacant(place) = found.commits.entry(id) {
                    place.insert(by);
                    open.extend(graph.links(id.gix())?.parents.iter().map(|id| Oid::of(id)));
                }
            }
        }
        Ok(found)
    }
}
