//! Statuses of commits that checks outside of pipelines report.

use ci::{
    commit_status::{ExternalState, Report, actions},
    job::Job,
    pipeline::{PipelineRef, PipelineStore as _},
    policy::ReportCommitStatus,
};
use kernel::{
    Grant, Result,
    ids::{PipelineId, ProjectId},
};
use repo::git::Oid;

use crate::{
    Forge,
    merge_request::merge::merge_waiting_for,
    pipeline::lookup::{branch_with, named},
    ports::ci::Refs,
};

/// A status to report; `commit` is a SHA or the name of a branch or tag.
#[derive(Clone, Debug)]
pub struct NewStatus {
    pub commit: String,
    pub ref_name: Option<String>,
    pub state: ExternalState,
    pub name: String,
    pub target_url: Option<String>,
    pub description: Option<String>,
    pub coverage: Option<f64>,
    pub pipeline: Option<PipelineId>,
}

/// Records the status of a commit. A success merges the merge requests that waited for it.
///
/// # Errors
/// `NotFound` for a commit, branch or pipeline that does not exist; otherwise as [`actions::report`].
pub async fn report(
    forge: &Forge,
    grant: &Grant<ReportCommitStatus>,
    status: NewStatus,
) -> Result<Job> {
    let project = grant.project();
    let (sha, ref_name) = (status.commit, status.ref_name);
    let read = forge.git_read(project, move |reader| named(reader, &sha, ref_name.as_deref()));
    let (commit, place) = read.await?;
    let fallback = match &place {
        Some(_) => None,
        None => fallback(forge, project, commit, status.pipeline).await?,
    };
    let report = Report {
        sha: commit.to_string(),
        place,
        fallback,
        state: status.state,
        name: status.name,
        target_url: status.target_url,
        description: status.description,
        coverage: status.coverage,
        pipeline: status.pipeline,
    };
    let grant = grant.clone();
    let job = forge.db.write(move |tx| actions::report(tx, &grant, &Refs, report)).await?;
    if status.state == ExternalState::Success {
        merge_waiting_for(forge, project, commit.to_string()).await?;
    }
    Ok(job)
}

/// A branch with the commit, which is looked for only if no pipeline can name one.
async fn fallback(
    forge: &Forge,
    project: ProjectId,
    commit: Oid,
    pinned: Option<PipelineId>,
) -> Result<Option<PipelineRef>> {
    let sha = commit.to_string();
    let newest = forge.db.peek(move |tx| tx.newest_pipeline(project, &sha));
    if pinned.is_none() && newest.await?.is_some() {
        return Ok(None);
    }
    forge.git_read(project, move |reader| branch_with(reader, commit)).await
}
