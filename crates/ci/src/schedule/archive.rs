//! Pipeline schedules in project archives. Their variables are secrets and are left out.
//!
//! None runs before all of its project is there: until then it is not known when it runs next.

use db::{
    Tx,
    archive::{Column, Field, Relation},
    each_backend, error,
    schema::pipeline_schedules as schedules,
};
use diesel::prelude::*;
use kernel::{
    Faults, Result, Ts,
    ids::{PipelineScheduleId, ProjectId},
};

use super::{Schedule, Timing, rules::LONGEST, runs::next_run};

/// So many schedules begin to run in one transaction.
const AT_ONCE: i64 = 100;

pub static RELATIONS: &[&Relation] = &[&SCHEDULES];

static SCHEDULES: Relation = Relation {
    name: "pipeline_schedules",
    table: "pipeline_schedules",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        // Whoever imports answers for what runs. Nobody where the owner's account is gone.
        Column::author("owner_id").optional(),
        Column::text("description"),
        Column::new("ref_name", Field::Text(LONGEST)),
        Column::choice("cron", is_cron),
        Column::choice("cron_timezone", is_zone),
        Column::fixed("next_run_at", "NULL"),
        Column::flag("active"),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

fn is_cron(text: &str) -> bool {
    Timing::read(text, "UTC", &mut Faults::default()).is_some()
}

fn is_zone(text: &str) -> bool {
    Timing::read("0 0 * * *", text, &mut Faults::default()).is_some()
}

/// A schedule, and when it runs next; nothing where it never does.
pub type ScheduledRun = (PipelineScheduleId, Option<Ts>);

/// Some schedules of a copy that do not run yet, those behind `after`, and when they are to run next; none at the end. Worked
/// out before the transaction that writes it, since days of many years are looked through for a rare expression.
///
/// # Errors
/// When the database cannot be read.
pub fn next_runs(
    tx: &mut Tx<'_>,
    project: ProjectId,
    after: PipelineScheduleId,
) -> Result<Vec<ScheduledRun>> {
    let waiting = schedules::table
        .filter(schedules::project_id.eq(project).and(schedules::next_run_at.is_null()))
        .filter(schedules::id.gt(after))
        .order(schedules::id)
        .limit(AT_ONCE);
    let found: Vec<Schedule> = each_backend!(tx, |conn| waiting
        .select(Schedule::as_select())
        .load(conn)
        .map_err(error("Pipeline Schedule")))?;
    let now = tx.now;
    Ok(found.into_iter().map(|schedule| (schedule.id, next_run(&schedule, now))).collect())
}

/// Has schedules run from now on, unless somebody else said meanwhile when they do.
///
/// # Errors
/// When the database cannot be written.
pub fn begin_runs(tx: &mut Tx<'_>, runs: &[ScheduledRun]) -> Result<()> {
    let pair = |(id, at): &ScheduledRun| at.map(|at| format!("({id}, {})", at.0));
    let pairs: Vec<String> = runs.iter().filter_map(pair).collect();
    if pairs.is_empty() {
        return Ok(());
    }
    let text = format!(
        "UPDATE pipeline_schedules SET next_run_at = due.column2 FROM (VALUES {}) AS due \
         WHERE pipeline_schedules.id = due.column1 AND pipeline_schedules.next_run_at IS NULL",
        pairs.join(", ")
    );
    each_backend!(tx, |conn| diesel::sql_query(&text)
        .execute(conn)
        .map_err(error("Pipeline Schedule")))?;
    Ok(())
}
