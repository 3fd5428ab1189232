//! Jobs as their pipeline moves them: all of them read by one statement, and written by one for each kind of step.

use db::{Tx, each_backend, error, schema::jobs};
use diesel::{
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use kernel::{
    Error, Result, TextEnum as _, Ts,
    ids::{JobId, PipelineId, ResourceGroupId, UserId},
};

use super::{JobKind, Step};
use crate::{Outcome, Status, config::When, process::Row};

/// So many jobs are moved by one statement.
const AT_ONCE: usize = 1_000;

/// A job, as far as it decides about others of its pipeline and about the pipeline's figures.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = jobs, check_for_backend(db::AnyBackend))]
pub struct Member {
    pub id: JobId,
    pub kind: JobKind,
    pub stage_position: i64,
    pub name: String,
    pub status: Status,
    pub allow_failure: bool,
    pub run_when: When,
    /// A JSON list.
    pub needs: Option<String>,
    pub interruptible: bool,
    pub resource_group_id: Option<ResourceGroupId>,
    pub coverage: Option<f64>,
    pub started_at: Option<Ts>,
    pub finished_at: Option<Ts>,
}

impl Member {
    pub fn outcome(&self) -> Outcome {
        Outcome { status: self.status, allow_failure: self.allow_failure }
    }

    pub(crate) fn row(&self) -> Result<Row> {
        let needs = self.needs.as_deref().map(serde_json::from_str).transpose();
        Ok(Row {
            id: self.id,
            kind: self.kind,
            stage: self.stage_position,
            name: self.name.clone(),
            status: self.status,
            allow_failure: self.allow_failure,
            when: self.run_when,
            needs: needs.map_err(Error::internal)?,
            in_group: self.resource_group_id.is_some(),
        })
    }
}

pub trait MotionStore {
    /// The newest of each name in a pipeline.
    fn members(&mut self, pipeline: PipelineId) -> Result<Vec<Member>>;
    /// Takes a step with each of these jobs, for which it was found possible.
    fn move_jobs(&mut self, jobs: &[JobId], step: Step, to: Status) -> Result<()>;
    /// Lets jobs run for somebody else.
    fn assign_jobs(&mut self, jobs: &[JobId], user: Option<UserId>) -> Result<()>;
    /// New jobs in the place of these, which begin anew for somebody. The older ones count no more.
    fn clone_jobs(&mut self, jobs: &[JobId], user: Option<UserId>) -> Result<Vec<JobId>>;
}

impl MotionStore for Tx<'_> {
    fn members(&mut self, pipeline: PipelineId) -> Result<Vec<Member>> {
        each_backend!(self, |conn| jobs::table
            .filter(jobs::pipeline_id.eq(pipeline).and(jobs::retried.eq(false)))
            .order(jobs::id)
            .select(Member::as_select())
            .load(conn)
            .map_err(error("Job")))
    }

    fn move_jobs(&mut self, jobs: &[JobId], step: Step, to: Status) -> Result<()> {
        let also = match step {
            Step::Enqueue | Step::Grant => ", queued_at = $2, scheduled_at = NULL",
            Step::Schedule => ", scheduled_at = $2 + COALESCE(start_in, 0) * 1000000",
            Step::Cancel => ", finished_at = $2",
            Step::Process => ", queued_at = NULL, finished_at = NULL",
            _ => "",
        };
        for some in jobs.chunks(AT_ONCE) {
            let ids: Vec<i64> = some.iter().map(|id| id.0).collect();
            let text = format!(
                "UPDATE jobs SET status = $1, updated_at = $2{also} WHERE id IN ({})",
                numbers(&ids)
            );
            let query =
                diesel::sql_query(text).bind::<Text, _>(to.as_str()).bind::<BigInt, _>(self.now);
            each_backend!(self, |conn| query.execute(conn).map_err(error("Job")))?;
        }
        Ok(())
    }

    fn assign_jobs(&mut self, ids: &[JobId], user: Option<UserId>) -> Result<()> {
        for some in ids.chunks(AT_ONCE) {
            let row = jobs::table.filter(jobs::id.eq_any(some));
            let update = diesel::update(row).set(jobs::user_id.eq(user));
            each_backend!(self, |conn| update.execute(conn).map_err(error("Job")))?;
        }
        Ok(())
    }

    fn clone_jobs(&mut self, jobs: &[JobId], user: Option<UserId>) -> Result<Vec<JobId>> {
        let ids: Vec<i64> = jobs.iter().map(|id| id.0).collect();
        let ids = numbers(&ids);
        let text = format!(
            "INSERT INTO jobs (project_id, pipeline_id, kind, stage, stage_position, name, sha, ref_name, tag, protected, \
             status, retried, allow_failure, user_id, created_at, updated_at, spec_id, position, run_when, needs, \
             interruptible, attempt, environment, resource_group_id, start_in, timeout) \
             SELECT project_id, pipeline_id, kind, stage, stage_position, name, sha, ref_name, tag, protected, \
             'created', FALSE, allow_failure, $1, $2, $2, spec_id, position, run_when, needs, \
             interruptible, attempt + 1, environment, resource_group_id, start_in, timeout \
             FROM jobs WHERE id IN ({ids}) ORDER BY id"
        );
        // SQLite numbers parameters in the order in which they stand in the text, whatever they are called.
        let clone = diesel::sql_query(format!("{text} RETURNING id"))
            .bind::<Nullable<BigInt>, _>(user)
            .bind::<BigInt, _>(self.now);
        let made: Vec<IdRow> = each_backend!(self, |conn| clone.load(conn).map_err(error("Job")))?;
        let retire = diesel::sql_query(format!(
            "UPDATE jobs SET retried = TRUE, updated_at = $1 WHERE id IN ({ids})"
        ))
        .bind::<BigInt, _>(self.now);
        each_backend!(self, |conn| retire.execute(conn).map_err(error("Job")))?;
        Ok(made.into_iter().map(|row| row.id).collect())
    }
}

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: JobId,
}

/// Numbers as a list for `IN`; of none, one that is nobody's id.
fn numbers(ids: &[i64]) -> String {
    match ids {
        [] => "0".to_owned(),
        ids => ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}
