//! The merge ref: the target as it would be after the merge, under a name that lists do not show.

use kernel::task::spawn_blocking;

use crate::git::{
    Git, GitError, Oid, Reader, RefName, RepoPath, Result, Signature,
    commit_object::CommitText,
    merge::merge,
    refs::{self, RefMove},
};

/// Lets `name` be a merge of both commits, and tells which. One that is there already stays.
///
/// # Errors
/// [`GitError::Conflict`] when git cannot merge them.
pub async fn merge_ref(
    git: &Git,
    repo: &RepoPath,
    name: &RefName,
    (target, head): (Oid, Oid),
    by: Signature,
) -> Result<Oid> {
    let (place, wanted) = (repo.clone(), name.clone());
    let known =
        spawn_blocking(move || known(&place, &wanted)).await.map_err(GitError::corrupt)??;
    if let Some((id, parents)) = &known
        && *parents == [target, head]
    {
        return Ok(*id);
    }
    let combined = merge(git, repo, target, head).await?;
    let text = CommitText {
        tree: combined.tree,
        parents: vec![target, head],
        author: by.clone(),
        committer: by,
        message: format!("Merge {head} into {target}"),
    };
    let id = combined.commit(git, repo, &text).await?;
    let step =
        RefMove { name: name.clone(), old: known.map(|known| known.0).into(), new: Some(id) };
    match refs::move_now(repo, &[step]).await {
        // Somebody else asked in the same moment; their merge is as good.
        Err(GitError::Stale { actual: Some(theirs) }) => Ok(theirs),
        moved => moved.map(|()| id),
    }
}

fn known(repo: &RepoPath, name: &RefName) -> Result<Option<(Oid, Vec<Oid>)>> {
    let reader = Reader::open_uncached(repo)?;
    let Some(found) = reader.find_reference(name)? else { return Ok(None) };
    let commit = reader.commit(found.target)?;
    Ok(Some((found.target, commit.parents)))
}
