//! Cherry-pick, revert and merge, done by git's own merge so that its answer is the only one.
//!
//! Git writes into a folder that only this merge sees: what nobody keeps, as in a dry run, leaves no trace.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use flate2::read::ZlibDecoder;
use gix::objs::Kind;
use tempfile::TempDir;

use super::blocking::blocking;
use super::change::NewCommit;
use super::cli::Git;
use super::commit_object::CommitText;
use super::commit_tree::tree_of;
use super::objects::NewObjects;
use super::open::open;
use super::refs::{ExpectedValue, RefMove};
use super::{GitError, Oid, RefName, RepoPath, Signature, TreePath};

/// What is done with a commit that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    CherryPick,
    Revert,
}

/// What the person who asked thinks of the commit as.
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

/// A clean result. Until it is written it exists only in memory.
pub struct CleanMerge {
    pub tree: Oid,
    objects: NewObjects,
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

impl CleanMerge {
    /// Makes a commit and everything it needs durable. Its tree should be this one.
    pub async fn commit(
        self,
        git: &Git,
        repo: &RepoPath,
        text: &CommitText,
    ) -> Result<Oid, GitError> {
        Ok(self.store(git, repo, text).await?.0)
    }

    /// As [`commit`](Self::commit); tells also how many bytes were written.
    pub(crate) async fn store(
        mut self,
        git: &Git,
        repo: &RepoPath,
        text: &CommitText,
    ) -> Result<(Oid, i64), GitError> {
        let id = text.write(&mut self.objects)?;
        let bytes = self.objects.persist(git, repo).await?;
        Ok((id, bytes))
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

/// Commits that are there only so that git has something to merge.
#[derive(Default)]
pub(super) struct Helpers(HashSet<Oid>);

/// An object folder of its own, above the repository's: git reads both and writes only here.
pub(super) struct SideStore {
    folder: TempDir,
}

impl SideStore {
    pub(super) async fn new(repo: &RepoPath) -> Result<Self, GitError> {
        let repo = repo.clone();
        blocking(move || {
            let folder = tempfile::Builder::new().prefix(SIDE_STORE).tempdir_in(repo.as_path())?;
            let info = folder.path().join("info");
            fs::create_dir(&info)?;
            fs::write(info.join("alternates"), b"../objects\n")?;
            Ok(Self { folder })
        })
        .await
    }

    /// Merges the trees base, ours and theirs. Git before 2.45 takes the base only from history, so each side becomes
    /// a commit whose one parent is the base; they stay here.
    pub(super) async fn three_way(
        &mut self,
        git: &Git,
        repo: &RepoPath,
        (base, ours, theirs): (Oid, Oid, Oid),
        helpers: &mut Helpers,
    ) -> Result<Oid, GitError> {
        let mut objects = NewObjects::default();
        let nobody = Signature { name: "merge".to_owned(), email: String::new(), at: 0, offset: 0 };
        let mut commit = |tree, parents| {
            let (author, committer) = (nobody.clone(), nobody.clone());
            CommitText { tree, parents, author, committer, message: String::new() }
                .write(&mut objects)
        };
        let base = commit(base, Vec::new())?;
        let ours = commit(ours, vec![base])?;
        let theirs = commit(theirs, vec![base])?;
        helpers.0.extend([base, ours, theirs]);
        // The empty tree is known to git even where it is not stored.
        self.put(objects).await?;
        self.merge_tree(git, repo, ours, theirs).await
    }

    /// A commit that is to stay, if the whole work does.
    pub(super) async fn write(&mut self, text: &CommitText) -> Result<Oid, GitError> {
        let mut objects = NewObjects::default();
        let id = text.write(&mut objects)?;
        self.put(objects).await?;
        Ok(id)
    }

    async fn put(&self, objects: NewObjects) -> Result<(), GitError> {
        let folder = self.folder.path().to_path_buf();
        blocking(move || objects.write_loose(&folder).map(drop)).await
    }

    async fn merge_tree(
        &self,
        git: &Git,
        repo: &RepoPath,
        ours: Oid,
        theirs: Oid,
    ) -> Result<Oid, GitError> {
        let output = git
            .at(repo, "merge-tree")
            .config("core.fsync=none")
            .env("GIT_OBJECT_DIRECTORY", self.folder.path())
            .args(["--write-tree", "-z", "--name-only", "--no-messages"])
            .id(ours)
            .id(theirs)
            .output()
            .await?;
        let mut parts = output.stdout.split_str("\0").filter(|part| !part.is_empty());
        match (output.status.code(), parts.next()) {
            (Some(0), Some(tree)) => tree.to_str_lossy().parse(),
            (Some(1), Some(_)) => Err(GitError::Conflict(parts.map(TreePath::stored).collect())),
            _ if output.stderr.contains("unrelated histories") => {
                Err(GitError::Conflict(Vec::new()))
            }
            _ => Err(output.failure("merge-tree")),
        }
    }

    /// Reads what git wrote, without the helpers of the merge itself.
    async fn take(self, tree: Oid, helpers: &Helpers) -> Result<CleanMerge, GitError> {
        let objects = self.objects(helpers).await?;
        Ok(CleanMerge { tree, objects })
    }

    /// Makes everything durable that was written here, but the helpers. Tells how many bytes that are.
    pub(super) async fn keep(
        self,
        git: &Git,
        repo: &RepoPath,
        helpers: &Helpers,
    ) -> Result<i64, GitError> {
        self.objects(helpers).await?.persist(git, repo).await
    }

    async fn objects(self, helpers: &Helpers) -> Result<NewObjects, GitError> {
        let helpers = helpers.0.clone();
        blocking(move || {
            let mut objects = NewObjects::default();
            for (id, file) in loose_files(self.folder.path())? {
                if !helpers.contains(&id) {
                    let (kind, body) = read_loose(&file)?;
                    objects.add(kind, body)?;
                }
            }
            Ok(objects)
        })
        .await
    }
}

/// What the folders of merges in progress are called; older ones are leftovers of a crash.
pub(super) const SIDE_STORE: &str = "merge-";

fn loose_files(folder: &Path) -> Result<Vec<(Oid, PathBuf)>, GitError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let fan_out = entry.file_name().to_string_lossy().into_owned();
        if fan_out.len() != 2 {
            continue;
        }
        for entry in fs::read_dir(entry.path())? {
            let entry = entry?;
            let name = format!("{fan_out}{}", entry.file_name().to_string_lossy());
            if let Ok(id) = name.parse() {
                found.push((id, entry.path()));
            }
        }
    }
    Ok(found)
}

fn read_loose(file: &Path) -> Result<(Kind, Vec<u8>), GitError> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(fs::File::open(file)?).read_to_end(&mut bytes)?;
    let (kind, _, header) = gix::objs::decode::loose_header(&bytes).map_err(GitError::corrupt)?;
    Ok((kind, bytes.split_off(header)))
}
