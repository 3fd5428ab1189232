//! Prepares the pushes that create and delete branches.

use kernel::{Error, Grant, Result, Ts};

use super::read::{branch_named, existing, merged_among};
use crate::{
    commit::{Answers, read::deadline},
    git::{
        CommitInfo, Git, GitError, Oid, Reader, RefKind, RefName, RepoPath, Signature,
        branch_name::{LOOKS_LIKE_ID, looks_like_id},
        change::{self, ActionKind, Change, FileAction, Start},
    },
    policy::PushCode,
    protection::Protection,
    push::{Push, PushSource, RefChange},
};

/// A new branch `name` where `from` is: a branch, tag or commit.
pub fn creation(
    reader: &Reader,
    protection: &Protection,
    grant: &Grant<PushCode>,
    name: &str,
    from: &str,
) -> Result<Push> {
    let branch = named(name)?;
    if reader.find_reference(&branch)?.is_some() {
        return Err(Error::bad_request().whole("Branch already exists"));
    }
    let start = match reader.resolve(from) {
        Ok(start) => start,
        Err(GitError::NotFound | GitError::InvalidRef(_)) => {
            return Err(Error::bad_request().whole(format!(
                "Failed to create branch '{name}': invalid reference name '{from}'"
            )));
        }
        Err(failure) => return Err(failure.into()),
    };
    let on_protected = is_on_protected(reader, protection, name, start)?;
    let change = RefChange { on_protected, ..RefChange::plain(branch, None, Some(start)) };
    Ok(push(grant, vec![change]))
}

/// The name of a branch that does not exist yet.
pub fn named(name: &str) -> Result<RefName> {
    RefName::new_branch(name).map_err(|_invalid| {
        let text = if looks_like_id(name) { LOOKS_LIKE_ID } else { "Branch name is invalid" };
        Error::bad_request().whole(text.to_owned())
    })
}

/// Whether some protected branch has the commit; asked only for those whom only that lets make the branch.
fn is_on_protected(
    reader: &Reader,
    protection: &Protection,
    name: &str,
    start: Oid,
) -> Result<bool> {
    let own = protection.branch(name);
    if !own.is_protected() || own.may_push() || !own.may_merge() {
        return Ok(false);
    }
    let holders = reader.containing(start, RefKind::Branch, deadline())?;
    Ok(holders.iter().any(|holder| protection.branch(&holder.short()).is_protected()))
}

/// The first commit of an empty repository: `branch`, which becomes the default one, with an empty introduction.
pub async fn first_commit(
    git: &Git,
    repo: &RepoPath,
    grant: &Grant<PushCode>,
    branch: String,
    committer: Signature,
) -> Result<Push> {
    let title = "Add README.md".to_owned();
    let change = Change {
        branch,
        start: Start::default(),
        force: false,
        actions: vec![FileAction::new(ActionKind::Create, "README.md").content("")],
        message: title.clone(),
        author: committer.clone(),
        committer,
    };
    let made = change::build(git, repo, change).await?;
    let change = RefChange {
        commit_count: 1,
        commit_title: Some(title),
        ..RefChange::plain(made.branch.name, None, made.branch.new)
    };
    Ok(push(grant, vec![change]).with_made(made.id))
}

/// Takes a branch away, unless its head was written after `unmodified_since`.
pub fn deletion(
    reader: &Reader,
    grant: &Grant<PushCode>,
    name: &str,
    unmodified_since: Option<Ts>,
) -> Result<Push> {
    let branch = branch_named(name)?;
    let found = existing(reader, &branch)?;
    ensure_unmodified(reader, found.commit, unmodified_since)?;
    Ok(push(grant, vec![RefChange::plain(branch, Some(found.target), None)]))
}

/// Refuses when the commit was written after that moment.
pub(crate) fn ensure_unmodified(
    reader: &Reader,
    commit: Option<Oid>,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let (Some(since), Some(commit)) = (unmodified_since, commit) else { return Ok(()) };
    let CommitInfo { author, .. } = reader.commit(commit)?;
    if Ts::from_unix(author.at) > since { Err(Error::precondition()) } else { Ok(()) }
}

/// Takes away every branch that is merged, not protected, and not the default one; `None` when there is none.
pub fn deletion_of_merged(
    reader: &Reader,
    answers: &Answers,
    protection: &Protection,
    grant: &Grant<PushCode>,
) -> Result<Option<Push>> {
    let mut branches = reader.branches()?;
    branches.retain(|branch| {
        let name = branch.name.short();
        !protection.branch(&name).is_protected()
            && grant.facts().default_branch.as_deref() != Some(&*name)
    });
    let heads: Vec<Oid> = branches.iter().filter_map(|branch| branch.commit).collect();
    let merged = merged_among(reader, answers, grant.facts(), &heads)?;
    let gone = branches.into_iter().filter(|one| one.commit.is_some_and(|id| merged.contains(&id)));
    let changes: Vec<RefChange> =
        gone.map(|branch| RefChange::plain(branch.name, Some(branch.target), None)).collect();
    Ok((!changes.is_empty()).then(|| push(grant, changes)))
}

pub(crate) fn push(grant: &Grant<PushCode>, changes: Vec<RefChange>) -> Push {
    Push::new(grant.facts().clone(), *grant.who(), PushSource::Api, changes)
}
