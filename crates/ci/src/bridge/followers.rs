//! The bridges that wait for a pipeline, and what becomes of them when nothing is left to wait for.

use std::collections::HashSet;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{jobs, mirrored_pipelines as mirrored, pipelines},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{JobId, ProjectId},
};

use super::mirror::bridges_of;
use crate::{
    Status,
    job::{End, JobStore as _, progress},
    pipeline::{Pipeline, PipelineStore as _},
};

/// Of bridges that something may still move.
const WAITING: [Status; 3] = [Status::Pending, Status::Running, Status::Manual];

/// Those of these bridges that go by a pipeline, which they made or take the status of.
pub(crate) fn followers(tx: &mut Tx<'_>, bridges: &[JobId]) -> Result<HashSet<JobId>> {
    if bridges.is_empty() {
        return Ok(HashSet::new());
    }
    let made = tx.pipelines_of_bridges(bridges)?.into_iter();
    let mut all: HashSet<JobId> = made.filter_map(|pipeline| pipeline.parent_job_id).collect();
    let own = mirrored::table.filter(mirrored::job_id.one_of(bridges));
    let mirrors: Vec<JobId> =
        each_backend!(tx, |conn| own.select(mirrored::job_id).load(conn).map_err(error("Bridge")))?;
    all.extend(mirrors);
    Ok(all)
}

/// A pipeline is about to go: the bridges that wait for it end, since nothing would move them any more. One that has not
/// begun, or waits for its resource once more, makes another pipeline in its time.
pub(crate) fn end_followers(tx: &mut Tx<'_>, gone: &Pipeline) -> Result<()> {
    let mut bridges = bridges_of(tx, gone.id)?;
    bridges.extend(gone.parent_job_id);
    end_all(tx, bridges)
}

/// A project is about to go with its pipelines: the bridges of other projects that wait for one of them end.
///
/// # Errors
/// When a job cannot be read or kept.
pub fn end_followers_elsewhere(tx: &mut Tx<'_>, gone: ProjectId) -> Result<()> {
    let waits = || jobs::status.eq_any(WAITING).and(jobs::retried.eq(false));
    let made: Vec<JobId> = each_backend!(tx, |conn| jobs::table
        .inner_join(pipelines::table.on(pipelines::parent_job_id.eq(jobs::id.nullable())))
        .filter(pipelines::project_id.eq(gone))
        .filter(jobs::project_id.ne(gone))
        .filter(waits())
        .select(jobs::id)
        .load(conn)
        .map_err(error("Bridge")))?;
    let mirrors: Vec<JobId> = each_backend!(tx, |conn| jobs::table
        .inner_join(mirrored::table.on(mirrored::job_id.eq(jobs::id)))
        .inner_join(pipelines::table.on(pipelines::id.eq(mirrored::pipeline_id)))
        .filter(pipelines::project_id.eq(gone))
        .filter(jobs::project_id.ne(gone))
        .filter(waits())
        .select(jobs::id)
        .load(conn)
        .map_err(error("Bridge")))?;
    end_all(tx, made.into_iter().chain(mirrors))
}

fn end_all(tx: &mut Tx<'_>, bridges: impl IntoIterator<Item = JobId>) -> Result<()> {
    for id in bridges {
        // The pipeline of the bridge may have gone before.
        if tx.find_any_job(id)?.is_none() {
            continue;
        }
        let bridge = progress::lock_job(tx, id)?;
        if WAITING.contains(&bridge.status) && !bridge.retried {
            progress::finish(tx, id, End::Canceled)?;
        }
    }
    Ok(())
}
