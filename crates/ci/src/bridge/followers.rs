//! The bridges that wait for a pipeline, and what becomes of them when nothing is left to wait for.

use std::collections::HashSet;

use db::{OneOf as _, Tx, each_backend, error, schema::mirrored_pipelines as mirrored};
use diesel::prelude::*;
use kernel::{Result, ids::JobId};

use super::mirror::bridges_of;
use crate::{
    Status,
    job::{End, JobStore as _, progress},
    pipeline::{Pipeline, PipelineStore as _},
};

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
    for id in bridges {
        // The pipeline of the bridge may have gone before.
        if tx.find_any_job(id)?.is_none() {
            continue;
        }
        let bridge = progress::lock_job(tx, id)?;
        let waits = matches!(bridge.status, Status::Pending | Status::Running | Status::Manual);
        if waits && !bridge.retried {
            progress::finish(tx, id, End::Canceled)?;
        }
    }
    Ok(())
}
