//! The merge requests that have to do with an issue.

use std::collections::HashMap;

use db::Tx;
use kernel::{Actor, Result, ids::IssueId};

use super::Issue;
use crate::{
    item::{ItemKind, reading::readable},
    merge_request::{MergeRequest, MergeRequestStore as _, merge::ClosesStore as _},
    ports::Forge,
    reference::MentionStore as _,
};

/// Those that close it when they are merged and that the caller may read, oldest first.
pub fn closing(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    issue: &Issue,
) -> Result<Vec<MergeRequest>> {
    let ids = closing_ids(tx, issue)?;
    shown(tx, forge, actor, &ids)
}

/// Those that close it, name it or are named by it and that the caller may read, by their numbers.
pub fn related(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    issue: &Issue,
) -> Result<Vec<MergeRequest>> {
    let mut ids = tx.items_named_with(issue.id.into(), ItemKind::MergeRequest)?;
    ids.extend(closing_ids(tx, issue)?);
    ids.sort_unstable();
    ids.dedup();
    let mut found = shown(tx, forge, actor, &ids)?;
    found.sort_by_key(|row| (row.iid, row.id));
    Ok(found)
}

/// How many merge requests that the caller may read close each of these issues; none where an issue is left out.
pub fn count_closing(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    issues: &[Issue],
) -> Result<HashMap<IssueId, i64>> {
    let closed = issues.iter().filter(|issue| issue.merge_requests_count > 0);
    let closed: Vec<IssueId> = closed.map(|issue| issue.id).collect();
    let mut counts = HashMap::new();
    if closed.is_empty() {
        return Ok(counts);
    }
    let rows = tx.closings_of(&closed)?;
    let items: Vec<_> = rows.iter().map(|(_, row, project)| ((*row).into(), *project)).collect();
    let seen = readable(tx, forge, actor, &items)?;
    for (issue, row, _) in rows {
        if seen.contains(&row.into()) {
            *counts.entry(issue).or_default() += 1;
        }
    }
    Ok(counts)
}

fn closing_ids(tx: &mut Tx<'_>, issue: &Issue) -> Result<Vec<i64>> {
    Ok(tx.closing_merge_requests(issue.id)?.into_iter().map(|id| id.0).collect())
}

fn shown(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    ids: &[i64],
) -> Result<Vec<MergeRequest>> {
    let mut rows = tx.merge_requests_in_order(ids)?;
    let items: Vec<_> = rows.iter().map(|row| (row.id.into(), row.project_id)).collect();
    let seen = readable(tx, forge, actor, &items)?;
    rows.retain(|row| seen.contains(&row.id.into()));
    Ok(rows)
}
