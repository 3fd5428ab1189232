//! Refs of the server's own that keep commits which no branch or tag has any more. They are hidden from git clients,
//! and nothing takes them away.

use std::{
    collections::{BTreeSet, HashSet},
    time::Duration,
};

use kernel::{Result, error::Kind, ids::ProjectId};
use repo::{
    git::{
        GitError, Oid, RefName, RepoPath,
        cli::ProcessClass,
        refs::{self, RefMove},
    },
    push::InternalMove,
};

use crate::Forge;

const FOLDER: &str = "refs/keep-around/";
/// Commits of one look into a repository, and refs of one transaction.
const READS_AT_ONCE: usize = 10_000;
const MOVES_AT_ONCE: usize = 1_000;
/// Refs that are made at once: those of the newest commits.
const MOST_MADE: usize = 100_000;
/// Commits without a ref that are looked at, the newest first, and bytes of their list.
const MOST_LISTED: &str = "--max-count=500000";
const LONGEST_LIST: u64 = 256 << 20;
/// How long git may look for them.
const LOOKING: Duration = Duration::from_secs(10 * 60);
/// From so many new refs on, one file for all of them pays.
const MANY: usize = 100;

/// The name of the ref that keeps a commit.
pub(crate) fn ref_of(commit: Oid) -> Result<RefName> {
    Ok(RefName::full(format!("{FOLDER}{commit}"))?)
}

/// The commit that a ref of this full name keeps.
pub(crate) fn commit_of(name: &[u8]) -> Option<Oid> {
    let text = std::str::from_utf8(name).ok()?.strip_prefix(FOLDER)?;
    let id = text.parse::<Oid>().ok()?;
    (id.to_string() == text).then_some(id)
}

/// Keeps those of these commits that are in the repository of a project and that none of the refs leads to which git
/// finds by these options. Done again, it does what is left.
///
/// # Errors
/// When the repository or the database cannot be read or written. Commits whose history is not whole are no error:
/// nothing is kept then.
pub(crate) async fn keep(
    forge: &Forge,
    project: ProjectId,
    commits: BTreeSet<Oid>,
    options: &[&'static str],
) -> Result<()> {
    let there = known(forge, project, commits).await?;
    if there.is_empty() {
        return Ok(());
    }
    let repository = forge.storage.repository(project);
    let tips = match lost_tips(forge, &repository, &there, options).await {
        // Who exports gets all that refs lead to, whatever is wrong with the rest.
        Err(cause @ (GitError::Corrupt(_) | GitError::TooLarge | GitError::Timeout)) => {
            tracing::warn!(%project, error = %cause, "commits that no ref has are not kept");
            return Ok(());
        }
        tips => tips?,
    };
    for some in tips.chunks(MOVES_AT_ONCE) {
        make(forge, project, &repository, some).await?;
    }
    match tips.len() >= MANY {
        true => Ok(refs::pack(&repository).await?),
        false => Ok(()),
    }
}

/// Those that are commits of the repository.
async fn known(forge: &Forge, project: ProjectId, ids: BTreeSet<Oid>) -> Result<Vec<Oid>> {
    let (all, mut there) = (Vec::from_iter(ids), Vec::new());
    for some in all.chunks(READS_AT_ONCE) {
        let some = some.to_vec();
        let read = forge.git_read(project, move |reader| {
            let mut commits = Vec::new();
            for id in some {
                if reader.is_commit(id)? {
                    commits.push(id);
                }
            }
            Ok(commits)
        });
        there.extend(read.await?);
    }
    Ok(there)
}

/// Those to which neither the refs nor another one of them leads, the newest first, with whole histories.
async fn lost_tips(
    forge: &Forge,
    repository: &RepoPath,
    commits: &[Oid],
    options: &[&'static str],
) -> Result<Vec<Oid>, GitError> {
    let call = |ids: &[Oid]| {
        let input: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let call = forge.git.at(repository, "rev-list").lane(ProcessClass::Background);
        call.time_limit(LOOKING).output_limit(LONGEST_LIST).input(input.into_bytes())
    };
    let list = call(commits).args(["--stdin", "--parents", MOST_LISTED, "--not"]).args(options);
    let mut tips = childless(&list.succeed().await?)?;
    tips.truncate(MOST_MADE);
    if !tips.is_empty() {
        // A ref to what is not whole would have git refuse the repository from then on.
        let check = call(&tips).args(["--stdin", "--objects", "--quiet", "--not"]).args(options);
        check.succeed().await?;
    }
    Ok(tips)
}

/// Those of a list of commits with their parents that are no parents themselves.
fn childless(list: &[u8]) -> Result<Vec<Oid>, GitError> {
    let text = std::str::from_utf8(list).map_err(GitError::corrupt)?;
    let (mut all, mut parents) = (Vec::new(), HashSet::new());
    for line in text.lines() {
        let mut ids = line.split(' ').map(str::parse::<Oid>);
        all.extend(ids.next().transpose()?);
        for parent in ids {
            parents.insert(parent?);
        }
    }
    all.retain(|id| !parents.contains(id));
    Ok(all)
}

async fn make(
    forge: &Forge,
    project: ProjectId,
    repository: &RepoPath,
    commits: &[Oid],
) -> Result<()> {
    let mut moves = Vec::new();
    for id in commits {
        moves.push(RefMove { name: ref_of(*id)?, old: None.into(), new: Some(*id) });
    }
    let now = refs::read(repository, moves.iter().map(|one| &one.name)).await?;
    moves.retain(|one| !now.contains_key(&one.name));
    if moves.is_empty() {
        return Ok(());
    }
    let moved = forge.move_own(project, moves).await;
    // Somebody else makes the same ones in this moment.
    let is_late = match &moved {
        Ok(moved) => matches!(moved, InternalMove::Stale(_)),
        Err(failure) => failure.kind == Kind::Conflict,
    };
    if is_late {
        tracing::warn!(%project, "refs that keep commits are made by somebody else");
        return Ok(());
    }
    moved.map(drop)
}

#[cfg(test)]
mod tests {
    use super::{Oid, childless, commit_of, ref_of};

    fn id(digit: char) -> String {
        digit.to_string().repeat(40)
    }

    #[test]
    fn the_ref_of_a_commit_names_it() {
        let commit: Oid = id('a').parse().unwrap();
        assert_eq!(commit_of(ref_of(commit).unwrap().as_bstr()), Some(commit));
        let upper = format!("refs/keep-around/{}", id('A'));
        for other in ["refs/keep-around/", "refs/keep-around/aa", "refs/heads/x", &upper] {
            assert_eq!(commit_of(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_ref_to_the_last_commits_keeps_those_before_them() {
        let (a, b, c, d) = (id('a'), id('b'), id('c'), id('d'));
        let list = format!("{a} {b}\n{b} {c} {d}\n{c}\n");
        let tips = childless(list.as_bytes()).unwrap();
        assert_eq!(tips, [a.parse::<Oid>().unwrap()]);
        assert!(childless(b"").unwrap().is_empty() && childless(b"x\n").is_err());
    }
}
