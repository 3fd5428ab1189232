//! The walk behind every log: git's own rules for order, limits, exclusion and history simplification.
//!
//! Git's documentation leaves the order of commits with equal dates open; here, as in git, who was queued first
//! comes first, so that both list the same commits in the same order.

use std::{cmp::Reverse, collections::BinaryHeap};

use gix::{ObjectId, hashtable::HashMap};

use super::{
    graph::{Graph, Links},
    path_filter::{PathEntry, PathFilter},
};
use crate::git::{Deadline, GitError, Result};

/// How many more commits are looked at after the last interesting one, because dates may lie.
const SLOP: u32 = 5;

#[derive(Default)]
struct Node {
    links: Option<Links>,
    /// Was put into the queue once.
    seen: bool,
    /// Is in the queue now.
    queued: bool,
    /// Its parents were looked at.
    expanded: bool,
    /// Leads to an excluded commit's history.
    hidden: bool,
    /// Was itself named as excluded.
    bottom: bool,
    /// Changes nothing at the path.
    same: bool,
    /// What lies at the path, once it was looked up.
    found: Option<PathEntry>,
}

/// Highest date first; among equals the one that came first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct QueueEntry {
    time: i64,
    order: Reverse<u64>,
    id: ObjectId,
}

pub(super) struct Limits {
    pub(super) since: Option<i64>,
    pub(super) until: Option<i64>,
    pub(super) first_parent: bool,
    pub(super) deadline: Deadline,
}

pub(super) struct Walk<'r> {
    graph: Graph<'r>,
    limits: Limits,
    filter: Option<PathFilter<'r>>,
    nodes: HashMap<ObjectId, Node>,
    queue: BinaryHeap<QueueEntry>,
    queued: u64,
    /// How many of the queue are not hidden.
    interesting: usize,
}

impl<'r> Walk<'r> {
    pub(super) fn new(graph: Graph<'r>, limits: Limits, filter: Option<PathFilter<'r>>) -> Self {
        Self {
            graph,
            limits,
            filter,
            nodes: HashMap::default(),
            queue: BinaryHeap::new(),
            queued: 0,
            interesting: 0,
        }
    }

    pub(super) fn exclude(&mut self, id: ObjectId) -> Result<()> {
        self.hide(id);
        self.load(id)?;
        self.node(id).bottom = true;
        self.hide_parents(id);
        self.enqueue_once(id)
    }

    pub(super) fn include(&mut self, id: ObjectId) -> Result<()> {
        self.enqueue_once(id)
    }

    /// The next commit, where nothing is excluded.
    pub(super) fn next(&mut self) -> Result<Option<ObjectId>> {
        while let Some(id) = self.pop() {
            self.limits.deadline.check()?;
            let time = self.time(id);
            if self.limits.since.is_some_and(|since| time < since) {
                continue;
            }
            self.expand(id)?;
            if !self.is_too_new(time) && !self.node(id).same {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// All commits at once: whether a commit is excluded is only certain at the end.
    pub(super) fn all(&mut self) -> Result<Vec<ObjectId>> {
        let mut listed = Vec::new();
        let mut slop = SLOP;
        let mut last = i64::MAX;
        while let Some(id) = self.pop() {
            self.limits.deadline.check()?;
            let time = self.time(id);
            if self.limits.since.is_some_and(|since| time < since) {
                self.hide(id);
            }
            self.expand(id)?;
            if self.node(id).hidden {
                self.hide_parents(id);
                slop = self.slop_after(last, slop);
                if slop == 0 {
                    break;
                }
            } else if !self.is_too_new(time) {
                last = time;
                listed.push(id);
            }
        }
        listed.retain(|id| !self.node(*id).hidden);
        Ok(listed)
    }

    /// As [`all`](Self::all), each commit after all of its children and no line of history interrupted by another.
    pub(super) fn all_topological(&mut self) -> Result<Vec<ObjectId>> {
        let listed = self.all()?;
        let mut children: HashMap<ObjectId, usize> = listed.iter().map(|id| (*id, 0)).collect();
        for id in &listed {
            for parent in self.parents(*id) {
                if let Some(count) = children.get_mut(&parent) {
                    *count += 1;
                }
            }
        }
        let mut ready: Vec<ObjectId> =
            listed.iter().rev().filter(|id| children.get(*id) == Some(&0)).copied().collect();
        let mut sorted = Vec::with_capacity(listed.len());
        while let Some(id) = ready.pop() {
            for parent in self.parents(id) {
                let Some(count) = children.get_mut(&parent) else { continue };
                *count -= 1;
                if *count == 0 {
                    ready.push(parent);
                }
            }
            sorted.push(id);
        }
        Ok(sorted)
    }

    /// Whether a commit of [`all`](Self::all) changes something at the path.
    pub(super) fn is_shown(&mut self, id: ObjectId) -> bool {
        !self.node(id).same
    }

    /// The commit's parents; after simplification only those that are followed.
    pub(super) fn parents(&self, id: ObjectId) -> gix::traverse::commit::ParentIds {
        let links = self.nodes.get(&id).and_then(|node| node.links.as_ref());
        links.map(|links| links.parents.clone()).unwrap_or_default()
    }

    pub(super) fn tree(&mut self, id: ObjectId) -> Result<ObjectId> {
        Ok(self.load(id)?.tree)
    }

    fn is_too_new(&self, time: i64) -> bool {
        self.limits.until.is_some_and(|until| time > until)
    }

    fn node(&mut self, id: ObjectId) -> &mut Node {
        self.nodes.entry(id).or_default()
    }

    fn load(&mut self, id: ObjectId) -> Result<&Links> {
        let links = &mut self.nodes.entry(id).or_default().links;
        if links.is_none() {
            *links = Some(self.graph.links(id).map_err(GitError::lost)?);
        }
        links.as_ref().ok_or(GitError::NotFound)
    }

    fn time(&self, id: ObjectId) -> i64 {
        let links = self.nodes.get(&id).and_then(|node| node.links.as_ref());
        links.map_or(0, |links| links.time)
    }

    fn enqueue_once(&mut self, id: ObjectId) -> Result<()> {
        if self.node(id).seen {
            return Ok(());
        }
        let time = self.load(id)?.time;
        let node = self.node(id);
        node.seen = true;
        node.queued = true;
        let is_interesting = !node.hidden;
        self.interesting += usize::from(is_interesting);
        self.queue.push(QueueEntry { time, order: Reverse(self.queued), id });
        self.queued += 1;
        Ok(())
    }

    fn pop(&mut self) -> Option<ObjectId> {
        let id = self.queue.pop()?.id;
        let node = self.node(id);
        node.queued = false;
        let was_interesting = !node.hidden;
        self.interesting -= usize::from(was_interesting);
        Some(id)
    }

    fn hide(&mut self, id: ObjectId) {
        let node = self.node(id);
        let leaves = node.queued && !node.hidden;
        node.hidden = true;
        self.interesting -= usize::from(leaves);
    }

    /// Hides the ancestors that are already known; the others are hidden when the walk comes by.
    fn hide_parents(&mut self, id: ObjectId) {
        let mut pending = self.parents(id);
        while let Some(id) = pending.pop() {
            if !self.node(id).hidden {
                self.hide(id);
                pending.extend(self.parents(id));
            }
        }
    }

    fn slop_after(&self, last: i64, slop: u32) -> u32 {
        match self.queue.peek() {
            None => 0,
            Some(next) if last <= next.time || self.interesting > 0 => SLOP,
            Some(_) => slop - 1,
        }
    }

    fn expand(&mut self, id: ObjectId) -> Result<()> {
        if std::mem::replace(&mut self.node(id).expanded, true) {
            return Ok(());
        }
        if self.node(id).hidden {
            for parent in self.parents(id) {
                self.hide(parent);
                self.load(parent)?;
                self.hide_parents(parent);
                self.enqueue_once(parent)?;
            }
            return Ok(());
        }
        self.simplify(id)?;
        let followed = if self.limits.first_parent { 1 } else { usize::MAX };
        for parent in self.parents(id).into_iter().take(followed) {
            self.enqueue_once(parent)?;
        }
        Ok(())
    }

    /// Follows only the first parent that agrees with the commit about the path; a commit that agrees with all that
    /// matter changes nothing.
    fn simplify(&mut self, id: ObjectId) -> Result<()> {
        if self.filter.is_none() {
            return Ok(());
        }
        let parents = self.parents(id);
        if parents.is_empty() {
            let is_absent = self.is_surely_same(id) || self.found(id)?.is_none();
            self.node(id).same = is_absent;
            return Ok(());
        }
        let compared = if self.limits.first_parent { 1 } else { usize::MAX };
        let (mut relevant, mut relevant_change, mut other_change) = (false, false, false);
        for (nth, parent) in parents.into_iter().enumerate() {
            let is_relevant = self.is_relevant(parent);
            relevant |= is_relevant;
            if nth >= compared {
                break;
            }
            let is_same = (nth == 0 && self.is_surely_same(id)) || self.agree(id, parent)?;
            if !is_same {
                relevant_change |= is_relevant;
                other_change |= !is_relevant;
            } else if is_relevant {
                self.keep_only(id, parent);
                return Ok(());
            }
        }
        self.node(id).same = if relevant { !relevant_change } else { !other_change };
        Ok(())
    }

    fn is_relevant(&mut self, id: ObjectId) -> bool {
        let node = self.node(id);
        !node.hidden || node.bottom
    }

    fn keep_only(&mut self, id: ObjectId, parent: ObjectId) {
        let node = self.node(id);
        node.same = true;
        if let Some(links) = &mut node.links {
            links.parents = [parent].into_iter().collect();
        }
    }

    fn is_surely_same(&mut self, id: ObjectId) -> bool {
        self.filter.as_mut().is_some_and(|filter| filter.is_surely_same(id))
    }

    fn agree(&mut self, one: ObjectId, other: ObjectId) -> Result<bool> {
        if self.tree(one)? == self.tree(other)? {
            return Ok(true);
        }
        Ok(self.found(one)? == self.found(other)?)
    }

    fn found(&mut self, id: ObjectId) -> Result<PathEntry> {
        if let Some(found) = self.node(id).found {
            return Ok(found);
        }
        let tree = self.tree(id)?;
        let found = match &mut self.filter {
            Some(filter) => filter.find(tree)?,
            None => None,
        };
        self.node(id).found = Some(found);
        Ok(found)
    }
}
