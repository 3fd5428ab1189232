//! A commit made of file actions: what the commits and files endpoints write.
//!
//! [`build`] answers the refusals of the contract in its order, and otherwise a commit whose objects are durable.
//! Nothing names it yet: the caller moves the branch with [`super::refs`].

mod edits;
mod refusal;

use std::collections::BTreeSet;

use bstr::{BStr, BString, ByteSlice as _};
use bytes::Bytes;
use gix::objs::Kind;
use kernel::task::spawn_blocking;

use edits::{apply, normalize};
pub use refusal::{ChangeError, Refusal};

use super::cli::Git;
use super::commit_object::CommitText;
use super::commit_tree::sound_tree_of;
use super::objects::{NewObjects, ObjectStorage};
use super::open::open;
use super::reader::{Reader, exactly};
use super::refs::{ExpectedValue, RefMove};
use super::transfer;
use super::tree_edit::TreeEdit;
use super::{Deadline, GitError, Oid, RefName, RepoPath, Signature, TreePath};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    Create,
    Update,
    Move,
    Delete,
    Chmod,
}

/// One action as the caller sent it; paths are checked here.
#[derive(Clone, Debug)]
pub struct FileAction {
    pub kind: ActionKind,
    /// As git has it: not every name is text.
    pub path: BString,
    /// Where a moved file was.
    pub previous_path: Option<BString>,
    /// A move without content keeps what the file says.
    pub content: Option<Bytes>,
    /// The last commit of the file that the caller has seen.
    pub last_commit_id: Option<String>,
    /// Acts on create and chmod.
    pub executable: Option<bool>,
}

impl FileAction {
    pub fn new(kind: ActionKind, path: impl Into<BString>) -> Self {
        Self {
            kind,
            path: path.into(),
            previous_path: None,
            content: None,
            last_commit_id: None,
            executable: None,
        }
    }

    pub fn content(mut self, content: impl Into<Bytes>) -> Self {
        self.content = Some(content.into());
        self
    }

    pub fn from(mut self, previous: impl Into<BString>) -> Self {
        self.previous_path = Some(previous.into());
        self
    }

    pub fn executable(mut self, executable: bool) -> Self {
        self.executable = Some(executable);
        self
    }

    pub fn seen(mut self, commit: impl Into<String>) -> Self {
        self.last_commit_id = Some(commit.into());
        self
    }

    /// The file and the commit that must still be its last. An id that cannot be read guards nothing.
    fn guard(&self) -> Option<(TreePath, Oid)> {
        if self.kind == ActionKind::Create {
            return None;
        }
        let seen = self.last_commit_id.as_deref()?.parse().ok()?;
        Some((normalize(self.known_as()).ok()?, seen))
    }

    /// The file as the caller knew it.
    fn known_as(&self) -> &BStr {
        self.previous_path.as_ref().unwrap_or(&self.path).as_bstr()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartAt {
    Branch(String),
    Sha(String),
}

/// The start commit of a change. The default is the branch itself.
#[derive(Clone, Debug, Default)]
pub struct Start {
    pub at: Option<StartAt>,
    /// Another repository of the fork network in which `at` is looked up.
    pub repository: Option<RepoPath>,
}

#[derive(Clone, Debug)]
pub struct Change {
    /// Without `refs/heads/`.
    pub branch: String,
    pub start: Start,
    /// Let the branch, wherever it is, become the new commit on top of the start.
    pub force: bool,
    pub actions: Vec<FileAction>,
    pub message: String,
    pub author: Signature,
    pub committer: Signature,
}

impl Change {
    /// Whether it is made on top of the branch that it moves, wherever that is.
    pub(crate) fn grows_from_its_branch(&self) -> bool {
        let from_branch = match &self.start.at {
            None => true,
            Some(StartAt::Branch(name)) => *name == self.branch,
            Some(StartAt::Sha(_)) => false,
        };
        from_branch && self.start.repository.is_none() && !self.force
    }

    /// Whether it acts on any of these files, or on a folder that holds one.
    pub(crate) fn touches_any(&self, paths: &BTreeSet<String>) -> bool {
        let own = self.actions.iter().flat_map(|one| one.previous_path.iter().chain([&one.path]));
        let own: Vec<_> = own.filter_map(|path| normalize(path.as_bstr()).ok()).collect();
        own.iter().any(|path| {
            let path = path.to_text();
            let holds = |outer: &str, inner: &str| {
                inner
                    .strip_prefix(outer)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            paths.iter().any(|other| holds(&path, other) || holds(other, &path))
        })
    }
}

/// A durable commit, and the move that makes it the branch's newest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommit {
    pub id: Oid,
    pub parent: Option<Oid>,
    pub branch: RefMove,
    /// The repository had no branch: HEAD is to name this one.
    pub first: bool,
    /// How many its objects take on disk.
    pub bytes: i64,
}

/// Makes the commit, or says why not.
pub async fn build(git: &Git, repo: &RepoPath, change: Change) -> Result<NewCommit, ChangeError> {
    let site = Site { place: repo.clone(), deadline: Deadline::after(git.time_limit()) };
    let (begun, site, change) =
        in_background(move || Ok((site.begin(&change)?, site, change))).await?;
    let (commit, stored) = match begun {
        CommitProgress::Written(written) => written,
        CommitProgress::From(ground) => {
            if let (Some(other), Some(parent)) = (&change.start.repository, ground.parent) {
                transfer::bring(git, other, repo, parent).await?;
            }
            in_background(move || site.write(&open(&site.place)?, ground, &change)).await?
        }
    };
    Ok(NewCommit { bytes: stored.persist(git, repo).await?, ..commit })
}

/// A commit, and where its objects are.
type WrittenCommit = (NewCommit, ObjectStorage);

/// The progress of a commit on its first thread: written, unless it starts in another repository.
enum CommitProgress {
    Written(WrittenCommit),
    From(CommitBase),
}

/// The repository in which a commit is created, and the deadline.
struct Site {
    place: RepoPath,
    deadline: Deadline,
}

impl Site {
    /// Opens the repository anew, to see what is on disk now, and once.
    fn begin(&self, change: &Change) -> Result<CommitProgress, ChangeError> {
        let own = open(&self.place)?;
        let ground = CommitBase::find(&own, &self.place, change)?;
        if change.start.repository.is_some() {
            return Ok(CommitProgress::From(ground));
        }
        Ok(CommitProgress::Written(self.write(&own, ground, change)?))
    }

    fn write(
        &self,
        own: &gix::Repository,
        ground: CommitBase,
        change: &Change,
    ) -> Result<WrittenCommit, ChangeError> {
        let guarded = change.actions.iter().any(|action| action.guard().is_some());
        if let Some(parent) = ground.parent.filter(|_| guarded) {
            let reader = Reader::open_uncached(&self.place)?;
            check_seen(&reader, parent, &change.actions, self.deadline)?;
        }
        let (commit, objects) = ground.commit(own, change)?;
        let stored = objects.store(own, &self.place)?;
        Ok((commit, stored))
    }
}

async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
) -> Result<T, ChangeError> {
    spawn_blocking(work).await.map_err(GitError::corrupt)?
}

/// The parent and tree of a new commit.
struct CommitBase {
    branch: RefName,
    tip: Option<Oid>,
    parent: Option<Oid>,
    first: bool,
}

impl CommitBase {
    fn find(own: &gix::Repository, repo: &RepoPath, change: &Change) -> Result<Self, ChangeError> {
        let tip = branch_tip(own, &change.branch)?;
        let other = change.start.repository.as_ref().filter(|other| *other != repo);
        let parent = match other {
            Some(other) => start(&open(other)?, change)?,
            None => start(own, change)?,
        };
        let elsewhere = other.is_some()
            || match &change.start.at {
                None => false,
                Some(StartAt::Branch(name)) => *name != change.branch,
                Some(StartAt::Sha(_)) => true,
            };
        if elsewhere && tip.is_some() && !change.force {
            return Err(Refusal::BranchExists(change.branch.clone()).into());
        }
        let name = match tip {
            Some(_) => RefName::branch(&change.branch),
            None => RefName::new_branch(&change.branch),
        };
        let Ok(branch) = name else {
            return Err(Refusal::of_branch_name(&change.branch).into());
        };
        let first = tip.is_none() && !has_branches(own)?;
        Ok(Self { branch, tip, parent, first })
    }

    fn commit(
        self,
        repo: &gix::Repository,
        change: &Change,
    ) -> Result<(NewCommit, NewObjects), ChangeError> {
        let base = match self.parent {
            Some(parent) => sound_tree_of(repo, parent)?
                .ok_or_else(|| Refusal::Damaged(change.branch.clone()))?,
            None => Oid::EMPTY_TREE,
        };
        let mut objects = NewObjects::default();
        let mut tree = TreeEdit::new(repo, base)?;
        for action in &change.actions {
            apply(&mut tree, &mut objects, action)?;
        }
        let tree = tree.write(&mut objects)?;
        if tree == base {
            return Err(Refusal::NothingChanged.into());
        }
        let text = CommitText {
            tree,
            parents: self.parent.into_iter().collect(),
            author: change.author.clone(),
            committer: change.committer.clone(),
            message: change.message.clone(),
        };
        let id = text.write(&mut objects)?;
        let branch =
            RefMove { name: self.branch, old: ExpectedValue::from(self.tip), new: Some(id) };
        let new = NewCommit { id, parent: self.parent, branch, first: self.first, bytes: 0 };
        Ok((new, objects))
    }
}

/// The commit to start from; none in an empty repository.
fn start(repo: &gix::Repository, change: &Change) -> Result<Option<Oid>, ChangeError> {
    let name = match &change.start.at {
        Some(StartAt::Sha(sha)) => return start_sha(repo, sha).map(Some),
        Some(StartAt::Branch(name)) => name,
        None => &change.branch,
    };
    match branch_tip(repo, name)? {
        Some(tip) => Ok(Some(tip)),
        None if has_branches(repo)? => Err(Refusal::NoBranch.into()),
        None => Ok(None),
    }
}

fn start_sha(repo: &gix::Repository, sha: &str) -> Result<Oid, ChangeError> {
    let Ok(id) = sha.parse::<Oid>() else {
        return Err(Refusal::InvalidStartSha(sha.to_owned()).into());
    };
    let found = repo.try_find_header(id.gix()).map_err(GitError::corrupt)?;
    match found.map(|header| header.kind()) {
        Some(Kind::Commit) => Ok(id),
        _ => Err(Refusal::UnknownStartSha(sha.to_owned()).into()),
    }
}

/// Where a branch is. A name that no branch can have is a branch that is not there.
pub(super) fn branch_tip(repo: &gix::Repository, name: &str) -> Result<Option<Oid>, GitError> {
    let Ok(name) = RefName::branch(name) else { return Ok(None) };
    let Some(mut reference) = exactly(repo, &name)? else { return Ok(None) };
    // A branch names a commit, which need not be read for that.
    if let Some(id) = reference.try_id() {
        return Ok(Some(Oid::of(&id)));
    }
    let id = reference.peel_to_id().map_err(GitError::corrupt)?;
    Ok(Some(Oid::of(&id)))
}

fn has_branches(repo: &gix::Repository) -> Result<bool, GitError> {
    let refs = repo.references().map_err(GitError::corrupt)?;
    let mut branches = refs.local_branches().map_err(GitError::corrupt)?;
    Ok(branches.next().is_some())
}

/// Refuses when a file was touched after the commit that its editor had seen.
fn check_seen(
    reader: &Reader,
    tip: Oid,
    actions: &[FileAction],
    deadline: Deadline,
) -> Result<(), ChangeError> {
    for action in actions {
        let Some((path, seen)) = action.guard() else { continue };
        if is_touched(reader, tip, seen, &path, deadline)? {
            return Err(Refusal::FileChanged(action.known_as().to_string()).into());
        }
    }
    Ok(())
}

/// Whether the last commit of a path is another one now than it was at `seen`.
fn is_touched(
    reader: &Reader,
    tip: Oid,
    seen: Oid,
    path: &TreePath,
    deadline: Deadline,
) -> Result<bool, GitError> {
    let now = reader.last_commit(tip, path, deadline)?;
    if now.is_none() || now == Some(seen) || tip == seen {
        return Ok(false);
    }
    match reader.last_commit(seen, path, deadline) {
        Ok(then) => Ok(then.is_some() && then != now),
        // The caller's id names nothing here, or no commit.
        Err(GitError::NotFound) => Ok(false),
        Err(error) => Err(error),
    }
}
