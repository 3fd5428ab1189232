//! Moves of one repository that were decided before a crash, carried out together.

use std::time::{Duration, Instant};

use kernel::Error;
use tokio::time::sleep;

use crate::git::{
    GitError, RepoPath,
    refs::{self, RefMove},
    stale_locks,
};

/// So long it is tried to finish a move whose ref somebody keeps locked.
const LONGEST_WAIT: Duration = Duration::from_secs(120);
/// Between two looks at whether anybody still holds a lock.
const PAUSE: Duration = Duration::from_millis(50);
/// After so many failures of single refs the rest is not taken apart any more.
const MOST_ALONE: usize = 100;

/// The result of moves. Those that had been made before are left out.
#[derive(Debug, Default)]
pub(crate) struct MoveOutcome {
    pub(crate) moved: Vec<RefMove>,
    pub(crate) failed: Vec<(Vec<RefMove>, Error)>,
}

/// Carries out moves that were decided before a crash: all at once, as a push of them is, and apart only where that
/// does not go. Refs that somebody has locked are waited for.
pub(crate) async fn follow_late(
    repo: &RepoPath,
    moves: Vec<RefMove>,
    stale_after: Duration,
) -> MoveOutcome {
    let (mut late, mut open, since) = (MoveOutcome::default(), moves, Instant::now());
    while !open.is_empty() {
        // A git process that outlived the server gives its locks back in a moment.
        let failed = match stale_locks::release(repo, stale_after).await {
            Ok(_) => follow_apart(repo, std::mem::take(&mut open), &mut late.moved).await,
            Err(error) => vec![(std::mem::take(&mut open), error)],
        };
        let may_wait = since.elapsed() < LONGEST_WAIT;
        for (moves, error) in failed {
            match error {
                GitError::Stale { .. } if may_wait => open.extend(moves),
                error => late.failed.push(explained(repo, moves, error)),
            }
        }
        if !open.is_empty() {
            sleep(PAUSE).await;
        }
    }
    late
}

fn explained(repo: &RepoPath, moves: Vec<RefMove>, error: GitError) -> (Vec<RefMove>, Error) {
    let error = match (error, moves.first()) {
        (GitError::Stale { .. }, Some(step)) => {
            let place = repo.as_path().display();
            Error::unavailable(format!("the ref {} of {place} stays locked", step.name))
        }
        (other, _) => other.into(),
    };
    (moves, error)
}

/// Returns what did not go, and why.
async fn follow_apart(
    repo: &RepoPath,
    moves: Vec<RefMove>,
    moved: &mut Vec<RefMove>,
) -> Vec<(Vec<RefMove>, GitError)> {
    let (mut open, mut failed) = (vec![moves], Vec::new());
    while let Some(mut moves) = open.pop() {
        match follow(repo, &moves).await {
            Ok(ahead) => moved.extend(ahead),
            Err(error) if moves.len() <= 1 || failed.len() >= MOST_ALONE => {
                failed.push((moves, error));
            }
            Err(_) => {
                let second = moves.split_off(moves.len().div_ceil(2));
                open.extend([second, moves]);
            }
        }
    }
    failed
}

/// Returns what was left to do, and is done.
async fn follow(repo: &RepoPath, moves: &[RefMove]) -> Result<Vec<RefMove>, GitError> {
    let place = repo.as_path().display();
    let now = refs::read(repo, moves.iter().map(|step| &step.name)).await?;
    let (mut ahead, mut astray) = (Vec::new(), Vec::new());
    for step in moves {
        match now.get(&step.name).copied() {
            now if now == step.new => {}
            now if now == step.old.oid() => ahead.push(step.clone()),
            _ => astray.push(&step.name),
        }
    }
    if !ahead.is_empty() {
        tracing::warn!(repository = %place, refs = ahead.len(), "finishing pushes that were interrupted");
        refs::move_within(repo, &ahead, Duration::ZERO).await?;
    }
    for name in astray {
        tracing::error!(repository = %place, %name, "a ref is neither where a push found it nor where it went");
    }
    Ok(ahead)
}
