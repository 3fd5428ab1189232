//! A schedule as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, Ts,
    ids::{PipelineScheduleId, ProjectId, UserId},
};
use secrets::{Secret, Vault};

use crate::variable::VariableType;

#[derive(Clone, Debug, PartialEq, Queryable, Selectable)]
#[diesel(table_name = db::schema::pipeline_schedules, check_for_backend(db::AnyBackend))]
pub struct Schedule {
    pub id: PipelineScheduleId,
    pub project_id: ProjectId,
    /// With whose rights its pipelines are made; `None` when the account is gone, and then none are.
    pub owner_id: Option<UserId>,
    pub description: String,
    pub ref_name: String,
    pub cron: String,
    pub cron_timezone: String,
    /// Also kept while the schedule rests.
    pub next_run_at: Option<Ts>,
    pub active: bool,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// A schedule as it is asked for.
#[derive(Clone, Debug)]
pub struct NewSchedule {
    pub description: String,
    pub ref_name: String,
    pub cron: String,
    pub cron_timezone: String,
    pub active: bool,
}

/// A change; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct ScheduleChange {
    pub description: Option<String>,
    pub ref_name: Option<String>,
    pub cron: Option<String>,
    pub cron_timezone: Option<String>,
    pub active: Option<bool>,
}

/// A variable of a pipeline schedule.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::pipeline_schedule_variables, check_for_backend(db::AnyBackend))]
pub struct ScheduleVariable {
    pub schedule_id: PipelineScheduleId,
    pub key: String,
    pub kind: VariableType,
    pub sealed: String,
}

impl ScheduleVariable {
    /// For what a value is sealed.
    pub(crate) fn place(schedule: PipelineScheduleId, key: &str) -> String {
        format!("variable/schedule/{schedule}/{key}")
    }

    /// The value in clear.
    pub fn value(&self, vault: &Vault) -> Result<Secret> {
        vault
            .unseal(&Self::place(self.schedule_id, &self.key), &self.sealed)
            .map_err(Error::internal)
    }
}
