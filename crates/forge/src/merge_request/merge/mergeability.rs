//! The mergeability of a merge request: the check with git, its stored result, and the requirements of the project.

use std::sync::Arc;

use ci::{Status, pipeline::PipelineStore as _};
use db::Tx;
use kernel::{
    Error, Result, Standing,
    access::ProjectFacts,
    ids::{MergeRequestId, ProjectId},
};
use org::{
    project::{settings::SettingsStore as _, store::ProjectStore as _},
    user::User,
};
use repo::{
    git::{CommitInfo, Deadline, LogQuery, Oid, Reader, RepoPath, transfer},
    protection::Protection,
    push::{head::MOST_READ, journal::JournalStore as _},
};
use review::{
    merge_request::{
        MergeRequest, MergeRequestState, MergeRequestStore as _,
        merge::{MergeabilityStore as _, closes},
        mergeability::{CheckStep, Facts, HeadPipeline, MergeRequirements},
    },
    ports,
};
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::{Job, Queue as _};

use crate::Forge;

/// So often git is asked again when something changed meanwhile.
const TRIES: usize = 5;
/// So long it is waited for a branch that is about to move.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(40);
/// So long after that a branch has come to rest.
const REST: Duration = Duration::seconds(5);

/// The head commits of both branches of a merge request, both present in the target repository.
#[derive(Clone, Debug)]
pub(crate) struct MergeInputs {
    pub repo: RepoPath,
    pub target: Oid,
    pub head: Oid,
}

/// The merge inputs of a merge request; `None` when a branch is missing.
pub(super) async fn merge_inputs(forge: &Forge, row: &MergeRequest) -> Result<Option<MergeInputs>> {
    let Some(ends) = row.ends() else { return Ok(None) };
    let Some(target) = forge.branch_head(ends.target, &ends.target_branch).await? else {
        return Ok(None);
    };
    let Some(head) = forge.branch_head(ends.source, &ends.source_branch).await? else {
        return Ok(None);
    };
    let repo = forge.storage.repository(ends.target);
    let from = forge.storage.repository(ends.source);
    transfer::bring(&forge.git, &from, &repo, head).await?;
    Ok(Some(MergeInputs { repo, target, head }))
}

/// The merge request as it is now.
pub(super) async fn current(forge: &Forge, id: MergeRequestId) -> Result<MergeRequest> {
    forge.db.read(move |tx| tx.merge_request(id)).await
}

/// Checks the mergeability with git, unless the stored result is current, and stores the result.
pub async fn check_mergeability(forge: &Forge, id: MergeRequestId) -> Result<MergeRequest> {
    for _ in 0..TRIES {
        let found = forge.db.read(move |tx| {
            let seen = tx.seen(id)?;
            let leaving = leaving(tx, &seen.row)?;
            Ok((seen, leaving))
        });
        let (seen, leaving) = found.await?;
        if !is_asked_of(&seen.row) {
            return Ok(seen.row);
        }
        let inputs = merge_inputs(forge, &seen.row).await?;
        // A push is decided a moment before its branch moves: this is what the target was before.
        if inputs.as_ref().is_some_and(|inputs| leaving == Some(inputs.target.to_string())) {
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        let said = ask(forge, inputs.as_ref()).await?;
        if let Some(row) = forge.db.write(move |tx| tx.save_mergeability(&seen, said)).await? {
            return Ok(row);
        }
    }
    // It moved each time. What was said before does not count, so it is asked when it has come to rest.
    let later = move |tx: &mut Tx<'_>| {
        let row = tx.merge_request(id)?;
        let job = CheckMergeability { merge_request: id };
        if is_asked_of(&row) {
            tx.enqueue_at(&job, tx.now.plus(REST))?;
        }
        Ok(row)
    };
    forge.db.write(later).await
}

/// Whether git has yet to say something of it.
fn is_asked_of(row: &MergeRequest) -> bool {
    row.state == MergeRequestState::Opened && row.merge_status.is_open()
}

/// The commit that the target is leaving, or has just left.
fn leaving(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<Option<String>> {
    let name = format!("refs/heads/{}", row.target_branch);
    let last = tx.last_move(row.project_id, &name)?;
    Ok(last.filter(|one| one.new_sha != one.old_sha).and_then(|one| one.old_sha))
}

/// As [`check_mergeability`], for somebody who reads a merge request. What git cannot say now, the background asks again.
pub async fn checked(forge: &Forge, row: MergeRequest) -> Result<MergeRequest> {
    if !is_asked_of(&row) {
        return Ok(row);
    }
    match check_mergeability(forge, row.id).await {
        Err(failure) if failure.is_gone() => Err(failure),
        Err(failure) => {
            tracing::warn!(merge_request = %row.id, %failure, "git is asked later");
            let seen = row.clone();
            forge.db.write(move |tx| recheck(tx, &seen)).await?;
            Ok(row)
        }
        looked => looked,
    }
}

/// Asks git whatever it said before, and tells what is to be merged; `None` where it cannot merge that.
pub(super) async fn check_now(forge: &Forge, id: MergeRequestId) -> Result<Option<MergeInputs>> {
    let seen = forge.db.read(move |tx| tx.seen(id)).await?;
    let inputs = merge_inputs(forge, &seen.row).await?;
    let said = ask(forge, inputs.as_ref()).await?;
    if seen.row.merge_status.after(said) != seen.row.merge_status {
        forge.db.write(move |tx| tx.save_mergeability(&seen, said)).await?;
    }
    Ok(inputs.filter(|_| said == CheckStep::Fits))
}

async fn ask(forge: &Forge, inputs: Option<&MergeInputs>) -> Result<CheckStep> {
    let Some(inputs) = inputs else { return Ok(CheckStep::Clashes) };
    let fits = forge.checks.fits(&forge.git, &inputs.repo, inputs.target, inputs.head).await?;
    Ok(if fits { CheckStep::Fits } else { CheckStep::Clashes })
}

/// Checks the mergeability of one merge request, unless the stored result is current.
#[derive(Debug, Serialize, Deserialize)]
pub struct CheckMergeability {
    pub merge_request: MergeRequestId,
}

impl Job for CheckMergeability {
    const KIND: &'static str = "merge_request.look";

    fn unique_key(&self) -> Option<String> {
        Some(self.merge_request.to_string())
    }
}

/// Lets git be asked soon, where it has yet to say something. Whoever reads a list does not wait for it.
pub fn recheck(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<()> {
    if is_asked_of(row) { tx.enqueue(&CheckMergeability { merge_request: row.id }) } else { Ok(()) }
}

/// Nothing for what is gone by now.
pub async fn check_heads(forge: Forge, job: CheckMergeability) -> Result<()> {
    match check_mergeability(&forge, job.merge_request).await {
        Err(gone) if gone.is_gone() => Ok(()),
        looked => looked.map(drop),
    }
}

/// Everything stored that decides whether a merge request can be merged.
pub fn facts(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<Facts> {
    let settings = tx.project_settings(row.project_id)?;
    let demands = MergeRequirements {
        resolved_threads: settings.only_allow_merge_if_all_discussions_are_resolved,
        successful_pipeline: settings.only_allow_merge_if_pipeline_succeeds,
        skipped_is_success: settings.allow_merge_on_skipped_pipeline.unwrap_or_default(),
    };
    Ok(Facts {
        state: row.state,
        merge_status: row.known_merge_status(),
        draft: row.draft,
        approved: row.approved,
        has_open_threads: row.unresolved_threads > 0,
        pipeline: head_pipeline(tx, row)?,
        demands,
    })
}

/// How the newest pipeline of the newest commit stands.
pub fn head_pipeline(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<HeadPipeline> {
    let (Some(source), Some(head)) = (row.source_project_id, &row.head_sha) else {
        return Ok(HeadPipeline::Missing);
    };
    let found = tx.head_pipeline(source, head, row.id)?;
    Ok(stands(found.map(|found| found.status)))
}

/// What a pipeline means for a merge request whose newest commit it is about.
pub fn stands(status: Option<Status>) -> HeadPipeline {
    match status {
        None => HeadPipeline::Missing,
        Some(status) if status.is_active() => HeadPipeline::Active,
        Some(Status::Success) => HeadPipeline::Succeeded,
        Some(Status::Skipped) => HeadPipeline::Skipped,
        Some(_) => HeadPipeline::Stopped,
    }
}

/// The commits that `head` has and `start` lacks, newest first.
pub(super) fn commits_between(
    reader: &Reader,
    start: Oid,
    head: Oid,
) -> repo::git::Result<Vec<CommitInfo>> {
    let query = LogQuery { exclude: vec![start], take: MOST_READ, ..LogQuery::of(head) };
    reader.log(&query, Deadline::NEVER)
}

/// Which projects texts name.
#[derive(Clone, Copy, Debug)]
pub struct NamedProjects;

impl ports::NamedProjects for NamedProjects {
    fn project_named(
        &self,
        tx: &mut Tx<'_>,
        from: ProjectId,
        path: &str,
    ) -> Result<Option<ProjectId>> {
        let home = tx.project(from)?;
        let found = match path.contains('/') {
            true => tx.find_project_at(path)?,
            false => {
                let beside = home.full_path.rsplit_once('/').map_or("", |(place, _)| place);
                tx.find_project_at(&format!("{beside}/{path}"))?
            }
        };
        Ok(found.map(|project| project.id).filter(|id| home.forked_from_id != Some(*id)))
    }
}

/// Keeps which issues a merge request closes, after its words, its target or its commits changed.
pub(super) async fn refresh_closes(forge: &Forge, id: MergeRequestId) -> Result<()> {
    let row = forge.db.read(move |tx| tx.merge_request(id)).await?;
    let messages = match merge_inputs(forge, &row).await? {
        None => Vec::new(),
        Some(MergeInputs { target, head, .. }) => {
            let read = forge
                .git_read(row.project_id, move |reader| Ok(commits_between(reader, target, head)?));
            read.await?.into_iter().map(|commit| commit.message).collect()
        }
    };
    let home = forge.urls.base().to_owned();
    let kept = forge.db.write(move |tx| save_closes(tx, id, &messages, &home));
    kept.await
}

pub(super) fn save_closes(
    tx: &mut Tx<'_>,
    id: MergeRequestId,
    messages: &[String],
    home: &str,
) -> Result<()> {
    let row = tx.merge_request(id)?;
    let branch = tx.project(row.project_id)?.default_branch;
    closes::refresh(tx, &NamedProjects, &row, branch.as_deref(), messages, home)
}

/// A user who merges, and their standing in the project.
#[derive(Clone, Debug)]
pub(super) struct Merger {
    pub(super) facts: Arc<ProjectFacts>,
    pub(super) who: Standing,
    pub(super) user: User,
}

/// Whether somebody may merge into the target, by push or by merge right.
pub fn may_merge(tx: &mut Tx<'_>, who: &Standing, row: &MergeRequest) -> Result<bool> {
    if who.archived || !who.signed_in() {
        return Ok(false);
    }
    let protection = Protection::of_branches(tx, who, row.project_id)?;
    let branch = protection.branch(&row.target_branch);
    Ok(branch.may_push() || branch.may_merge())
}

/// # Errors
/// `Unauthenticated` for those who may not merge into the target.
pub fn ensure_may_merge(tx: &mut Tx<'_>, who: &Standing, row: &MergeRequest) -> Result<()> {
    if may_merge(tx, who, row)? { Ok(()) } else { Err(Error::unauthenticated()) }
}
