//! Pipelines and jobs of an archive: what decides about them here, in the transaction that writes them.

use std::{collections::HashMap, path::PathBuf};

use admin::archive::{ArchiveIdStore as _, ArchiveImport};
use ci::{
    archive::{
        PipelineBounds, complete_jobs, cut_circles, end_pipelines, has_oversized_pipeline,
        unprotect,
    },
    pipeline::{Pipeline, PipelineRef, PipelineStore as _},
    ports::Refs as _,
    schedule::archive::{begin_runs, next_runs},
};
use db::{
    Tx,
    archive::{Cell, Relation},
};
use kernel::{
    Actor, Result, Standing,
    ids::{ArchiveImportId, MergeRequestId, PipelineId, PipelineScheduleId, ProjectId},
};
use repo::git::Oid;

use super::{
    bundle::pipeline_commits,
    failure::ArchiveError,
    rows::{Context, PAGE},
};
use crate::{Forge, ports::ci::Refs, runner};

/// Completes rows of a relation that were written just now; `made` are the ids of those that have one of their own.
pub(super) fn complete(
    tx: &mut Tx<'_>,
    context: &Context,
    relation: &Relation,
    rows: &[Vec<Cell>],
    made: &[i64],
) -> Result<(), ArchiveError> {
    match relation.name {
        "pipelines" => check_protection(tx, ProjectId(context.home), made)?,
        "jobs" => {
            complete_jobs(tx, made, context.import.user_id)?;
            if has_oversized_pipeline(tx, made, PipelineBounds::USUAL)? {
                return Err(ArchiveError::flawed("The archive has a pipeline of too many jobs."));
            }
        }
        "pipeline_parents" => cut_circles(tx, &children(rows))?,
        _ => {}
    }
    Ok(())
}

/// The pipelines that rows add something to.
fn children(rows: &[Vec<Cell>]) -> Vec<i64> {
    let id = |row: &Vec<Cell>| match row.first() {
        Some(Cell::Number(id)) => Some(*id),
        _ => None,
    };
    rows.iter().filter_map(id).collect()
}

/// Jobs of protected branches and tags get protected variables and runners: whether theirs is protected is decided by the
/// rules of the copy, which are there before, and not by what an archive says.
fn check_protection(tx: &mut Tx<'_>, project: ProjectId, made: &[i64]) -> Result<()> {
    let ids: Vec<PipelineId> = made.iter().copied().map(PipelineId).collect();
    let found = tx.pipelines_by_id(&ids)?.into_values();
    let protected: Vec<Pipeline> = found.filter(|pipeline| pipeline.protected).collect();
    if protected.is_empty() {
        return Ok(());
    }
    let requests: Vec<MergeRequestId> =
        protected.iter().filter_map(|pipeline| pipeline.merge_request_id).collect();
    let branches = match requests.is_empty() {
        true => HashMap::new(),
        false => Refs.source_branches(tx, &requests)?,
    };
    let branch = |id: MergeRequestId| branches.get(&id).cloned();
    let place = |pipeline: &Pipeline| match pipeline.merge_request_id.and_then(branch) {
        Some(name) => PipelineRef { name, tag: false },
        None => pipeline.place(),
    };
    let places: Vec<PipelineRef> = protected.iter().map(place).collect();
    let who = Standing::in_instance(Actor::ANONYMOUS);
    let access = Refs.guarded_places(tx, &who, project, &places)?;
    let open = protected.iter().zip(access).filter(|(_, access)| !access.protected);
    let open: Vec<PipelineId> = open.map(|(pipeline, _)| pipeline.id).collect();
    unprotect(tx, &open)
}

/// Ends the pipelines that were under way in the source. Done again, it does what is left.
pub(super) async fn end_all(forge: &Forge, project: ProjectId) -> Result<()> {
    let mut after = PipelineId(0);
    while let Some(last) = forge.db.write(move |tx| end_pipelines(tx, project, after)).await? {
        after = last;
    }
    Ok(())
}

/// Keeps the commits of pipelines for which the source kept them, so that jobs can be run again where no branch has these
/// any more. Done again, it does what is left.
pub(super) async fn keep_commits(
    forge: &Forge,
    import: &ArchiveImport,
    project: ProjectId,
    bundle: PathBuf,
) -> Result<(), ArchiveError> {
    for page in pipeline_commits(bundle).await?.chunks(PAGE) {
        let (id, page) = (import.id, page.to_vec());
        let read = move |tx: &mut Tx<'_>| pipelines_here(tx, id, project, &page);
        let found = forge.db.read(read).await?;
        runner::keep_commits(forge, project, found).await?;
    }
    Ok(())
}

/// Pipelines as they are here, with their commits, where the archive names the same ones.
fn pipelines_here(
    tx: &mut Tx<'_>,
    import: ArchiveImportId,
    project: ProjectId,
    commits: &[(PipelineId, Oid)],
) -> Result<Vec<(PipelineId, Oid)>> {
    let sources: Vec<i64> = commits.iter().map(|(source, _)| source.0).collect();
    let ids = tx.archive_ids(import, "pipelines", &sources)?;
    let targets: Vec<PipelineId> = ids.values().copied().map(PipelineId).collect();
    let found = tx.pipelines_by_id(&targets)?;
    let here = |(source, commit): &(PipelineId, Oid)| {
        let pipeline = found.get(&PipelineId(*ids.get(&source.0)?))?;
        let is_own = pipeline.project_id == project && pipeline.sha == commit.to_string();
        is_own.then_some((pipeline.id, *commit))
    };
    Ok(commits.iter().filter_map(here).collect())
}

/// Has the schedules of a project run from now on, when everything else of it is there: one that is due in this moment
/// makes a pipeline with a number that no other one has. They may be too many for the transaction that ends the import.
pub(super) async fn begin_schedules(forge: &Forge, project: ProjectId) -> Result<()> {
    let mut after = PipelineScheduleId(0);
    loop {
        let runs = forge.db.read(move |tx| next_runs(tx, project, after)).await?;
        let Some((last, _)) = runs.last() else { return Ok(()) };
        after = *last;
        forge.db.write(move |tx| begin_runs(tx, &runs)).await?;
    }
}
