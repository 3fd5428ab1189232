//! Bringing history from one repository of a fork network into another.

use std::fmt::Write as _;
use std::io::ErrorKind;

use tokio::io::AsyncWriteExt;
use tokio::time::timeout_at;

use super::blocking::blocking;
use super::cli::{Git, GitProcess, ProcessClass};
use super::open::open;
use super::{GitError, Oid, RepoPath};

/// So many of the receiver's refs are named to git as "already there".
const KNOWN_TIPS: usize = 2000;

/// Copies a commit with its history, as far as the receiver lacks it, durably.
pub async fn bring(
    git: &Git,
    from: &RepoPath,
    into: &RepoPath,
    commit: Oid,
) -> Result<(), GitError> {
    if from == into {
        return Ok(());
    }
    let (giver, receiver) = (from.clone(), into.clone());
    let Some(wanted) = blocking(move || what_to_send(&giver, &receiver, commit)).await? else {
        return Ok(());
    };
    // Two lanes, so that two such copies never wait for each other's second place.
    let mut packer = git
        .at(from, "pack-objects")
        .args(["--revs", "--stdout", "--thin", "--delta-base-offset", "-q"])
        .lane(ProcessClass::Transport)
        .start()
        .await?;
    let mut indexer = git.at(into, "index-pack").args(["--stdin", "--fix-thin"]).start().await?;
    let limit = packer.deadline();
    match timeout_at(limit, pipe(&mut packer, &mut indexer, &wanted)).await {
        Ok(piped) => piped?,
        Err(_) => return Err(GitError::Timeout),
    }
    packer.finish().await?;
    indexer.finish().await
}

async fn pipe(
    packer: &mut GitProcess,
    indexer: &mut GitProcess,
    wanted: &[u8],
) -> Result<(), GitError> {
    let pipes =
        (packer.stdin.take(), packer.stdout.take(), indexer.stdin.take(), indexer.stdout.take());
    let (Some(mut ask), Some(mut pack), Some(mut store), Some(mut answer)) = pipes else {
        return Err(GitError::Corrupt("a git child has no pipes".to_owned()));
    };
    ask.write_all(wanted).await?;
    drop(ask);
    let copied = tokio::io::copy(&mut pack, &mut store).await;
    drop(store);
    tokio::io::copy(&mut answer, &mut tokio::io::sink()).await?;
    match copied {
        // The indexer has complained and left; its status tells.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        copied => Ok(copied.map(drop)?),
    }
}

/// The revisions to pack: the commit, without what both repositories have. None when nothing is missing.
fn what_to_send(
    from: &RepoPath,
    into: &RepoPath,
    commit: Oid,
) -> Result<Option<Vec<u8>>, GitError> {
    let (giver, receiver) = (open(from)?, open(into)?);
    if gix::objs::Exists::exists(&receiver.objects, &commit.gix()) {
        return Ok(None);
    }
    let mut script = format!("{commit}\n--not\n");
    let refs = receiver.references().map_err(GitError::corrupt)?;
    for reference in refs.all().map_err(GitError::corrupt)?.take(KNOWN_TIPS) {
        let reference = reference.map_err(GitError::corrupt)?;
        let Some(id) = reference.try_id() else { continue };
        if gix::objs::Exists::exists(&giver.objects, id.as_ref()) {
            // Writing to a String cannot fail.
            let _ = writeln!(script, "{}", Oid::of(&id));
        }
    }
    Ok(Some(script.into_bytes()))
}
