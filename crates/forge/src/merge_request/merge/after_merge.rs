//! What follows from a merge and can wait: issues are closed, and the source branch goes. What follows from any change to a
//! merge request is there when the change is answered.

use db::Tx;
use kernel::{
    AccessLevel::Reporter,
    Result, Standing,
    access::Project,
    error::Kind,
    ids::{MergeRequestId, UserId},
};
use org::{
    access::IdOrPath,
    project::{settings::SettingsStore as _, store::ProjectStore as _},
};
use repo::{
    git::{Oid, RefName},
    protection::Protection,
    push::{Push, PushSource, RefChange},
};
use review::{
    issue::{
        Issue,
        actions::{CloseReason, close_for},
    },
    item::ItemStore as _,
    merge_request::{
        BranchPair, MergeRequest, MergeRequestState, MergeRequestStore as _,
        change::{self, HeadsSnapshot, MergeRequestChange},
        merge::{ClosesStore as _, closes::named_issues},
    },
};
use serde::{Deserialize, Serialize};
use worker::Job;

use super::{
    CheckMergeability,
    mergeability::{NamedProjects, commits_between, current, refresh_closes},
    resync::resync_with_git,
};
use crate::{
    Forge,
    merge_request::{
        code_owners::UpdateCodeOwners,
        diff_notes::FollowLines,
        head_refs::KeepHead,
        heads::{parsed, resolve_heads_at},
    },
    pipeline::MakeForMergeRequest,
    ports::{directory::Directory, review::OrgHierarchy},
    user::standing::{PersonInProject, person_in_project},
};

/// So many merge requests are led elsewhere when the branch goes that they led to.
const MOST_RETARGETED: usize = 4;

#[derive(Debug, Serialize, Deserialize)]
pub struct FinishMerge {
    pub merge_request: MergeRequestId,
}

impl Job for FinishMerge {
    const KIND: &'static str = "merge_request.finish_merge";

    fn unique_key(&self) -> Option<String> {
        Some(self.merge_request.to_string())
    }
}

/// Keeps which issues a merge request closes, after somebody wrote other words.
#[derive(Debug, Serialize, Deserialize)]
pub struct RefreshCloses {
    pub merge_request: MergeRequestId,
}

impl Job for RefreshCloses {
    const KIND: &'static str = "merge_request.refresh_closes";

    fn unique_key(&self) -> Option<String> {
        Some(self.merge_request.to_string())
    }
}

pub async fn refresh_closed_issues(forge: Forge, job: RefreshCloses) -> Result<()> {
    match refresh_closes(&forge, job.merge_request).await {
        Err(gone) if gone.is_gone() => Ok(()),
        refreshed => refreshed,
    }
}

pub async fn finish_merge(forge: Forge, job: FinishMerge) -> Result<()> {
    let row = match current(&forge, job.merge_request).await {
        Err(gone) if gone.is_gone() => return Ok(()),
        found => found?,
    };
    if row.state != MergeRequestState::Merged {
        return Ok(());
    }
    close_issues(&forge, &row).await?;
    remove_source(&forge, &row).await
}

async fn close_issues(forge: &Forge, row: &MergeRequest) -> Result<()> {
    let Some(by) = row.merge_user_id else { return Ok(()) };
    let messages = merged_messages(forge, row).await?;
    let (row, home) = (row.clone(), forge.urls.base().to_owned());
    let directory = Directory::new(&forge.urls);
    let closed = forge.db.write(move |tx| {
        if person_in_project(tx, by, &IdOrPath::Id(row.project_id.0))?.is_none() {
            return Ok(());
        }
        let branch = tx.project(row.project_id)?.default_branch;
        let wanted = tx.project_settings(row.project_id)?.autoclose_referenced_issues;
        if !wanted || branch.as_deref() != Some(row.target_branch.as_str()) {
            return Ok(());
        }
        let texts: Vec<&str> = messages.iter().map(String::as_str).collect();
        let named = named_issues(tx, &NamedProjects, row.project_id, &texts, &home)?;
        for issue in tx.closed_issues(row.id)? {
            let in_commits = named.iter().any(|(one, _)| one.id == issue.id);
            if in_commits || may_close(tx, by, &issue)? {
                close_for(tx, &directory, &issue, CloseReason::MergeRequest(&row), by)?;
            }
        }
        Ok(())
    });
    closed.await
}

async fn merged_messages(forge: &Forge, row: &MergeRequest) -> Result<Vec<String>> {
    let (Some(base), Some(head)) =
        (parsed(row.base_sha.as_deref()), parsed(row.head_sha.as_deref()))
    else {
        return Ok(Vec::new());
    };
    let read = forge.git_read(row.project_id, move |reader| {
        if !reader.has(head) {
            return Ok(Vec::new());
        }
        Ok(commits_between(reader, base, head)?)
    });
    Ok(read.await?.into_iter().map(|commit| commit.message).collect())
}

pub(super) fn may_close(tx: &mut Tx<'_>, by: UserId, issue: &Issue) -> Result<bool> {
    let project = IdOrPath::Id(issue.project_id.0);
    let Some(person) = person_in_project(tx, by, &project)? else { return Ok(false) };
    let who = person.who;
    let own = issue.author_id == by || tx.is_assigned(issue.id.into(), by)?;
    Ok(who.writes(Reporter) || (own && !who.archived))
}

/// A branch that is to go.
struct Removal {
    project: Project,
    who: Standing,
    by: UserId,
    name: RefName,
    head: Oid,
}

async fn remove_source(forge: &Forge, row: &MergeRequest) -> Result<()> {
    let seen = row.clone();
    let Some(removal) = forge.db.read(move |tx| removal(tx, &seen)).await? else { return Ok(()) };
    let branch = &row.source_branch;
    if forge.branch_head(removal.project.0.id, branch).await? != Some(removal.head) {
        return Ok(());
    }
    if !row.is_from_fork() {
        retarget(forge, row, &removal).await?;
    }
    let gone = RefChange::plain(removal.name, Some(removal.head), None);
    let push = Push::new(removal.project.0, removal.who, PushSource::Api, vec![gone]);
    match forge.push(push).await {
        // Somebody moved it meanwhile, or may do no longer what they might.
        Err(refused) if refused.is_whole(Kind::BadRequest) => {
            let reason = refused.to_string();
            tracing::info!(merge_request = %row.id, reason, "a source branch stays");
            Ok(())
        }
        pushed => pushed,
    }
}

/// The source branch, where it was to go with the merge and may.
fn removal(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<Option<Removal>> {
    let by = match (row.should_remove_source_branch, row.force_remove_source_branch) {
        (Some(true), _) => row.merge_user_id,
        (None, Some(true)) => Some(row.author_id),
        _ => None,
    };
    let (Some(by), Some(source), Some(head), Ok(name)) = (
        by,
        row.source_project_id,
        parsed(row.head_sha.as_deref()),
        RefName::branch(&row.source_branch),
    ) else {
        return Ok(None);
    };
    let Some(person) = person_in_project(tx, by, &IdOrPath::Id(source.0))? else {
        return Ok(None);
    };
    let PersonInProject { facts, who, .. } = person;
    let protection = Protection::load(tx, &who, source)?;
    let branch = protection.branch(&row.source_branch);
    let is_default = facts.default_branch.as_deref() == Some(row.source_branch.as_str());
    let goes = !branch.is_protected() && branch.may_push() && !is_default;
    Ok(goes.then_some(Removal { project: Project(facts), who, by, name, head }))
}

/// What led to the branch that goes leads to where that one was merged.
async fn retarget(forge: &Forge, row: &MergeRequest, removal: &Removal) -> Result<()> {
    let (project, branch) = (row.project_id, row.source_branch.clone());
    let led = forge.db.read(move |tx| tx.open_merge_requests_into(project, &branch)).await?;
    for one in led.into_iter().take(MOST_RETARGETED) {
        let Some(ends) = one.ends() else { continue };
        let at = BranchPair { target_branch: row.target_branch.clone(), ..ends };
        let heads = resolve_heads_at(forge, &at).await?;
        let (who, by, id) = (removal.who, removal.by, one.id);
        let done = forge.db.write(move |tx| {
            let one = tx.merge_request(one.id)?;
            if !change::may_update(tx, &who, &one)? {
                return Ok(());
            }
            let target_branch = Some(at.target_branch.clone());
            let asked = MergeRequestChange { target_branch, ..MergeRequestChange::default() };
            let looked = HeadsSnapshot { at, heads };
            change::change(tx, by, &OrgHierarchy, &one, Some(&looked), &asked).map(drop)
        });
        match done.await {
            Ok(()) => resync_with_git(forge, id).await?,
            // There is one between these branches already, or somebody changed it meanwhile.
            Err(refused) if matches!(refused.kind, Kind::Unprocessable | Kind::Conflict) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

/// Does now what waits to be done for a merge request: the commits that it holds are kept, git and the code owners are
/// asked, remarks on lines follow them, and issues know what closes them; after the merge those are closed, and the
/// source branch is gone where that was wanted. What a worker has begun of it is waited for.
pub async fn run_pending(forge: &Forge, id: MergeRequestId) -> Result<()> {
    forge.worker().run_now_and_wait(keys(id)).await
}

/// As [`run_pending`], for work, which waits for no other.
pub(super) async fn resume(forge: &Forge, id: MergeRequestId) -> Result<()> {
    forge.worker().run_now(keys(id)).await
}

/// As [`resume`], for one kind of work.
pub(super) async fn run_now(forge: &Forge, kind: &str, id: MergeRequestId) -> Result<()> {
    forge.worker().run_now(vec![format!("{kind}:{id}")]).await
}

fn keys(id: MergeRequestId) -> Vec<String> {
    let kinds = [
        KeepHead::KIND,
        CheckMergeability::KIND,
        UpdateCodeOwners::KIND,
        FollowLines::KIND,
        RefreshCloses::KIND,
        FinishMerge::KIND,
        MakeForMergeRequest::KIND,
    ];
    kinds.into_iter().map(|kind| format!("{kind}:{id}")).collect()
}
