//! The head commits of merge requests in repositories, and the refs that keep them.

use db::Tx;
use kernel::{Ability, Grant, Result, Standing, access::Project, ids::ProjectId};
use org::{
    access::{IdOrPath, locate_project},
    project::forks::are_related,
};
use repo::{
    git::{Oid, transfer},
    range,
};
use review::merge_request::{
    BranchPair, ForkRelation, Heads, MergeRequest,
    change::{HeadsSnapshot, MergeRequestChange},
    version::MOST_FILES,
};

use crate::Forge;

/// A project that the caller names, where they may do something there.
pub fn grant_in_project<A: Ability<Scope = Project>>(
    tx: &mut Tx<'_>,
    who: &Standing,
    id: ProjectId,
) -> Result<Grant<A>> {
    let (project, who) = locate_project(tx, who.actor, &IdOrPath::Id(id.0))?;
    Grant::check(&who, project)
}

/// How two projects are to each other.
pub fn fork_relation(tx: &mut Tx<'_>, one: ProjectId, other: ProjectId) -> Result<ForkRelation> {
    if one == other {
        return Ok(ForkRelation::Same);
    }
    Ok(if are_related(tx, one, other)? { ForkRelation::Related } else { ForkRelation::Strangers })
}

/// As [`resolve_heads_at`], before it is known whether there can be a merge request: nothing is brought to strangers.
pub async fn resolve_heads(
    forge: &Forge,
    ends: &BranchPair,
    fork_relation: ForkRelation,
) -> Result<Heads> {
    match fork_relation {
        ForkRelation::Strangers => Ok(Heads::default()),
        ForkRelation::Same | ForkRelation::Related => resolve_heads_at(forge, ends).await,
    }
}

/// What git says of the branches as they are to be after a change.
pub async fn resolve_heads_before(
    forge: &Forge,
    row: &MergeRequest,
    change: &MergeRequestChange,
) -> Result<Option<HeadsSnapshot>> {
    let Some(mut ends) = row.ends() else { return Ok(None) };
    if let Some(branch) = &change.target_branch {
        ends.target_branch.clone_from(branch);
    }
    let heads = resolve_heads_at(forge, &ends).await?;
    Ok(Some(HeadsSnapshot { at: ends, heads }))
}

/// Looks where the branches of a merge request are, and what the source changes. What the source has is brought to the
/// target, so that nobody has to look elsewhere for it.
pub async fn resolve_heads_at(forge: &Forge, ends: &BranchPair) -> Result<Heads> {
    let head = forge.branch_head(ends.source, &ends.source_branch).await?;
    let start = forge.branch_head(ends.target, &ends.target_branch).await?;
    let (Some(head), Some(start)) = (head, start) else {
        let text = |id: Option<Oid>| id.map(|id| id.to_string());
        return Ok(Heads { head: text(head), start: text(start), base: None, files: 0 });
    };
    let [from, into] = [ends.source, ends.target].map(|id| forge.storage.repository(id));
    transfer::bring(&forge.git, &from, &into, head).await?;
    let found = forge
        .git_read(ends.target, move |reader| range::range_summary(reader, start, head))
        .await?;
    let files = found.files.and_then(|files| i64::try_from(files).ok()).unwrap_or(MOST_FILES + 1);
    Ok(Heads {
        head: Some(head.to_string()),
        start: Some(start.to_string()),
        base: Some(found.base.to_string()),
        files,
    })
}

/// The commit that a column names; nothing where it names none.
pub(super) fn parsed(sha: Option<&str>) -> Option<Oid> {
    sha.and_then(|sha| sha.parse().ok())
}
