//! A commit made of file actions: what the commits and files endpoints write.
//!
//! [`build`] answers the refusals of the contract in its order, and otherwise a commit whose objects are durable.
//! Nothing names it yet: the caller moves the branch with [`super::refs`].

use bstr::{BStr, BString, ByteSlice as _};
use bytes::Bytes;
use gix::objs::Kind;
use tokio::task::spawn_blocking;

use super::cli::Git;
use super::commit_object::CommitText;
use super::objects::{NewObjects, Stored, open};
use super::reader::Reader;
use super::refs::{Expect, RefMove};
use super::transfer;
use super::tree_edit::{Found, Leaf, TreeEdit};
use super::{Deadline, FileMode, GitError, Oid, RefName, RepoPath, Signature, TreePath};

/// Why a change was not made, in the words of the contract.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("Invalid start_sha '{0}'")]
    InvalidStartSha(String),
    #[error("Cannot find start_sha '{0}'")]
    UnknownStartSha(String),
    #[error("You can only create or edit files when you are on a branch")]
    NoBranch,
    #[error("A branch called '{0}' already exists. Switch to that branch in order to make changes")]
    BranchExists(String),
    #[error("Something went wrong when we tried to create '{0}' for you: Branch name is invalid")]
    BranchNameInvalid(String),
    #[error("The file has changed since you started editing it: {0}")]
    FileChanged(String),
    #[error("A file with this name already exists")]
    FileExists,
    #[error("A file with this name doesn't exist")]
    FileMissing,
    #[error("A directory with this name already exists")]
    FolderExists,
    #[error("Path cannot include directory traversal")]
    Traversal,
    #[error("You must provide a file path")]
    NoPath,
    #[error("invalid path: '{0}'")]
    InvalidPath(String),
    #[error("Your changes could not be committed")]
    NothingChanged,
    #[error("Could not update {0}. Please refresh and try again.")]
    BranchMoved(RefName),
}

impl Refusal {
    /// The words of the endpoints that write a single file.
    pub fn of_one_file(&self, kind: ActionKind) -> String {
        match (self, kind) {
            (Self::FileChanged(_), ActionKind::Delete) => {
                "You are attempting to delete a file that has been previously updated.".to_owned()
            }
            (Self::FileChanged(_), _) => {
                "You are attempting to update a file that has changed since you started editing it."
                    .to_owned()
            }
            _ => self.to_string(),
        }
    }
}

/// A change that was refused, or could not be tried.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Git(#[from] GitError),
}

impl ChangeError {
    /// What the loser of a race for a branch is told; other failures stay what they are.
    pub fn of_move(name: &RefName, error: GitError) -> Self {
        match error {
            GitError::Stale { .. } | GitError::RefNameTaken => {
                Refusal::BranchMoved(name.clone()).into()
            }
            error => Self::Git(error),
        }
    }
}

impl From<ChangeError> for kernel::Error {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Refused(refusal) => Self::Rejected(refusal.to_string()),
            ChangeError::Git(error) => error.into(),
        }
    }
}

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

/// Where the commit grows from. The default is the branch itself.
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
        Begun::Written(written) => written,
        Begun::From(ground) => {
            if let (Some(other), Some(parent)) = (&change.start.repository, ground.parent) {
                transfer::bring(git, other, repo, parent).await?;
            }
            in_background(move || site.write(&open(&site.place)?, ground, &change)).await?
        }
    };
    Ok(NewCommit { bytes: stored.settle(git, repo).await?, ..commit })
}

/// A commit, and where its objects are.
type Written = (NewCommit, Stored);

/// How far a commit got on the first thread it was on: all the way, unless it starts in another repository.
enum Begun {
    Written(Written),
    From(Ground),
}

/// Where a commit is made.
struct Site {
    place: RepoPath,
    deadline: Deadline,
}

impl Site {
    /// Opens the repository anew, to see what is on disk now, and once.
    fn begin(&self, change: &Change) -> Result<Begun, ChangeError> {
        let own = open(&self.place)?;
        let ground = Ground::find(&own, &self.place, change)?;
        if change.start.repository.is_some() {
            return Ok(Begun::From(ground));
        }
        Ok(Begun::Written(self.write(&own, ground, change)?))
    }

    fn write(
        &self,
        own: &gix::Repository,
        ground: Ground,
        change: &Change,
    ) -> Result<Written, ChangeError> {
        let guarded = change.actions.iter().any(|action| action.guard().is_some());
        if let Some(parent) = ground.parent.filter(|_| guarded) {
            let reader = Reader::alone(&self.place)?;
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

/// What the new commit stands on.
struct Ground {
    branch: RefName,
    tip: Option<Oid>,
    parent: Option<Oid>,
    first: bool,
}

impl Ground {
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
        let Ok(branch) = RefName::branch(&change.branch) else {
            return Err(Refusal::BranchNameInvalid(change.branch.clone()).into());
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
            Some(parent) => tree_of(repo, parent)?,
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
        let branch = RefMove { name: self.branch, old: Expect::from(self.tip), new: Some(id) };
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
    match repo.find_commit(id.gix()) {
        Ok(_) => Ok(id),
        Err(_) => Err(Refusal::UnknownStartSha(sha.to_owned()).into()),
    }
}

/// Where a branch is. A name that no branch can have is a branch that is not there.
pub(super) fn branch_tip(repo: &gix::Repository, name: &str) -> Result<Option<Oid>, GitError> {
    let Ok(name) = RefName::branch(name) else { return Ok(None) };
    let found = repo.try_find_reference(name.as_bstr()).map_err(GitError::corrupt)?;
    let Some(mut reference) = found else { return Ok(None) };
    let id = reference.peel_to_id().map_err(GitError::corrupt)?;
    Ok(Some(Oid::of(&id)))
}

fn has_branches(repo: &gix::Repository) -> Result<bool, GitError> {
    let refs = repo.references().map_err(GitError::corrupt)?;
    let mut branches = refs.local_branches().map_err(GitError::corrupt)?;
    Ok(branches.next().is_some())
}

pub(super) fn tree_of(repo: &gix::Repository, commit: Oid) -> Result<Oid, GitError> {
    let commit = repo.find_commit(commit.gix()).map_err(GitError::corrupt)?;
    Ok(Oid::of(&commit.tree_id().map_err(GitError::corrupt)?))
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

fn apply(
    tree: &mut TreeEdit<'_>,
    objects: &mut NewObjects,
    action: &FileAction,
) -> Result<(), ChangeError> {
    match action.kind {
        ActionKind::Create => create(tree, objects, action),
        ActionKind::Update => update(tree, objects, action),
        ActionKind::Move => relocate(tree, objects, action),
        ActionKind::Delete => {
            let path = normalize(action.path.as_bstr())?;
            leaf(tree, &path)?;
            Ok(tree.remove(&path)?)
        }
        ActionKind::Chmod => chmod(tree, action),
    }
}

fn create(
    tree: &mut TreeEdit<'_>,
    objects: &mut NewObjects,
    action: &FileAction,
) -> Result<(), ChangeError> {
    let path = writable(action.path.as_bstr())?;
    ensure_free(tree, &path)?;
    let id = objects.add(Kind::Blob, action.content.clone().unwrap_or_default())?;
    Ok(tree.put(&path, Leaf::file(id, mode(action)))?)
}

/// Keeps the mode: an executable stays one, and a link gets a new target.
fn update(
    tree: &mut TreeEdit<'_>,
    objects: &mut NewObjects,
    action: &FileAction,
) -> Result<(), ChangeError> {
    let path = normalize(action.path.as_bstr())?;
    let old = leaf(tree, &path)?;
    if old.mode.is_commit() {
        return Err(Refusal::FileMissing.into());
    }
    let id = objects.add(Kind::Blob, action.content.clone().unwrap_or_default())?;
    Ok(tree.put(&path, Leaf { id, ..old })?)
}

fn relocate(
    tree: &mut TreeEdit<'_>,
    objects: &mut NewObjects,
    action: &FileAction,
) -> Result<(), ChangeError> {
    let from =
        normalize(action.previous_path.as_ref().map_or(BStr::new(""), |path| path.as_bstr()))?;
    let to = writable(action.path.as_bstr())?;
    let mut moved = leaf(tree, &from)?;
    if moved.mode.is_link() && !may_be_a_link(&to) {
        return Err(Refusal::InvalidPath(action.path.to_string()).into());
    }
    match tree.find(&to)? {
        Found::Leaf(_) => return Err(Refusal::FileExists.into()),
        Found::Folder => return Err(Refusal::FolderExists.into()),
        Found::Nothing | Found::BelowFile => {}
    }
    tree.remove(&from)?;
    // Only now: the file in the way may have been the moved one.
    ensure_free(tree, &to)?;
    if let Some(content) = &action.content {
        if moved.mode.is_commit() {
            return Err(Refusal::FileMissing.into());
        }
        moved.id = objects.add(Kind::Blob, content.clone())?;
    }
    Ok(tree.put(&to, moved)?)
}

/// Links and submodules have no such bit.
fn chmod(tree: &mut TreeEdit<'_>, action: &FileAction) -> Result<(), ChangeError> {
    let path = normalize(action.path.as_bstr())?;
    let old = leaf(tree, &path)?;
    if !old.mode.is_blob() || old.mode.is_link() {
        return Err(Refusal::FileMissing.into());
    }
    Ok(tree.put(&path, Leaf::file(old.id, mode(action)))?)
}

fn mode(action: &FileAction) -> FileMode {
    if action.executable == Some(true) { FileMode::Executable } else { FileMode::File }
}

fn leaf(tree: &mut TreeEdit<'_>, path: &TreePath) -> Result<Leaf, ChangeError> {
    match tree.find(path)? {
        Found::Leaf(leaf) => Ok(leaf),
        Found::Nothing | Found::BelowFile | Found::Folder => Err(Refusal::FileMissing.into()),
    }
}

fn ensure_free(tree: &mut TreeEdit<'_>, path: &TreePath) -> Result<(), ChangeError> {
    match tree.find(path)? {
        Found::Nothing => Ok(()),
        Found::Leaf(_) | Found::BelowFile => Err(Refusal::FileExists.into()),
        Found::Folder => Err(Refusal::FolderExists.into()),
    }
}

/// A path that a new entry may have.
fn writable(text: &BStr) -> Result<TreePath, Refusal> {
    let path = normalize(text)?;
    TreePath::new(path.as_bstr()).map_err(|_invalid| Refusal::InvalidPath(text.to_string()))
}

/// Git follows no link named `.gitmodules`, and refuses whoever brings one.
fn may_be_a_link(path: &TreePath) -> bool {
    use gix::validate::path::component;
    component(path.name(), Some(component::Mode::Symlink), component::Options::default()).is_ok()
}

/// A path as git spells it: `/a/./b/` is `a/b`. Anything stored can be named, so that it can be removed.
fn normalize(text: &BStr) -> Result<TreePath, Refusal> {
    if text.is_empty() {
        return Err(Refusal::NoPath);
    }
    let parts = || text.split_str("/");
    if parts().any(|part| part == b"..") {
        return Err(Refusal::Traversal);
    }
    let kept: Vec<&[u8]> = parts().filter(|part| !matches!(*part, b"" | b".")).collect();
    if kept.is_empty() {
        return Err(Refusal::NoPath);
    }
    if text.contains_str("//") {
        return Err(Refusal::InvalidPath(text.to_string()));
    }
    let path = TreePath::lookup(bstr::join("/", kept));
    path.map_err(|_invalid| Refusal::InvalidPath(text.to_string()))
}

#[cfg(test)]
mod tests {
    use super::{ActionKind, Refusal, normalize, writable};

    #[test]
    fn paths_are_spelled_as_git_does() {
        for (text, expected) in
            [("a", "a"), ("/a", "a"), ("./a/./b/", "a/b"), ("a b/ü", "a b/ü"), ("a\\b", "a\\b")]
        {
            assert_eq!(normalize(text.into()).unwrap().to_text(), expected);
        }
    }

    #[test]
    fn paths_that_nobody_may_write_are_refused() {
        let invalid = |text: &str| Refusal::InvalidPath(text.to_owned());
        for (text, refusal) in [
            ("", Refusal::NoPath),
            ("/", Refusal::NoPath),
            (".", Refusal::NoPath),
            ("..", Refusal::Traversal),
            ("../a", Refusal::Traversal),
            ("a/../../b", Refusal::Traversal),
            ("a//b", invalid("a//b")),
            (".git/config", invalid(".git/config")),
            ("a/.GIT", invalid("a/.GIT")),
            ("git~1", invalid("git~1")),
            (".g\u{200c}it/x", invalid(".g\u{200c}it/x")),
            ("a\\b", invalid("a\\b")),
            ("a\0b", invalid("a\0b")),
            ("a\nb", invalid("a\nb")),
        ] {
            assert_eq!(writable(text.into()), Err(refusal), "{text:?}");
        }
    }

    #[test]
    fn one_file_has_words_of_its_own_only_for_the_conflict() {
        let changed = Refusal::FileChanged("a".to_owned());
        let told = |kind| changed.of_one_file(kind);

        assert!(told(ActionKind::Update).starts_with("You are attempting to update a file"));
        assert!(told(ActionKind::Delete).starts_with("You are attempting to delete a file"));
        assert_eq!(
            Refusal::FileExists.of_one_file(ActionKind::Create),
            Refusal::FileExists.to_string()
        );
    }
}
