//! What a push makes of the default branch: what a project's record and its lists tell of it, worked out from the new
//! objects before the refs move, so that it is written in the transaction of the push.

use std::time::Duration;

use kernel::{
    Error, Result,
    head::{HeadFacts, HeadMove, LanguageBytes, RepositoryFigures},
    task::spawn_blocking,
};

use super::{Push, PushSource, RefChange, ref_survey::MOST_COUNTED};
use crate::git::{
    Deadline, Git, LogQuery, Oid, Reader, RefName, Repositories, Storage, cli::ProcessClass,
};

/// Counting languages asks for the size of every file.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// So many messages are read for what they name, those of the newest commits.
pub const MOST_READ: usize = 1_000;
/// What the words begin with that stand in front of what is closed.
pub const CLOSING: [&str; 4] = ["clos", "fix", "resolv", "implement"];
/// In front of the number of an issue, beside others or in its address.
const SIGNS: [&str; 2] = ["#", "/issues/"];

/// Finds out what the push makes of the default branch, where it moves that. The objects must be there already.
pub async fn find_head_move(
    git: &Git,
    repositories: &Repositories,
    storage: &Storage,
    push: &mut Push,
) -> Result<()> {
    let Some((branch, change)) = default_branch(push) else { return Ok(()) };
    let mut moved = HeadMove {
        branch: branch.short().into_owned(),
        from: change.old.map(|id| id.to_string()),
        to: change.new.map(|id| id.to_string()),
        shows: None,
        names_issues: names_issues(repositories, storage, push, &change).await,
    };
    match facts(git, repositories, storage, push, &change).await {
        Ok(facts) => moved.shows = Some(facts),
        // The push itself is good: somebody looks again afterwards.
        Err(cause) => {
            tracing::warn!(project = %push.project.id, error = %cause, "a default branch was not looked at");
        }
    }
    push.head = Some(moved);
    Ok(())
}

fn default_branch(push: &Push) -> Option<(RefName, RefChange)> {
    let branch = match (&push.becomes_default, &push.project.default_branch) {
        (Some(branch), _) => branch.clone(),
        (None, Some(known)) => RefName::branch(known).ok()?,
        (None, None) => return None,
    };
    let change = push.changes.iter().find(|change| change.name == branch)?.clone();
    Some((branch, change))
}

async fn facts(
    git: &Git,
    repositories: &Repositories,
    storage: &Storage,
    push: &Push,
    change: &RefChange,
) -> Result<HeadFacts> {
    let Some(new) = change.new else { return Ok(HeadFacts::default()) };
    let path = storage.repository(push.project.id);
    // Commits that were counted to the end are not counted again.
    let counted = (1..MOST_COUNTED).contains(&change.commit_count);
    let grows = change.old.filter(|_| !change.forced && counted);
    let first = change.old.is_none() && push.becomes_default.is_some() && counted;
    let commits = match grows.is_some() || first {
        true => change.commit_count,
        false => commits(git, storage, push, new).await?,
    };
    let repositories = repositories.clone();
    let look = move || -> Result<HeadFacts> {
        let reader = repositories.open(&path)?;
        let deadline = Deadline::after(TIME_LIMIT);
        let (readme, license) = marks(&reader, new)?;
        let figures = match grows {
            Some(old) => RepositoryFigures::More {
                commits,
                languages: reader.language_changes(old, new, deadline)?,
            },
            None => RepositoryFigures::All {
                commits,
                languages: signed(reader.languages(new, deadline)?),
            },
        };
        Ok(HeadFacts { readme, license, figures })
    };
    spawn_blocking(look).await.map_err(Error::internal)?
}

/// What cannot be read now is read by whoever looks at the names.
async fn names_issues(
    repositories: &Repositories,
    storage: &Storage,
    push: &Push,
    change: &RefChange,
) -> bool {
    let (Some(old), Some(new)) = (change.old, change.new) else { return false };
    if push.via == PushSource::Merge {
        return false;
    }
    // A way that is long, or that nobody measured, is not walked while git waits.
    let count = usize::try_from(change.commit_count).unwrap_or(0);
    if change.forced || !(1..=MOST_READ).contains(&count) {
        return true;
    }
    let (repositories, path) = (repositories.clone(), storage.repository(push.project.id));
    let look = move || -> Result<bool> {
        let query = LogQuery { exclude: vec![old], take: MOST_READ, ..LogQuery::of(new) };
        let commits = repositories.open(&path)?.log(&query, Deadline::after(TIME_LIMIT))?;
        Ok(commits.iter().any(|commit| may_close(&commit.message)))
    };
    !matches!(spawn_blocking(look).await, Ok(Ok(false)))
}

/// Whether a word begins as those do that close something, and something may be named.
fn may_close(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    let begins = |at: usize| {
        let before = message.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    };
    SIGNS.iter().any(|sign| message.contains(sign))
        && CLOSING.iter().any(|stem| message.match_indices(stem).any(|(at, _)| begins(at)))
}

/// The files at the top that introduce a project and say under which licence it is.
pub fn marks(reader: &Reader, at: Oid) -> Result<(Option<String>, Option<String>)> {
    let path = |entry: crate::git::EntryInfo| entry.path.to_text().into_owned();
    let license = reader.licenses(at)?.into_iter().next();
    Ok((reader.readme(at)?.map(path), license.map(path)))
}

fn signed(found: Vec<(&'static str, u64)>) -> Vec<LanguageBytes> {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    found.into_iter().map(|(name, bytes)| (name, signed(bytes))).collect()
}

async fn commits(git: &Git, storage: &Storage, push: &Push, tip: Oid) -> Result<i64> {
    let repository = storage.repository(push.project.id);
    let counted = git
        .at(&repository, "rev-list")
        .args(["--count"])
        .id(tip)
        .lane(ProcessClass::Plumbing)
        .succeed();
    let text = counted.await?;
    String::from_utf8_lossy(&text).trim().parse().map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use super::may_close;

    #[test]
    fn words_that_only_hold_a_closing_one_promise_nothing() {
        for message in ["Closes #1", "See\n\nfixed /issues/2", "(Implements #3)"] {
            assert!(may_close(message), "{message}");
        }
        for message in ["Add prefixes (#12)", "Fix a typo", "See #3", "disclose #1"] {
            assert!(!may_close(message), "{message}");
        }
    }
}
