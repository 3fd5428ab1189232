//! The one place that moves refs, in two phases: git locks and checks, the database decides, git follows.

mod head;
mod stale;

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bstr::ByteSlice;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::task::spawn_blocking;
use tokio::time::timeout_at;

use super::cli::{Git, Lane, Running};
use super::leftover;
use super::ref_lock::{self, LockedRef};
use super::{GitError, Oid, RefName, RepoPath};

pub use head::set_head;
pub use stale::clear_stale_locks;

/// From the first lock to the commit; includes a database transaction.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// How long somebody else's lock is waited for, here and by git; see `core.filesRefLockTimeout`.
const PATIENCE: Duration = Duration::from_secs(5);

/// Git syncs so many new values one by one; more are synced together, before the decision.
const SYNCED_ALONE: usize = 16;

/// What the writer saw. There is no "anything": every writer states what its decision rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    Absent,
    Exactly(Oid),
}

impl Expect {
    pub fn oid(self) -> Option<Oid> {
        match self {
            Self::Absent => None,
            Self::Exactly(id) => Some(id),
        }
    }
}

impl From<Option<Oid>> for Expect {
    fn from(seen: Option<Oid>) -> Self {
        seen.map_or(Self::Absent, Self::Exactly)
    }
}

/// One ref and where it goes; `None` deletes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefMove {
    pub name: RefName,
    pub old: Expect,
    pub new: Option<Oid>,
}

/// Refs that are locked and checked, but not moved. Dropping it gives them back unchanged.
pub struct Prepared {
    git: Git,
    repo: RepoPath,
    moves: Vec<RefMove>,
    by: By,
}

/// Who holds the locks.
enum By {
    Us(LockedRef),
    Git(Box<Asked>),
}

/// A git process that was asked to move refs.
struct Asked {
    child: Running,
    stdin: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

/// Locks the refs and compares each with what its writer saw: all or nothing.
pub async fn prepare(git: &Git, repo: &RepoPath, moves: &[RefMove]) -> Result<Prepared, GitError> {
    prepare_within(git, repo, moves, PATIENCE).await
}

async fn prepare_within(
    git: &Git,
    repo: &RepoPath,
    moves: &[RefMove],
    patience: Duration,
) -> Result<Prepared, GitError> {
    heal(repo, moves).await?;
    let locked = match moves {
        [step] => ref_lock::lock(repo, step, patience).await?,
        _ => None,
    };
    let by = match locked {
        Some(locked) => By::Us(locked),
        None => By::Git(Box::new(ask(git, repo, moves, patience).await?)),
    };
    Ok(Prepared { git: git.clone(), repo: repo.clone(), moves: moves.to_vec(), by })
}

/// Takes away what a killed process has left locked of these refs: it costs nobody more than this one look.
async fn heal(repo: &RepoPath, moves: &[RefMove]) -> Result<(), GitError> {
    let (place, names) = (repo.clone(), moves.to_vec());
    let is_locked = blocking(move || {
        let packed = place.as_path().join("packed-refs.lock");
        let deletes = names.iter().any(|step| step.new.is_none());
        let own = names.iter().map(|step| lock_of(&place, &step.name));
        Ok(own.chain(deletes.then_some(packed)).any(|lock| lock.exists()))
    });
    if is_locked.await? {
        leftover::heal(repo).await?;
    }
    Ok(())
}

/// The file that locks a ref.
pub fn lock_of(repo: &RepoPath, name: &RefName) -> PathBuf {
    let mut lock = repo.as_path().join(name.as_bstr().to_path_lossy()).into_os_string();
    lock.push(".lock");
    lock.into()
}

async fn ask(
    git: &Git,
    repo: &RepoPath,
    moves: &[RefMove],
    patience: Duration,
) -> Result<Asked, GitError> {
    let millis = patience.as_millis();
    let many = moves.len() > SYNCED_ALONE;
    let mut call = git.at(repo, "update-ref");
    if many {
        call = call.config("core.fsync=committed,-reference");
    }
    let mut child = call
        .config(format!("core.filesRefLockTimeout={millis}"))
        .config(format!("core.packedRefsTimeout={millis}"))
        .args(["--no-deref", "--stdin", "-z"])
        .lane(Lane::Refs)
        .time_limit(TIME_LIMIT)
        .start()
        .await?;
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(GitError::Corrupt("git update-ref has no pipes".to_owned()));
    };
    let answers = BufReader::new(stdout).lines();
    let mut asked = Asked { child, stdin, answers };
    let mut script = b"start\0".to_vec();
    for step in moves {
        write_step(&mut script, step);
    }
    script.extend_from_slice(b"prepare\0");
    if asked.say(&script).await?
        && asked.hears("start: ok").await?
        && asked.hears("prepare: ok").await?
    {
        if many {
            sync_all(repo).await?;
        }
        return Ok(asked);
    }
    Err(asked.refusal(git, repo, moves).await?)
}

/// Makes everything durable that was written to the disk of the repository, in one go.
async fn sync_all(repo: &RepoPath) -> Result<(), GitError> {
    let repo = repo.clone();
    blocking(move || {
        let folder = File::open(repo.as_path())?;
        Ok(rustix::fs::syncfs(folder).map_err(std::io::Error::from)?)
    })
    .await
}

/// Moves refs whose journal needs no database, or was written before.
pub async fn move_now(git: &Git, repo: &RepoPath, moves: &[RefMove]) -> Result<(), GitError> {
    move_within(git, repo, moves, PATIENCE).await
}

/// The same for whoever looks again by himself at what became of a lock: others are waited for as long as `patience`.
pub async fn move_within(
    git: &Git,
    repo: &RepoPath,
    moves: &[RefMove],
    patience: Duration,
) -> Result<(), GitError> {
    prepare_within(git, repo, moves, patience).await?.commit().await
}

fn write_step(script: &mut Vec<u8>, step: &RefMove) {
    let (verb, ids) = match (step.old, step.new) {
        (Expect::Absent, Some(new)) => ("create ", format!("{new}\0")),
        (Expect::Exactly(old), Some(new)) => ("update ", format!("{new}\0{old}\0")),
        (Expect::Exactly(old), None) => ("delete ", format!("{old}\0")),
        (Expect::Absent, None) => ("verify ", format!("{}\0", Oid::NULL)),
    };
    script.extend_from_slice(verb.as_bytes());
    script.extend_from_slice(step.name.as_bstr());
    script.push(0);
    script.extend_from_slice(ids.as_bytes());
}

impl Prepared {
    /// Lets the refs move. The decision was made before, so a child that was lost meanwhile is replaced.
    pub async fn commit(self) -> Result<(), GitError> {
        let Self { git, repo, moves, by } = self;
        let committed = match by {
            By::Us(locked) => locked.commit().await.map(|()| true),
            By::Git(asked) => match asked.commit().await {
                Ok(true) => return sync(&repo, &moves).await,
                committed => committed,
            },
        };
        if matches!(committed, Ok(true)) {
            return Ok(());
        }
        tracing::warn!(?committed, "the locks were lost between prepare and commit");
        redo(&git, &repo, &moves).await
    }

    /// Gives the refs back and waits until the locks are gone.
    pub async fn abort(self) -> Result<(), GitError> {
        match self.by {
            By::Us(locked) => locked.abort().await,
            By::Git(asked) => asked.abort().await,
        }
    }
}

impl Asked {
    /// False when git was lost.
    async fn commit(mut self) -> Result<bool, GitError> {
        if !(self.say(b"commit\0").await? && self.hears("commit: ok").await?) {
            return Ok(false);
        }
        drop(self.stdin);
        self.child.finish().await?;
        Ok(true)
    }

    async fn abort(mut self) -> Result<(), GitError> {
        self.say(b"abort\0").await?;
        drop(self.stdin);
        self.child.finish().await
    }

    /// False when the child has closed its end: it has complained and left.
    async fn say(&mut self, words: &[u8]) -> Result<bool, GitError> {
        match timeout_at(self.child.deadline(), self.stdin.write_all(words)).await {
            Ok(Ok(())) => Ok(true),
            Ok(Err(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            Ok(Err(error)) => Err(GitError::Io(error)),
            Err(_) => Err(GitError::Timeout),
        }
    }

    async fn hears(&mut self, expected: &str) -> Result<bool, GitError> {
        match timeout_at(self.child.deadline(), self.answers.next_line()).await {
            Ok(line) => Ok(line.map_err(GitError::Io)?.as_deref() == Some(expected)),
            Err(_) => Err(GitError::Timeout),
        }
    }

    /// Ends a refused transaction and tells why it was refused.
    async fn refusal(
        self,
        git: &Git,
        repo: &RepoPath,
        moves: &[RefMove],
    ) -> Result<GitError, GitError> {
        let Self { mut child, stdin, .. } = self;
        drop(stdin);
        // The complaint matters, not the status.
        let _ = child.wait().await;
        let complaint = child.complaint().await;
        // Its place is free again before the question why takes another.
        drop(child);
        why(git, repo, moves, complaint).await
    }
}

/// Carries out moves that were decided, however many of them git had made before it was interrupted.
///
/// # Errors
/// [`GitError::Stale`] when a ref is neither where its writer found it nor where it was to go.
pub async fn redo(git: &Git, repo: &RepoPath, moves: &[RefMove]) -> Result<(), GitError> {
    let now = read(git, repo, moves.iter().map(|step| &step.name)).await?;
    let ahead: Vec<RefMove> =
        moves.iter().filter(|step| now.get(&step.name).copied() != step.new).cloned().collect();
    if ahead.is_empty() {
        return sync(repo, moves).await;
    }
    // Boxed because the commit inside may end up here again.
    Box::pin(move_now(git, repo, &ahead)).await
}

/// Says what a refused transaction ran into, from the refs themselves rather than from git's wording.
async fn why(
    git: &Git,
    repo: &RepoPath,
    moves: &[RefMove],
    complaint: String,
) -> Result<GitError, GitError> {
    let actual = read(git, repo, moves.iter().map(|step| &step.name)).await?;
    for step in moves {
        let now = actual.get(&step.name).copied();
        if now != step.old.oid() {
            return Ok(match step.old {
                Expect::Absent => GitError::RefNameTaken,
                Expect::Exactly(_) => GitError::Stale { actual: now },
            });
        }
    }
    if complaint.contains(".lock': File exists") {
        let first = moves.first().and_then(|step| actual.get(&step.name).copied());
        return Ok(GitError::Stale { actual: first });
    }
    if complaint.contains("cannot create") || complaint.contains("there is a non-empty directory") {
        return Ok(GitError::RefNameTaken);
    }
    Ok(GitError::Corrupt(format!("git update-ref: {}", complaint.trim())))
}

/// Where the named refs are now; a ref that is not there is left out.
pub async fn read<'a>(
    git: &Git,
    repo: &RepoPath,
    names: impl IntoIterator<Item = &'a RefName>,
) -> Result<HashMap<RefName, Oid>, GitError> {
    let wanted: Vec<&RefName> = names.into_iter().collect();
    let patterns = wanted.iter().map(|name| name.as_bstr().to_os_str_lossy().into_owned());
    let listing = git
        .at(repo, "for-each-ref")
        .args(["--format=%(objectname) %(refname)", "--"])
        .args(patterns)
        .succeed()
        .await?;
    let mut found = HashMap::new();
    for line in ByteSlice::lines(listing.as_slice()) {
        let Some((id, name)) = line.split_once_str(" ") else { continue };
        let name = RefName::stored(name.as_bstr());
        // A pattern also lists what lies below it.
        if wanted.contains(&&name) {
            found.insert(name, id.to_str_lossy().parse()?);
        }
    }
    Ok(found)
}

async fn sync(repo: &RepoPath, moves: &[RefMove]) -> Result<(), GitError> {
    let folders = folders_of(repo, moves);
    blocking(move || sync_folders(&folders)).await
}

/// The folders in which names change: git syncs the files it renames into place, but not these.
fn folders_of(repo: &RepoPath, moves: &[RefMove]) -> BTreeSet<PathBuf> {
    let top = repo.as_path();
    let mut folders = BTreeSet::new();
    for step in moves {
        let file = top.join(step.name.as_bstr().to_path_lossy());
        let between = file.ancestors().skip(1).take_while(|folder| *folder != top);
        folders.extend(between.map(Path::to_path_buf));
        if step.new.is_none() {
            folders.insert(top.to_path_buf());
        }
    }
    folders
}

fn sync_folders(folders: &BTreeSet<PathBuf>) -> Result<(), GitError> {
    for folder in folders {
        match File::open(folder) {
            Ok(open) => open.sync_all()?,
            // The last ref in it was deleted, and git removed the folder too.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Runs file work where it does not hold up other requests.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    spawn_blocking(work).await.map_err(GitError::corrupt)?
}
