//! Cherry-pick, revert and merge, done by git's own merge so that its answer is the only one.
//!
//! Git writes into a folder that only this merge sees: what nobody keeps, as in a dry run, leaves no trace.

use bstr::ByteSlice as _;

use super::{
    GitError, Oid, RefName, RepoPath, Signature,
    blocking::blocking,
    change::NewCommit,
    cli::Git,
    commit_object::CommitText,
    commit_tree::tree_of,
    open::open,
    refs::{ExpectedValue, RefMove},
    side_store::{Helpers, SideStore},
};

pub use super::side_store::CleanMerge;

/// Cherry-pick or revert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    CherryPick,
    Revert,
}

/// The kind of object in a conflict message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Commit,
    MergeRequest,
}

impl Operation {
    /// What is said when it cannot be done: the same for an empty result and for a conflict.
    pub fn refusal(self, subject: Subject) -> String {
        let (verb, done) = match self {
            Self::CherryPick => ("cherry-pick", "cherry-picked"),
            Self::Revert => ("revert", "reverted"),
        };
        let subject = match subject {
            Subject::Commit => "commit",
            Subject::MergeRequest => "merge request",
        };
        format!(
            "Sorry, we cannot {verb} this {subject} automatically. This {subject} may already have been {done}, \
             or a more recent commit may have updated some of its content."
        )
    }

    /// Translates an empty result and a conflict; any other failure stays what it is.
    pub fn explain(self, error: GitError, subject: Subject) -> kernel::Error {
        let code = match &error {
            GitError::Empty => "empty",
            GitError::Conflict(_) => "conflict",
            _ => return error.into(),
        };
        kernel::Error::bad_request().coded(self.refusal(subject), code)
    }
}

/// A commit to be picked or reverted onto a branch.
#[derive(Clone, Debug)]
pub struct Apply {
    pub operation: Operation,
    pub branch: RefName,
    /// Where the branch is.
    pub tip: Oid,
    pub commit: Oid,
    pub committer: Signature,
    /// Instead of the usual message.
    pub message: Option<String>,
}

/// A commit that could be made, for a dry run to look at and for [`Ready::write`] to make durable.
pub struct Ready {
    combined: CleanMerge,
    text: CommitText,
    branch: RefMove,
}

impl Ready {
    pub async fn write(self, git: &Git, repo: &RepoPath) -> Result<NewCommit, GitError> {
        let parent = self.text.parents.first().copied();
        let (id, bytes) = self.combined.store(git, repo, &self.text).await?;
        let branch = RefMove { new: Some(id), ..self.branch };
        Ok(NewCommit { id, parent, branch, first: false, bytes })
    }
}

/// Applies a commit, or its opposite, to a branch: [`GitError::Empty`] when nothing would change,
/// [`GitError::Conflict`] when git cannot do it alone. A merge counts as what it brought to its first parent.
pub async fn apply(git: &Git, repo: &RepoPath, request: Apply) -> Result<Ready, GitError> {
    let place = repo.clone();
    let (request, plan) = blocking(move || {
        let plan = Plan::of(&place, &request)?;
        Ok((request, plan))
    })
    .await?;
    let combined = three_way(git, repo, &plan).await?;
    if combined.tree == plan.ours {
        return Err(GitError::Empty);
    }
    let text = CommitText {
        tree: combined.tree,
        parents: vec![request.tip],
        author: plan.author,
        committer: request.committer,
        message: request.message.unwrap_or(plan.message),
    };
    let branch =
        RefMove { name: request.branch, old: ExpectedValue::Exactly(request.tip), new: None };
    Ok(Ready { combined, text, branch })
}

/// The three trees of a pick or revert, and what its commit says unless told otherwise.
struct Plan {
    base: Oid,
    ours: Oid,
    theirs: Oid,
    author: Signature,
    message: String,
}

impl Plan {
    fn of(repo: &RepoPath, request: &Apply) -> Result<Self, GitError> {
        let repo = open(repo)?;
        let ours = tree_of(&repo, request.tip)?;
        let commit = repo.find_commit(request.commit.gix()).or(Err(GitError::NotFound))?;
        let after = tree_of(&repo, request.commit)?;
        let before = match commit.parent_ids().next() {
            Some(parent) => tree_of(&repo, Oid::of(&parent))?,
            None => Oid::EMPTY_TREE,
        };
        let text = commit.message_raw().map_err(GitError::corrupt)?.to_str_lossy();
        Ok(match request.operation {
            Operation::CherryPick => {
                let author = author_of(&commit)?;
                let message = cherry_pick_message(&text, request.commit);
                Self { base: before, ours, theirs: after, author, message }
            }
            Operation::Revert => {
                let author = request.committer.clone();
                let message =
                    revert_message(text.lines().next().unwrap_or_default(), request.commit);
                Self { base: after, ours, theirs: before, author, message }
            }
        })
    }
}

pub fn cherry_pick_message(original: &str, commit: Oid) -> String {
    format!("{original}\n\n(cherry picked from commit {commit})")
}

pub fn revert_message(title: &str, commit: Oid) -> String {
    format!("Revert \"{title}\"\n\nThis reverts commit {commit}")
}

/// A merge request, as the commit that merged it is picked or reverted.
#[derive(Clone, Debug)]
pub struct MergedRequest {
    pub iid: i64,
    /// What it brought, oldest first: short ids and titles.
    pub commits: Vec<(String, String)>,
}

impl MergedRequest {
    /// What the new commit says unless told otherwise.
    pub fn message(&self, operation: Operation, original: &str, commit: Oid) -> String {
        if operation == Operation::Revert {
            let title = original.lines().next().unwrap_or_default();
            return format!("Revert \"{title}\"\n\nThis reverts merge request !{}", self.iid);
        }
        let mut message = cherry_pick_message(original, commit);
        for (place, (short, title)) in self.commits.iter().enumerate() {
            let before = if place == 0 { "\n\n" } else { "\n" };
            message.push_str(&format!("{before}{short} {title}"));
        }
        message
    }
}

fn author_of(commit: &gix::Commit<'_>) -> Result<Signature, GitError> {
    let author = commit.author().map_err(GitError::corrupt)?;
    // Old tools wrote times that cannot be read; git shows those as the epoch too.
    let time = author.time().unwrap_or_default();
    Ok(Signature {
        name: author.name.to_str_lossy().into_owned(),
        email: author.email.to_str_lossy().into_owned(),
        at: time.seconds,
        offset: time.offset,
    })
}

/// The tree of a merge that nobody keeps: as [`merge`], for whoever only wants to know whether git can.
pub async fn try_merge(
    git: &Git,
    repo: &RepoPath,
    ours: Oid,
    theirs: Oid,
) -> Result<Oid, GitError> {
    SideStore::new(repo).await?.merge_tree(git, repo, ours, theirs).await
}

/// Merges two commits by their history. [`GitError::Conflict`] without paths: they have none in common.
pub async fn merge(
    git: &Git,
    repo: &RepoPath,
    ours: Oid,
    theirs: Oid,
) -> Result<CleanMerge, GitError> {
    let side = SideStore::new(repo).await?;
    let tree = side.merge_tree(git, repo, ours, theirs).await?;
    side.take(tree, &Helpers::default()).await
}

/// Whether a branch at `tip` may simply move forward to `to`.
pub async fn is_ancestor(git: &Git, repo: &RepoPath, tip: Oid, to: Oid) -> Result<bool, GitError> {
    let output = git.at(repo, "merge-base").args(["--is-ancestor"]).id(tip).id(to).output().await?;
    match output.status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(output.failure("merge-base")),
    }
}

/// Merges trees over a base of our choice.
async fn three_way(git: &Git, repo: &RepoPath, plan: &Plan) -> Result<CleanMerge, GitError> {
    let mut side = SideStore::new(repo).await?;
    let mut helpers = Helpers::default();
    let trees = (plan.base, plan.ours, plan.theirs);
    let tree = side.three_way(git, repo, trees, &mut helpers).await?;
    side.take(tree, &helpers).await
}
