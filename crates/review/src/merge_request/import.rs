//! Merge requests that come from another installation, with their numbers, authors and times, a page at a time. Nobody
//! is told of them, and nothing runs for them.

use std::collections::{BTreeSet, HashMap, HashSet};

use db::{
    Tx, each_backend, error,
    schema::{
        approvals, merge_request_reviewers as reviewers, merge_request_versions as versions,
        merge_requests,
    },
};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{MergeRequestId, ProjectId, UserId},
};

use super::{Heads, MergeRequestState, MergeStatus, ReviewState, draft::is_draft};
use crate::{
    Home,
    item::{
        ItemKind,
        import::{ItemAttachments, attach, ids_by_iid},
        tasks_in,
    },
    milestone::import::by_iid,
    sequence,
};

/// A merge request as another installation has it. Its branches are those of the project.
#[derive(Clone, Debug)]
pub struct ImportedMergeRequest {
    pub iid: i64,
    pub title: String,
    pub description: Option<String>,
    pub state: MergeRequestState,
    pub author: UserId,
    pub source_branch: String,
    pub target_branch: String,
    /// What git says of the branches.
    pub heads: Heads,
    pub assignees: Vec<UserId>,
    pub reviewers: Vec<UserId>,
    pub labels: Vec<String>,
    /// The number of its milestone.
    pub milestone: Option<i64>,
    pub discussion_locked: bool,
    pub merge_commit_sha: Option<String>,
    pub merged_at: Option<Ts>,
    pub merged_by: Option<UserId>,
    pub closed_at: Option<Ts>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// Writes the merge requests whose numbers a project lacks; returns the ids of these.
pub fn insert_merge_requests(
    tx: &mut Tx<'_>,
    project: ProjectId,
    new: &[ImportedMergeRequest],
) -> Result<Vec<MergeRequestId>> {
    let iids: Vec<i64> = new.iter().map(|one| one.iid).collect();
    let known = ids_by_iid(tx, project, ItemKind::MergeRequest, &iids)?;
    let mut seen: HashSet<i64> = known.into_keys().collect();
    let new: Vec<&ImportedMergeRequest> = new.iter().filter(|one| seen.insert(one.iid)).collect();
    if new.is_empty() {
        return Ok(Vec::new());
    }
    insert_rows(tx, project, &new)?;
    let iids: Vec<i64> = new.iter().map(|one| one.iid).collect();
    let ids = ids_by_iid(tx, project, ItemKind::MergeRequest, &iids)?;
    insert_versions(tx, &new, &ids)?;
    insert_reviewers(tx, &new, &ids)?;
    let attached: Vec<ItemAttachments<'_>> = new
        .iter()
        .filter_map(|one| {
            let id = *ids.get(&one.iid)?;
            Some(ItemAttachments { id, labels: &one.labels, assignees: &one.assignees })
        })
        .collect();
    attach(tx, project, ItemKind::MergeRequest, &attached)?;
    let last = iids.iter().copied().max().unwrap_or_default();
    sequence::reach(tx, Home::Project(project), "merge_request", last)?;
    Ok(iids.iter().filter_map(|iid| ids.get(iid).copied()).map(MergeRequestId).collect())
}

fn insert_rows(tx: &mut Tx<'_>, project: ProjectId, new: &[&ImportedMergeRequest]) -> Result<()> {
    let wanted: Vec<i64> = new.iter().filter_map(|one| one.milestone).collect();
    let milestones = by_iid(tx, project, &wanted)?;
    let rows: Vec<_> = new
        .iter()
        .map(|one| {
            let tasks = tasks_in(one.description.as_deref().unwrap_or_default());
            let heads = &one.heads;
            let is_whole = heads.head.is_some() && heads.base.is_some() && heads.start.is_some();
            let milestone = one.milestone.and_then(|iid| milestones.get(&iid).copied());
            (
                (
                    merge_requests::project_id.eq(project),
                    merge_requests::iid.eq(one.iid),
                    merge_requests::source_project_id.eq(project),
                    merge_requests::source_branch.eq(&one.source_branch),
                    merge_requests::target_branch.eq(&one.target_branch),
                    merge_requests::title.eq(&one.title),
                    merge_requests::description.eq(&one.description),
                    merge_requests::state.eq(one.state),
                    merge_requests::draft.eq(is_draft(&one.title)),
                    merge_requests::author_id.eq(one.author),
                ),
                (
                    merge_requests::milestone_id.eq(milestone),
                    merge_requests::merge_status.eq(MergeStatus::Unchecked),
                    merge_requests::head_sha.eq(&heads.head),
                    merge_requests::base_sha.eq(heads.base.as_ref().filter(|_| is_whole)),
                    merge_requests::start_sha.eq(heads.start.as_ref().filter(|_| is_whole)),
                    merge_requests::changes_count.eq(is_whole.then_some(heads.files)),
                    merge_requests::merge_commit_sha.eq(&one.merge_commit_sha),
                    merge_requests::merged_at.eq(one.merged_at),
                    merge_requests::merge_user_id.eq(one.merged_by),
                    merge_requests::closed_at.eq(one.closed_at),
                ),
                (
                    merge_requests::discussion_locked.eq(one.discussion_locked.then_some(true)),
                    merge_requests::squash.eq(false),
                    merge_requests::allow_collaboration.eq(false),
                    merge_requests::task_count.eq(tasks.count),
                    merge_requests::task_completed_count.eq(tasks.completed),
                    merge_requests::created_at.eq(one.created_at),
                    merge_requests::updated_at.eq(one.updated_at),
                ),
            )
        })
        .collect();
    each_backend!(tx, |conn| diesel::insert_into(merge_requests::table)
        .values(&rows)
        .execute(conn)
        .map_err(error("Merge request")))?;
    Ok(())
}

fn insert_versions(
    tx: &mut Tx<'_>,
    new: &[&ImportedMergeRequest],
    ids: &HashMap<i64, i64>,
) -> Result<()> {
    let rows: Vec<_> = new
        .iter()
        .filter_map(|one| {
            let heads = &one.heads;
            Some((
                versions::merge_request_id.eq(*ids.get(&one.iid)?),
                versions::head_commit_sha.eq(heads.head.as_ref()?),
                versions::base_commit_sha.eq(heads.base.as_ref()?),
                versions::start_commit_sha.eq(heads.start.as_ref()?),
                versions::state.eq(heads.state()),
                versions::real_size.eq(heads.files),
                versions::created_at.eq(one.created_at),
            ))
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    each_backend!(tx, |conn| diesel::insert_into(versions::table)
        .values(&rows)
        .execute(conn)
        .map_err(error("Version")))?;
    Ok(())
}

fn insert_reviewers(
    tx: &mut Tx<'_>,
    new: &[&ImportedMergeRequest],
    ids: &HashMap<i64, i64>,
) -> Result<()> {
    let pairs: BTreeSet<(i64, UserId)> = new
        .iter()
        .filter_map(|one| Some((*ids.get(&one.iid)?, &one.reviewers)))
        .flat_map(|(id, people)| people.iter().map(move |user| (id, *user)))
        .collect();
    let now = tx.now;
    let rows: Vec<_> = pairs
        .into_iter()
        .map(|(id, user)| {
            (
                reviewers::merge_request_id.eq(id),
                reviewers::user_id.eq(user),
                reviewers::state.eq(ReviewState::Unreviewed),
                reviewers::created_at.eq(now),
            )
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    each_backend!(tx, |conn| diesel::insert_into(reviewers::table)
        .values(&rows)
        .execute(conn)
        .map_err(error("User")))?;
    Ok(())
}

/// Writes who approved a merge request, where that is not known yet; returns how many were new.
pub fn insert_approvals(
    tx: &mut Tx<'_>,
    of: MergeRequestId,
    people: &[(UserId, Ts)],
) -> Result<usize> {
    let known = approvals::table.filter(approvals::merge_request_id.eq(of));
    let known: Vec<UserId> = each_backend!(tx, |conn| known
        .select(approvals::user_id)
        .load(conn)
        .map_err(error("Approval")))?;
    let mut known: HashSet<UserId> = known.into_iter().collect();
    let rows: Vec<_> = people
        .iter()
        .filter(|(user, _)| known.insert(*user))
        .map(|(user, at)| {
            (
                approvals::merge_request_id.eq(of),
                approvals::user_id.eq(*user),
                approvals::created_at.eq(*at),
            )
        })
        .collect();
    if rows.is_empty() {
        return Ok(0);
    }
    each_backend!(tx, |conn| diesel::insert_into(approvals::table)
        .values(&rows)
        .execute(conn)
        .map_err(error("Approval")))
}
