//! Lists of commits.

use gix::{
    ObjectId,
    traverse::commit::{Parents, topo},
};

use super::{
    Reader, commits,
    diff::follow::PathHistory,
    graph::Graph,
    path_filter::PathFilter,
    walk::{Limits, Walk},
};
use crate::git::{CommitInfo, Deadline, FileMode, GitError, Oid, Result, TreePath};

/// The start of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tips {
    One(Oid),
    Many(Vec<Oid>),
    /// Every ref of the repository and HEAD, but not what only keeps commits alive.
    AllRefs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Newest first by committer date.
    #[default]
    CommitTime,
    /// No parent before its children, and no line of history interrupted by another.
    Topo,
}

/// Which commits are wanted. To learn whether more follow, ask for one more than is shown.
#[derive(Clone, Debug)]
pub struct LogQuery {
    pub tips: Tips,
    pub exclude: Vec<Oid>,
    pub path: Option<TreePath>,
    /// With a path that is a file: goes on under its former name where it was renamed, like `git log --follow`.
    pub follow: bool,
    /// Committer dates in seconds, both inclusive.
    pub since: Option<i64>,
    pub until: Option<i64>,
    pub first_parent: bool,
    pub order: Order,
    /// Part of the author's `Name <e-mail>`.
    pub author: Option<String>,
    pub skip: usize,
    pub take: usize,
}

impl LogQuery {
    /// Everything that leads to `tips`.
    pub fn new(tips: Tips) -> Self {
        Self {
            tips,
            exclude: Vec::new(),
            path: None,
            follow: false,
            since: None,
            until: None,
            first_parent: false,
            order: Order::CommitTime,
            author: None,
            skip: 0,
            take: usize::MAX,
        }
    }

    pub fn of(tip: Oid) -> Self {
        Self::new(Tips::One(tip))
    }
}

const KEEP_AROUND: &[u8] = b"refs/keep-around/";

impl Reader {
    pub fn log(&self, query: &LogQuery, deadline: Deadline) -> Result<Vec<CommitInfo>> {
        self.commits(&self.log_ids(query, deadline)?)
    }

    /// As [`log`](Self::log), without reading the commits.
    pub fn log_ids(&self, query: &LogQuery, deadline: Deadline) -> Result<Vec<Oid>> {
        let tips = self.tips(&query.tips)?;
        let mut page = Page::new(self, query)?;
        if query.take == 0 {
            return Ok(Vec::new());
        }
        if let Some(path) = query.path.as_ref().filter(|path| !path.is_root())
            && query.follow
            && !self.is_folder(&tips, path)?
        {
            return self.log_of_file(query, &tips, path, page, deadline);
        }
        if self.can_sort_lazily(query, &tips)? {
            return self.log_lazily_sorted(query, &tips, page, deadline);
        }
        let filter = query.path.as_ref().and_then(|path| PathFilter::new(self, path));
        let mut walk = self.walk(query, &tips, filter, deadline)?;
        if query.exclude.is_empty() && query.order == Order::CommitTime {
            while let Some(id) = walk.next()? {
                if page.is_full_with(id)? {
                    break;
                }
            }
            return Ok(page.into_ids());
        }
        for id in sorted(&mut walk, query.order)? {
            if walk.is_shown(id) && page.is_full_with(id)? {
                break;
            }
        }
        Ok(page.into_ids())
    }

    /// The newest commit that leads to `tip` and changed the path.
    pub fn last_commit(
        &self,
        tip: Oid,
        path: &TreePath,
        deadline: Deadline,
    ) -> Result<Option<Oid>> {
        let query = LogQuery { path: Some(path.clone()), take: 1, ..LogQuery::of(tip) };
        Ok(self.log_ids(&query, deadline)?.into_iter().next())
    }

    fn tips(&self, tips: &Tips) -> Result<Vec<ObjectId>> {
        match tips {
            Tips::One(id) => Ok(vec![self.peel_to_commit(id.gix())?]),
            Tips::Many(ids) => ids.iter().map(|id| self.peel_to_commit(id.gix())).collect(),
            Tips::AllRefs => {
                let mut found: Vec<ObjectId> = self
                    .all_refs()?
                    .into_iter()
                    .filter(|known| !known.name.as_bstr().starts_with(KEEP_AROUND))
                    .filter_map(|known| known.commit.map(Oid::gix))
                    .collect();
                match self.resolve("HEAD") {
                    Ok(head) => found.push(head.gix()),
                    Err(GitError::NotFound) => {}
                    Err(failure) => return Err(failure),
                }
                Ok(found)
            }
        }
    }

    fn walk<'r>(
        &'r self,
        query: &LogQuery,
        tips: &[ObjectId],
        filter: Option<PathFilter<'r>>,
        deadline: Deadline,
    ) -> Result<Walk<'r>> {
        let limits = Limits {
            since: query.since,
            until: query.until,
            first_parent: query.first_parent,
            deadline,
        };
        let mut walk = Walk::new(Graph::new(&self.repo)?, limits, filter);
        for id in &query.exclude {
            walk.exclude(self.peel_to_commit(id.gix())?)?;
        }
        for id in tips {
            walk.include(*id)?;
        }
        Ok(walk)
    }

    fn is_folder(&self, tips: &[ObjectId], path: &TreePath) -> Result<bool> {
        let Some(tip) = tips.first() else { return Ok(false) };
        let entry = self.find_entry(Oid::of(tip), path)?;
        Ok(entry.is_some_and(|entry| entry.mode == FileMode::Tree))
    }

    fn log_of_file(
        &self,
        query: &LogQuery,
        tips: &[ObjectId],
        path: &TreePath,
        mut page: Page<'_>,
        deadline: Deadline,
    ) -> Result<Vec<Oid>> {
        let mut walk = self.walk(query, tips, None, deadline)?;
        let mut follow = PathHistory::new(self, path, query.first_parent, deadline);
        if query.exclude.is_empty() && query.order == Order::CommitTime {
            while let Some(id) = walk.next()? {
                if follow.touches(&mut walk, id)? && page.is_full_with(id)? {
                    break;
                }
            }
            return Ok(page.into_ids());
        }
        for id in sorted(&mut walk, query.order)? {
            deadline.check()?;
            if follow.touches(&mut walk, id)? && page.is_full_with(id)? {
                break;
            }
        }
        Ok(page.into_ids())
    }

    /// With generation numbers, git's topological order can be found without walking to the end first.
    fn can_sort_lazily(&self, query: &LogQuery, tips: &[ObjectId]) -> Result<bool> {
        let is_plain = query.order == Order::Topo
            && tips.len() == 1
            && query.exclude.is_empty()
            && query.path.as_ref().is_none_or(TreePath::is_root)
            && query.since.is_none()
            && query.until.is_none();
        Ok(is_plain && Graph::new(&self.repo)?.has_file())
    }

    fn log_lazily_sorted(
        &self,
        query: &LogQuery,
        tips: &[ObjectId],
        mut page: Page<'_>,
        deadline: Deadline,
    ) -> Result<Vec<Oid>> {
        let walk = topo::Builder::new(&self.repo.objects)
            .with_tips(tips.iter().copied())
            .sorting(topo::Sorting::TopoOrder)
            .parents(if query.first_parent { Parents::First } else { Parents::All })
            .with_commit_graph(Graph::new(&self.repo)?.into_file())
            .build()?;
        for found in walk {
            deadline.check()?;
            if page.is_full_with(found?.id)? {
                break;
            }
        }
        Ok(page.into_ids())
    }
}

fn sorted(walk: &mut Walk<'_>, order: Order) -> Result<Vec<ObjectId>> {
    match order {
        Order::CommitTime => walk.all(),
        Order::Topo => walk.all_topological(),
    }
}

/// The part of a log that is wanted, as it fills.
struct Page<'r> {
    reader: &'r Reader,
    author: Option<&'r str>,
    skip: usize,
    take: usize,
    ids: Vec<Oid>,
}

impl<'r> Page<'r> {
    fn new(reader: &'r Reader, query: &'r LogQuery) -> Result<Self> {
        let author = query.author.as_deref().filter(|author| !author.is_empty());
        Ok(Self { reader, author, skip: query.skip, take: query.take, ids: Vec::new() })
    }

    /// Takes the next commit if it counts; true once nothing more is wanted.
    fn is_full_with(&mut self, id: ObjectId) -> Result<bool> {
        if !self.is_by_author(id)? {
            return Ok(false);
        }
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(false);
        }
        self.ids.push(Oid::of(&id));
        Ok(self.ids.len() >= self.take)
    }

    fn is_by_author(&self, id: ObjectId) -> Result<bool> {
        let Some(wanted) = self.author else { return Ok(true) };
        let object = self.reader.object(id)?;
        let commit = object.try_to_commit_ref()?;
        let author = commits::signature(commit.author, commit.encoding);
        Ok(format!("{} <{}>", author.name, author.email).contains(wanted))
    }

    fn into_ids(self) -> Vec<Oid> {
        self.ids
    }
}
