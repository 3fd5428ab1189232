//! Care for a repository while nobody waits: fewer files, and indexes that make walks fast.

use std::fs;
use std::time::Duration;

use bstr::ByteSlice;

use super::blocking::blocking;
use super::cli::{Call, Git, ProcessClass};
use super::refs;
use super::side_store::SIDE_STORE;
use super::{GitError, RepoPath, stale_locks};

const TIME_LIMIT: Duration = Duration::from_secs(6 * 3600);

/// No request lasts so long: what is older and still unfinished was left by a crash.
const LEFTOVER: Duration = Duration::from_secs(24 * 3600);

/// From so many loose objects or packs on, a repack pays.
const MANY_LOOSE: u64 = 500;
const MANY_PACKS: u64 = 20;
/// From so many refs on that have a file each, one file for all of them pays.
const MANY_LOOSE_REFS: u64 = 100;

/// The state of a repository on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub loose: u64,
    pub packs: u64,
    /// Bytes in loose objects and packs together.
    pub bytes: u64,
}

impl State {
    pub fn is_untidy(self) -> bool {
        self.loose >= MANY_LOOSE || self.packs >= MANY_PACKS
    }
}

/// The treatment of unreachable objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreachableObjects {
    /// Safe at any time: a write that is about to name one again still finds it.
    Keep,
    /// Only while nobody writes to the repository.
    DropOlderThan(Duration),
}

pub async fn state(git: &Git, repo: &RepoPath) -> Result<State, GitError> {
    let text = git.at(repo, "count-objects").args(["-v"]).succeed().await?;
    let value = |name: &str| {
        let lines = text.lines().filter_map(|line| line.to_str().ok()?.split_once(": "));
        let found =
            lines.filter(|(key, _)| *key == name).find_map(|(_, value)| value.parse::<u64>().ok());
        found.unwrap_or_default()
    };
    let kilobytes = value("size").saturating_add(value("size-pack"));
    Ok(State {
        loose: value("count"),
        packs: value("packs"),
        bytes: kilobytes.saturating_mul(1024),
    })
}

/// After a push: the graph of the new commits, and a small repack when files have piled up.
pub async fn tidy(git: &Git, repo: &RepoPath) -> Result<(), GitError> {
    write_commit_graph(git, repo, "--split").await?;
    if state(git, repo).await?.is_untidy() {
        let repack = background(git, repo, "repack").args([
            "-d",
            "-l",
            "-q",
            "--geometric=2",
            "--write-midx",
        ]);
        repack.succeed().await?;
        return refs::pack(repo).await;
    }
    if has_many_loose_refs(repo).await? { refs::pack(repo).await } else { Ok(()) }
}

/// A list of refs opens a file for each that is loose.
async fn has_many_loose_refs(repo: &RepoPath) -> Result<bool, GitError> {
    let refs = repo.as_path().join("refs");
    blocking(move || {
        let (mut folders, mut loose) = (vec![refs], 0);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                match entry.file_type()?.is_dir() {
                    true => folders.push(entry.path()),
                    false => loose += 1,
                }
                if loose >= MANY_LOOSE_REFS {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    })
    .await
}

/// Now and then: everything in one pack with a bitmap, one graph, one file of refs, no leftovers.
pub async fn thorough(
    git: &Git,
    repo: &RepoPath,
    unreachable: UnreachableObjects,
) -> Result<(), GitError> {
    stale_locks::release(repo, LEFTOVER).await?;
    clear_side_stores(repo).await?;
    refs::pack(repo).await?;
    let repack = background(git, repo, "repack").args(["-d", "-l", "-q", "--write-bitmap-index"]);
    match unreachable {
        UnreachableObjects::Keep => repack.args(["-a", "-k"]).succeed().await?,
        UnreachableObjects::DropOlderThan(age) => {
            let seconds = age.as_secs();
            repack
                .args(["-A"])
                .arg(format!("--unpack-unreachable={seconds}.seconds.ago"))
                .succeed()
                .await?;
            background(git, repo, "prune")
                .arg(format!("--expire={seconds}.seconds.ago"))
                .succeed()
                .await?
        }
    };
    write_commit_graph(git, repo, "--split=replace").await
}

/// Generation numbers make walks stop early, and the filters of changed paths make the history of a file fast.
async fn write_commit_graph(git: &Git, repo: &RepoPath, split: &str) -> Result<(), GitError> {
    let write = background(git, repo, "commit-graph").args([
        "write",
        "--reachable",
        "--changed-paths",
        "--no-progress",
    ]);
    write.arg(split).succeed().await.map(drop)
}

fn background(git: &Git, repo: &RepoPath, subcommand: &'static str) -> Call {
    git.at(repo, subcommand).lane(ProcessClass::Background).time_limit(TIME_LIMIT)
}

async fn clear_side_stores(repo: &RepoPath) -> Result<(), GitError> {
    let repo = repo.clone();
    blocking(move || {
        for entry in fs::read_dir(repo.as_path())? {
            let entry = entry?;
            let age = entry.metadata()?.modified().ok().and_then(|at| at.elapsed().ok());
            let ours = entry.file_name().as_encoded_bytes().starts_with(SIDE_STORE.as_bytes());
            if ours && entry.file_type()?.is_dir() && age.is_some_and(|age| age > LEFTOVER) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    })
    .await
}
