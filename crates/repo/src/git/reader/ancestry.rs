//! Ancestors and descendants of commits.

use std::cmp::Reverse;

use gix::{ObjectId, hashtable::HashMap, traverse::commit::ParentIds};

use super::{LogQuery, Reader, Tips, graph::Graph};
use crate::git::{Deadline, GitError, Oid, RefInfo, RefKind, RefName, Result};

impl Reader {
    /// The refs of one kind whose history contains the commit, by name.
    pub fn containing(&self, id: Oid, kind: RefKind, deadline: Deadline) -> Result<Vec<RefName>> {
        let refs = match kind {
            RefKind::Branch => self.branches()?,
            RefKind::Tag => self.tag_refs()?,
            RefKind::Other => {
                let is_other = |one: &RefInfo| one.name.kind() == RefKind::Other;
                self.all_refs()?.into_iter().filter(is_other).collect()
            }
        };
        let mut search = Search::new(self, id)?;
        let mut names = Vec::new();
        for RefInfo { name, commit, .. } in refs {
            if let Some(commit) = commit
                && search.is_below(commit.gix(), deadline)?
            {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Whether `ancestor` is `descendant` or leads to it.
    pub fn is_ancestor(&self, ancestor: Oid, descendant: Oid, deadline: Deadline) -> Result<bool> {
        Search::new(self, ancestor)?.is_below(descendant.gix(), deadline)
    }

    /// Which of `tips` contain the commit, in one search.
    pub fn descendants(&self, ancestor: Oid, tips: &[Oid], deadline: Deadline) -> Result<Vec<Oid>> {
        let mut search = Search::new(self, ancestor)?;
        let mut found = Vec::new();
        for tip in tips {
            if search.is_below(tip.gix(), deadline)? {
                found.push(*tip);
            }
        }
        Ok(found)
    }

    /// All best common ancestors of the first commit and a merge of the others, the newest first.
    pub fn merge_bases(&self, ids: &[Oid]) -> Result<Vec<Oid>> {
        let Some((one, others)) = ids.split_first() else { return Ok(Vec::new()) };
        let others: Vec<ObjectId> = others.iter().map(|id| id.gix()).collect();
        if others.is_empty() {
            return Ok(vec![*one]);
        }
        let bases = self.repo.merge_bases_many(one.gix(), &others)?;
        let bases: Vec<Oid> = bases.into_iter().map(|id| Oid::of(&id)).collect();
        self.without_ancestors(bases)
    }

    /// gix also lists worse bases where commit dates lie, and keeps no order.
    fn without_ancestors(&self, mut bases: Vec<Oid>) -> Result<Vec<Oid>> {
        if bases.len() < 2 {
            return Ok(bases);
        }
        let mut graph = Graph::new(&self.repo)?;
        let mut times = HashMap::default();
        for base in &bases {
            times.insert(base.gix(), graph.links(base.gix())?.time);
        }
        bases.sort_by_key(|base| Reverse(times.get(&base.gix()).copied()));
        let mut best = Vec::new();
        for base in &bases {
            let below = self.descendants(*base, &bases, Deadline::NEVER)?;
            if below.iter().all(|found| found == base) {
                best.push(*base);
            }
        }
        Ok(best)
    }

    pub fn merge_base(&self, ids: &[Oid]) -> Result<Option<Oid>> {
        Ok(self.merge_bases(ids)?.into_iter().next())
    }

    /// How many commits `tip` has that `base` lacks, and the other way round.
    pub fn ahead_behind(&self, tip: Oid, base: Oid, deadline: Deadline) -> Result<(usize, usize)> {
        Ok((self.count_missing(tip, base, deadline)?, self.count_missing(base, tip, deadline)?))
    }

    fn count_missing(&self, tip: Oid, base: Oid, deadline: Deadline) -> Result<usize> {
        let query = LogQuery { exclude: vec![base], ..LogQuery::new(Tips::One(tip)) };
        Ok(self.log_ids(&query, deadline)?.len())
    }
}

/// Answers for many tips whether one commit is among their ancestors, and looks at each commit only once.
struct Search<'r> {
    graph: Graph<'r>,
    /// Of the target.
    generation: Option<u32>,
    known: HashMap<ObjectId, bool>,
}

impl<'r> Search<'r> {
    fn new(reader: &'r Reader, target: Oid) -> Result<Self> {
        let mut graph = Graph::new(&reader.repo)?;
        let target = reader.peel_to_commit(target.gix())?;
        let generation = graph.links(target)?.generation;
        Ok(Self { graph, generation, known: HashMap::from_iter([(target, true)]) })
    }

    fn is_below(&mut self, tip: ObjectId, deadline: Deadline) -> Result<bool> {
        if let Some(known) = self.known.get(&tip) {
            return Ok(*known);
        }
        let parents = self.parents(tip)?;
        let mut path: Vec<(ObjectId, ParentIds)> = vec![(tip, parents)];
        while let Some((id, parents)) = path.last_mut() {
            deadline.check()?;
            let Some(parent) = parents.pop() else {
                self.known.insert(*id, false);
                path.pop();
                continue;
            };
            match self.known.get(&parent) {
                Some(true) => {
                    self.known.extend(path.into_iter().map(|(id, _)| (id, true)));
                    return Ok(true);
                }
                Some(false) => {}
                None => {
                    let parents = self.parents(parent)?;
                    path.push((parent, parents));
                }
            }
        }
        Ok(false)
    }

    /// None where the generation says that the target cannot lie further down.
    fn parents(&mut self, id: ObjectId) -> Result<ParentIds> {
        let links = self.graph.links(id).map_err(GitError::lost)?;
        let is_hopeless = match (links.generation, self.generation) {
            (Some(own), Some(wanted)) => own <= wanted,
            // The commit-graph file holds all ancestors of what it holds.
            (Some(_), None) => self.graph.has_file(),
            (None, _) => false,
        };
        Ok(if is_hopeless { ParentIds::new() } else { links.parents })
    }
}
