//! The commit graph: read from the commit-graph file if there is one, else from the commits.

use gix::{
    ObjectId,
    objs::{CommitRefIter, Find as _, Kind, commit::ref_iter::Token},
    traverse::commit::ParentIds,
};

use crate::git::{GitError, Result};

/// The parents and date of a commit, for walks.
#[derive(Clone, Debug)]
pub(super) struct Links {
    pub(super) parents: ParentIds,
    /// Committer date.
    pub(super) time: i64,
    pub(super) tree: ObjectId,
    /// One more than the parents' highest; only known inside the commit-graph file.
    pub(super) generation: Option<u32>,
}

pub(super) struct Graph<'r> {
    repo: &'r gix::Repository,
    file: Option<gix::commitgraph::Graph>,
    buffer: Vec<u8>,
}

impl<'r> Graph<'r> {
    pub(super) fn new(repo: &'r gix::Repository) -> Result<Self> {
        Ok(Self { repo, file: repo.commit_graph_if_enabled()?, buffer: Vec::new() })
    }

    pub(super) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    pub(super) fn into_file(self) -> Option<gix::commitgraph::Graph> {
        self.file
    }

    pub(super) fn links(&mut self, id: ObjectId) -> Result<Links> {
        if let Some(links) = self.links_in_file(id)? {
            return Ok(links);
        }
        let mut links = Links { parents: ParentIds::new(), time: 0, tree: id, generation: None };
        let found = self.repo.objects.try_find(&id, &mut self.buffer)?;
        let found = found.filter(|found| found.kind == Kind::Commit).ok_or(GitError::NotFound)?;
        for token in CommitRefIter::from_bytes(found.data, id.kind()) {
            match token? {
                Token::Tree { id } => links.tree = id,
                Token::Parent { id } => links.parents.push(id),
                Token::Committer { signature } => {
                    links.time = signature.seconds();
                    break;
                }
                _ => {}
            }
        }
        Ok(links)
    }

    fn links_in_file(&self, id: ObjectId) -> Result<Option<Links>> {
        let Some(file) = &self.file else { return Ok(None) };
        let Some(commit) = file.commit_by_id(id) else { return Ok(None) };
        let mut parents = ParentIds::new();
        for position in commit.iter_parents() {
            parents.push(file.id_at(position?).to_owned());
        }
        let generation = commit.generation();
        Ok(Some(Links {
            parents,
            time: i64::try_from(commit.committer_timestamp()).unwrap_or(i64::MAX),
            tree: commit.root_tree_id().to_owned(),
            // Very old writers left it at 0.
            generation: (generation > 0).then_some(generation),
        }))
    }
}
