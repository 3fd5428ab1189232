//! A bridge takes the status of a pipeline of another project.

use db::{Tx, each_backend, error, schema::mirrored_pipelines as mirrored};
use diesel::prelude::*;
use kernel::{
    Error, Result,
    ids::{JobId, PipelineId},
};

use super::{
    follow::{keep_moved, moved},
    state::mirrored_status,
};
use crate::{
    Status,
    job::progress,
    pipeline::{Pipeline, PipelineStore as _, advance_others},
};

/// From now on a bridge takes the status of this pipeline.
pub fn mirror(tx: &mut Tx<'_>, bridge: JobId, upstream: PipelineId) -> Result<()> {
    let row = (mirrored::job_id.eq(bridge), mirrored::pipeline_id.eq(upstream));
    let insert = diesel::insert_into(mirrored::table).values(row).on_conflict_do_nothing();
    each_backend!(tx, |conn| insert.execute(conn).map_err(error("Bridge")))?;
    let found = tx.pipelines_by_id(&[upstream])?.remove(&upstream).ok_or_else(Error::missing)?;
    let others = take_status(tx, bridge, found.status)?;
    advance_others(tx, others)
}

/// The bridges that take the status of a pipeline which went on; returns the pipelines that have to go on therefore.
pub(crate) fn follow_upstream(
    tx: &mut Tx<'_>,
    upstream: &Pipeline,
    before: Status,
) -> Result<Vec<PipelineId>> {
    if upstream.status == before {
        return Ok(Vec::new());
    }
    let mut others = Vec::new();
    for bridge in bridges_of(tx, upstream.id)? {
        others.extend(take_status(tx, bridge, upstream.status)?);
    }
    Ok(others)
}

/// The bridges that take the status of this pipeline.
pub(super) fn bridges_of(tx: &mut Tx<'_>, upstream: PipelineId) -> Result<Vec<JobId>> {
    let own = mirrored::table.filter(mirrored::pipeline_id.eq(upstream));
    each_backend!(tx, |conn| own
        .order(mirrored::job_id)
        .select(mirrored::job_id)
        .load(conn)
        .map_err(error("Bridge")))
}

fn take_status(tx: &mut Tx<'_>, id: JobId, upstream: Status) -> Result<Vec<PipelineId>> {
    let bridge = progress::lock_job(tx, id)?;
    if bridge.retried || bridge.status.is_complete() {
        return Ok(Vec::new());
    }
    let after =
        mirrored_status(bridge.status, upstream).map(|status| moved(&bridge, status, tx.now));
    match after {
        Some(after) => keep_moved(tx, &bridge, &after),
        None => Ok(Vec::new()),
    }
}
