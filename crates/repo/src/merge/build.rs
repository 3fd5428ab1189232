//! The commits of one merge, durable before anything names them.

use kernel::task::spawn_blocking;

use crate::git::{
    CommitInfo, Deadline, Git, GitError, LogQuery, Oid, Reader, RepoPath, Result, Signature, Tips,
    commit_object::CommitText, merge::merge, objects::NewObjects,
};

/// The merge method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By a merge commit, always.
    Merge,
    /// By a merge commit, when the source begins where the target ends.
    Rebase,
    /// By moving on, when the source begins where the target ends.
    FastForward,
}

impl Method {
    pub fn needs_fast_forward(self) -> bool {
        self != Self::Merge
    }
}

/// The one commit that stands for all of the source.
#[derive(Clone, Debug)]
pub struct Squash {
    pub message: String,
    pub author: Signature,
}

/// The parameters of a merge.
#[derive(Clone, Debug)]
pub struct Plan {
    pub method: Method,
    /// Where the target is.
    pub target: Oid,
    /// The newest commit of the source.
    pub head: Oid,
    pub squash: Option<Squash>,
    /// Of the merge commit.
    pub message: String,
    /// Who merges: also the author of the merge commit.
    pub committer: Signature,
}

/// The created commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeResult {
    /// Where the target goes.
    pub tip: Oid,
    pub merge_commit: Option<Oid>,
    pub squash_commit: Option<Oid>,
    /// How many commits the target gets that it has not now.
    pub commits: i64,
    /// How many bytes were written.
    pub bytes: i64,
}

#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error("the target has moved on")]
    NotFastForward,
    #[error("merge conflict")]
    Conflict,
    #[error("there is nothing to merge")]
    Nothing,
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Makes the commits of a merge.
pub async fn build(git: &Git, repo: &RepoPath, plan: Plan) -> Result<MergeResult, MergeError> {
    let (place, target, head) = (repo.clone(), plan.target, plan.head);
    let looked = spawn_blocking(move || Divergence::read(&place, target, head));
    let sides = looked.await.map_err(GitError::corrupt)??;
    let base = sides.base.ok_or(MergeError::Conflict)?;
    if sides.ahead.is_empty() {
        return Err(MergeError::Nothing);
    }
    if plan.method.needs_fast_forward() && base != plan.target {
        return Err(MergeError::NotFastForward);
    }
    let squashed = match &plan.squash {
        Some(squash) => Some(sides.squash(git, repo, base, squash, &plan.committer).await?),
        None => None,
    };
    let source = squashed.map_or(plan.head, |(id, _)| id);
    let arriving = match squashed {
        Some(_) => 1,
        None => i64::try_from(sides.ahead.len()).unwrap_or(i64::MAX),
    };
    let written = squashed.map_or(0, |(_, bytes)| bytes);
    let done = MergeResult {
        tip: source,
        merge_commit: None,
        squash_commit: squashed.map(|(id, _)| id),
        commits: arriving,
        bytes: written,
    };
    if plan.method == Method::FastForward {
        return Ok(done);
    }
    let combined = match merge(git, repo, plan.target, source).await {
        Err(GitError::Conflict(_)) => return Err(MergeError::Conflict),
        combined => combined?,
    };
    let text = CommitText {
        tree: combined.tree,
        parents: vec![plan.target, source],
        author: plan.committer.clone(),
        committer: plan.committer,
        message: plan.message,
    };
    let (id, bytes) = combined.store(git, repo, &text).await?;
    Ok(MergeResult {
        tip: id,
        merge_commit: Some(id),
        commits: arriving.saturating_add(1),
        bytes: written.saturating_add(bytes),
        ..done
    })
}

/// The merge base of source and target, and the commits that the target lacks.
struct Divergence {
    base: Option<Oid>,
    head: CommitInfo,
    /// The commits of the source that the target lacks, newest first.
    ahead: Vec<Oid>,
}

impl Divergence {
    fn read(repo: &RepoPath, target: Oid, head: Oid) -> Result<Self> {
        let reader = Reader::open_uncached(repo)?;
        let query = LogQuery { exclude: vec![target], ..LogQuery::new(Tips::One(head)) };
        Ok(Self {
            base: reader.merge_base(&[target, head])?,
            head: reader.commit(head)?,
            ahead: reader.log_ids(&query, Deadline::NEVER)?,
        })
    }

    /// One commit that says what all of them did. A single one that says the same already is kept.
    async fn squash(
        &self,
        git: &Git,
        repo: &RepoPath,
        base: Oid,
        squash: &Squash,
        committer: &Signature,
    ) -> Result<(Oid, i64)> {
        let same = self.head.message.trim() == squash.message.trim();
        if self.ahead.len() == 1 && same && self.head.parents == [base] {
            return Ok((self.head.id, 0));
        }
        let text = CommitText {
            tree: self.head.tree,
            parents: vec![base],
            author: squash.author.clone(),
            committer: committer.clone(),
            message: squash.message.clone(),
        };
        let mut objects = NewObjects::default();
        let id = text.write(&mut objects)?;
        let bytes = objects.persist(git, repo).await?;
        Ok((id, bytes))
    }
}
