//! What pipelines of a copy come to once all rows of its archive are there.

use std::collections::{BTreeMap, HashMap};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{jobs, pipeline_numbers as numbers, pipelines},
};
use diesel::{dsl::max, prelude::*};
use kernel::{
    Result,
    ids::{PipelineId, ProjectId},
};

use crate::{Outcome, Status, StatusScope, composite, has_warnings};

/// So many pipelines end in one transaction.
const AT_ONCE: i64 = 100;

/// Ends some pipelines of a copy that were under way in the source, those behind `after`: they say what their jobs come to.
/// Returns the last one of them where there may be more.
///
/// # Errors
/// When the database cannot be written.
pub fn end_pipelines(
    tx: &mut Tx<'_>,
    project: ProjectId,
    after: PipelineId,
) -> Result<Option<PipelineId>> {
    let open = pipelines::table
        .filter(pipelines::project_id.eq(project).and(pipelines::status.eq(Status::Canceled)))
        .filter(pipelines::finished_at.is_null().and(pipelines::id.gt(after)))
        .order(pipelines::id)
        .limit(AT_ONCE)
        .select(pipelines::id);
    let open: Vec<PipelineId> =
        each_backend!(tx, |conn| open.load(conn).map_err(error("Pipeline")))?;
    // How many jobs are in one status changes nothing.
    let rows: Vec<(PipelineId, Status, bool)> = each_backend!(tx, |conn| jobs::table
        .filter(jobs::pipeline_id.one_of(&open).and(jobs::retried.eq(false)))
        .select((jobs::pipeline_id, jobs::status, jobs::allow_failure))
        .distinct()
        .load(conn)
        .map_err(error("Job")))?;
    let mut outcomes: HashMap<PipelineId, Vec<Outcome>> = HashMap::new();
    for (pipeline, status, allow_failure) in rows {
        outcomes.entry(pipeline).or_default().push(Outcome { status, allow_failure });
    }
    let mut ends: BTreeMap<(Status, bool), Vec<PipelineId>> = BTreeMap::new();
    for id in &open {
        let end = outcomes.get(id).map_or((Status::Canceled, false), |outcomes| {
            (composite(outcomes, StatusScope::Whole), has_warnings(outcomes))
        });
        ends.entry(end).or_default().push(*id);
    }
    for (end, ids) in ends {
        end_as(tx, &ids, end)?;
    }
    let is_last = i64::try_from(open.len()).is_ok_and(|found| found < AT_ONCE);
    Ok(open.last().copied().filter(|_| !is_last))
}

/// When they ended is not known; they did not change later.
fn end_as(tx: &mut Tx<'_>, ids: &[PipelineId], (status, warnings): (Status, bool)) -> Result<()> {
    let row = || pipelines::table.filter(pipelines::id.eq_any(ids));
    let outcome = (pipelines::status.eq(status), pipelines::warnings.eq(warnings));
    let update = diesel::update(row()).set(outcome);
    each_backend!(tx, |conn| update.execute(conn).map_err(error("Pipeline")))?;
    if status.is_finished() {
        let end = pipelines::finished_at.eq(pipelines::updated_at.nullable());
        let update = diesel::update(row()).set(end);
        each_backend!(tx, |conn| update.execute(conn).map_err(error("Pipeline")))?;
    }
    Ok(())
}

/// Lets numbers of pipelines go on after those that are taken.
///
/// # Errors
/// When the database cannot be written.
pub fn restore_counters(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let own = pipelines::table.filter(pipelines::project_id.eq(project));
    let last = own.select(max(pipelines::iid));
    let last: Option<i64> =
        each_backend!(tx, |conn| last.get_result(conn).map_err(error("Pipeline")))?;
    last.map_or(Ok(()), |last| reserve_numbers(tx, project, last))
}

/// Lets pipelines that are made from now on have later numbers than this one.
///
/// # Errors
/// When the database cannot be written.
pub fn reserve_numbers(tx: &mut Tx<'_>, project: ProjectId, last: i64) -> Result<()> {
    each_backend!(tx, |conn| diesel::insert_into(numbers::table)
        .values((numbers::project_id.eq(project), numbers::last.eq(last)))
        .on_conflict_do_nothing()
        .execute(conn)
        .map_err(error("Pipeline")))?;
    // A number may have been reserved for a pipeline that is still to be made.
    let earlier = numbers::project_id.eq(project).and(numbers::last.lt(last));
    let reach = diesel::update(numbers::table.filter(earlier)).set(numbers::last.eq(last));
    each_backend!(tx, |conn| reach.execute(conn).map_err(error("Pipeline")))?;
    Ok(())
}
