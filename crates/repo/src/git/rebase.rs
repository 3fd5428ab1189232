//! Moving a branch onto another commit: each of its commits made anew there, by its author and with its words.

use super::blocking::blocking;
use super::commit_object::CommitText;
use super::side_store::{Helpers, SideStore};
use super::{Git, GitError, Oid, Reader, RepoPath, Signature};

/// Longer branches are rebased by those who know them.
const MOST_COMMITS: usize = 1000;

/// A branch made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RebaseResult {
    pub tip: Oid,
    pub commits: i64,
    /// How many bytes were written.
    pub bytes: i64,
}

/// Makes the commits of `head` that `onto` lacks anew on top of it. Merges are left out, and so is what changes nothing
/// there any more. [`GitError::Conflict`] when git cannot do it alone.
pub async fn rebase(
    git: &Git,
    repo: &RepoPath,
    head: Oid,
    onto: Oid,
    committer: &Signature,
) -> Result<RebaseResult, GitError> {
    let listed = commits(git, repo, head, onto).await?;
    if listed.len() > MOST_COMMITS {
        return Err(GitError::TooLarge);
    }
    let count = i64::try_from(listed.len()).unwrap_or(i64::MAX);
    let (place, wanted) = (repo.clone(), listed.clone());
    let steps = blocking(move || steps(&place, &wanted, onto)).await?;
    let (mut tip, mut tree) = (onto, steps.onto_tree);
    if steps.is_in_place(onto) {
        return Ok(RebaseResult { tip: head, commits: count, bytes: 0 });
    }
    let mut side = SideStore::new(repo).await?;
    let mut helpers = Helpers::default();
    let mut made = 0;
    for step in steps.picks {
        let picked =
            side.three_way(git, repo, (step.before, tree, step.after), &mut helpers).await?;
        // What it did is there already; a commit that never changed anything stays one.
        if picked == tree && step.before != step.after {
            continue;
        }
        let text = CommitText {
            tree: picked,
            parents: vec![tip],
            author: step.author,
            committer: committer.clone(),
            message: step.message,
        };
        tip = side.write(&text).await?;
        tree = picked;
        made += 1;
    }
    let bytes = side.keep(git, repo, &helpers).await?;
    Ok(RebaseResult { tip, commits: made, bytes })
}

/// Oldest first; those that the target has in other words are left out.
async fn commits(git: &Git, repo: &RepoPath, head: Oid, onto: Oid) -> Result<Vec<Oid>, GitError> {
    let call = git.at(repo, "rev-list").args([
        "--reverse",
        "--topo-order",
        "--no-merges",
        "--right-only",
        "--cherry-pick",
    ]);
    let listing = call.arg(format!("{onto}...{head}")).succeed().await?;
    String::from_utf8_lossy(&listing).lines().map(str::parse).collect()
}

struct Steps {
    onto_tree: Oid,
    /// Whether every commit lies on the one before it.
    in_line: bool,
    first_parent: Option<Oid>,
    picks: Vec<Pick>,
}

impl Steps {
    /// Whether there is nothing to move.
    fn is_in_place(&self, onto: Oid) -> bool {
        self.in_line && self.first_parent == Some(onto)
    }
}

struct Pick {
    before: Oid,
    after: Oid,
    author: Signature,
    message: String,
}

fn steps(repo: &RepoPath, commits: &[Oid], onto: Oid) -> Result<Steps, GitError> {
    let reader = Reader::open_uncached(repo)?;
    let mut picks = Vec::with_capacity(commits.len());
    let (mut in_line, mut first_parent, mut last) = (true, None, None);
    for id in commits {
        let commit = reader.commit(*id)?;
        let parent = commit.parents.first().copied();
        let before = match parent {
            Some(parent) => reader.commit(parent)?.tree,
            None => Oid::EMPTY_TREE,
        };
        match last {
            None => first_parent = parent,
            Some(_) => in_line &= parent == last,
        }
        last = Some(*id);
        let (author, message) = (commit.author, commit.message);
        picks.push(Pick { before, after: commit.tree, author, message });
    }
    Ok(Steps { onto_tree: reader.commit(onto)?.tree, in_line, first_parent, picks })
}
