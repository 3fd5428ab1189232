//! The records of releases, with their authors, commits, links and milestones, for a page at once.

use std::collections::HashMap;

use db::Tx;
use forge::{
    Forge,
    release::{ReleaseParts, release_parts},
    urls::Urls,
};
use kernel::{
    Ability, Error, Grant, Result,
    access::Project,
    ids::{MilestoneId, UserId},
};
use org::user::{User, store::UserStore as _};
use repo::{
    git::{CommitInfo, Oid},
    policy::ReadCode,
    release::Release,
};
use review::milestone::Milestone;

use super::release::{ReleaseContent, ReleaseEntity, ReleaseView};
use crate::review::milestone_with_statistics::MilestoneWithStatistics;

/// The record of one release, for a caller with this grant.
///
/// # Errors
/// When the database or the repository cannot be read.
pub async fn record<A: Ability<Scope = Project>>(
    forge: &Forge,
    grant: &Grant<A>,
    row: Release,
) -> Result<ReleaseEntity> {
    let mut all = records(forge, grant, vec![row]).await?;
    all.pop().ok_or_else(Error::missing)
}

/// As [`record`], of a release whose parts were read before.
///
/// # Errors
/// As [`record`].
pub async fn record_of<A: Ability<Scope = Project>>(
    forge: &Forge,
    grant: &Grant<A>,
    row: Release,
    parts: ReleaseParts,
) -> Result<ReleaseEntity> {
    let mut all = records_of(forge, grant, vec![row], parts).await?;
    all.pop().ok_or_else(Error::missing)
}

/// The records of a page of releases of one project, in their order.
///
/// # Errors
/// As [`record`].
pub async fn records<A: Ability<Scope = Project>>(
    forge: &Forge,
    grant: &Grant<A>,
    rows: Vec<Release>,
) -> Result<Vec<ReleaseEntity>> {
    let (who, urls, asked) = (*grant.who(), forge.urls.clone(), rows.clone());
    let read = forge.db.read(move |tx| {
        let parts = release_parts(tx, &who, &asked)?;
        let around = authors_and_milestones(tx, &urls, &asked, &parts)?;
        Ok((parts, around))
    });
    let (parts, around) = read.await?;
    records_with(forge, grant, rows, parts, around).await
}

async fn records_of<A: Ability<Scope = Project>>(
    forge: &Forge,
    grant: &Grant<A>,
    rows: Vec<Release>,
    parts: ReleaseParts,
) -> Result<Vec<ReleaseEntity>> {
    let (urls, asked, known) = (forge.urls.clone(), rows.clone(), parts.clone());
    let read = forge.db.read(move |tx| authors_and_milestones(tx, &urls, &asked, &known));
    records_with(forge, grant, rows, parts, read.await?).await
}

async fn records_with<A: Ability<Scope = Project>>(
    forge: &Forge,
    grant: &Grant<A>,
    rows: Vec<Release>,
    mut parts: ReleaseParts,
    (authors, milestones): AuthorsAndMilestones,
) -> Result<Vec<ReleaseEntity>> {
    let has_code = ReadCode::allows(grant.who());
    let commits = match has_code {
        true => commits(forge, grant, &rows).await?,
        false => HashMap::new(),
    };
    let full_path = &grant.facts().full_path;
    let view = ReleaseView { urls: &forge.urls, full_path, now: forge.db.clock().now(), has_code };
    let mut entity = |row: Release| {
        let own = parts.milestones.get(&row.id).into_iter().flatten();
        let content = ReleaseContent {
            author: row.author_id.and_then(|id| authors.get(&id)),
            commit: commits.get(&row.sha),
            links: parts.links.remove(&row.id).unwrap_or_default(),
            milestones: own.filter_map(|one| milestones.get(&one.id).cloned()).collect(),
        };
        ReleaseEntity::new(view, row, content)
    };
    Ok(rows.into_iter().map(&mut entity).collect())
}

type AuthorsAndMilestones = (HashMap<UserId, User>, HashMap<MilestoneId, MilestoneWithStatistics>);

fn authors_and_milestones(
    tx: &mut Tx<'_>,
    urls: &Urls,
    rows: &[Release],
    parts: &ReleaseParts,
) -> Result<AuthorsAndMilestones> {
    let mut people: Vec<UserId> = rows.iter().filter_map(|row| row.author_id).collect();
    people.sort_unstable();
    people.dedup();
    let mut milestones: Vec<Milestone> = parts.milestones.values().flatten().cloned().collect();
    milestones.sort_unstable_by_key(|row| row.id);
    milestones.dedup_by_key(|row| row.id);
    let authors = tx.users_by_id(&people)?;
    if milestones.is_empty() {
        return Ok((authors, HashMap::new()));
    }
    let all = MilestoneWithStatistics::all(tx, urls, milestones, &parts.issue_counts)?;
    Ok((authors, all.into_iter().map(|one| (MilestoneId(one.milestone.id), one)).collect()))
}

/// Those that are still there, by their ids.
async fn commits<A: Ability<Scope = Project>>(
    forge: &Forge,
    grant: &Grant<A>,
    rows: &[Release],
) -> Result<HashMap<String, CommitInfo>> {
    let ids: Vec<Oid> = rows.iter().filter_map(|row| row.sha.parse().ok()).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let read = forge.git_read(grant.project(), move |reader| {
        let mut found = HashMap::new();
        for id in ids {
            if reader.is_commit(id)? {
                found.insert(id.to_string(), reader.commit(id)?);
            }
        }
        Ok(found)
    });
    read.await
}
