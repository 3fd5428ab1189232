//! Pipeline schedules and their variables.

use std::collections::HashMap;

use ci::{
    pipeline::Pipeline,
    schedule::{Schedule, ScheduleVariable},
    variable::VariableType,
};
use db::Tx;
use forge::urls::Urls;
use kernel::{Result, Ts, ids::UserId};
use org::user::{User, store::UserStore};
use secrets::{Secret, Vault};
use serde::Serialize;
use utoipa::ToSchema;

use super::pipeline::PipelineEntity;
use crate::org::brief_user::BriefUser;

/// Pipeline schedule in a list.
#[derive(Serialize, ToSchema)]
pub struct PipelineScheduleEntity {
    pub id: i64,
    pub description: String,
    #[serde(rename = "ref")]
    pub ref_name: String,
    pub cron: String,
    pub cron_timezone: String,
    #[schema(value_type = Option<String>)]
    pub next_run_at: Option<Ts>,
    pub active: bool,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    /// Null if the user has been deleted; the schedule then creates no pipelines.
    pub owner: Option<BriefUser>,
}

impl PipelineScheduleEntity {
    /// Owners are looked up once for all of them.
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, schedules: Vec<Schedule>) -> Result<Vec<Self>> {
        let mut owners: Vec<UserId> = schedules.iter().filter_map(|one| one.owner_id).collect();
        owners.sort_unstable();
        owners.dedup();
        let owners = tx.users_by_id(&owners)?;
        Ok(schedules.into_iter().map(|one| Self::new(urls, &owners, one)).collect())
    }

    fn new(urls: &Urls, owners: &HashMap<UserId, User>, schedule: Schedule) -> Self {
        let owner = schedule.owner_id.and_then(|owner| owners.get(&owner));
        Self {
            id: schedule.id.0,
            description: schedule.description,
            ref_name: schedule.ref_name,
            cron: schedule.cron,
            cron_timezone: schedule.cron_timezone,
            next_run_at: schedule.next_run_at,
            active: schedule.active,
            created_at: schedule.created_at,
            updated_at: schedule.updated_at,
            owner: owner.map(|owner| BriefUser::new(urls, owner)),
        }
    }
}

/// Pipeline schedule with its last pipeline.
#[derive(Serialize, ToSchema)]
pub struct PipelineScheduleDetailEntity {
    #[serde(flatten)]
    pub basic: PipelineScheduleEntity,
    pub last_pipeline: Option<PipelineEntity>,
    /// Only for the owner and for Maintainers, and only when a single schedule is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<Vec<ScheduleVariableEntity>>,
}

impl PipelineScheduleDetailEntity {
    pub fn new(
        tx: &mut Tx<'_>,
        (urls, project_url): (&Urls, &str),
        schedule: Schedule,
        last: Option<&Pipeline>,
        variables: Option<Vec<ScheduleVariableEntity>>,
    ) -> Result<Self> {
        let basic = PipelineScheduleEntity::all(tx, urls, vec![schedule])?.pop();
        Ok(Self {
            basic: basic.ok_or_else(kernel::Error::missing)?,
            last_pipeline: last.map(|pipeline| PipelineEntity::new(pipeline, project_url)),
            variables,
        })
    }
}

/// Variable of a pipeline schedule.
#[derive(Serialize, ToSchema)]
pub struct ScheduleVariableEntity {
    #[schema(value_type = String)]
    pub variable_type: VariableType,
    pub key: String,
    pub value: String,
    /// Always false: variables in the value are expanded.
    pub raw: bool,
}

impl ScheduleVariableEntity {
    pub fn new(variable: ScheduleVariable, vault: &Vault) -> Result<Self> {
        Ok(Self {
            value: variable.value(vault)?.into_revealed(),
            variable_type: variable.kind,
            key: variable.key,
            raw: false,
        })
    }

    /// As it was. One whose key is lost can be removed all the same; its value is empty then.
    pub fn of_removed(variable: ScheduleVariable, vault: &Vault) -> Self {
        let value = variable.value(vault).map(Secret::into_revealed).unwrap_or_default();
        Self { value, variable_type: variable.kind, key: variable.key, raw: false }
    }
}
