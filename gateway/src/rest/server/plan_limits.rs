//! Plan limits.

use entities::server::plan_limits::PlanLimitsEntity;
use kernel::access::Administrate;
use org::settings::{PlanLimits, actions, store::SettingsStore as _};

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    param_enums, params,
    present::{Created, Json},
    routes,
};

routes! { "Plan limits" at "/application/plan_limits";
    GET  "" => show   : Administrate,
    POST "" => create : Administrate,
    PUT  "" => update : Administrate,
}

kernel::text_enum! {
    /// The plans that there are.
    pub enum Plan {
        Default = "default",
    }
}

param_enums! { Plan }

params! {
    pub struct ShowPlanLimits {
        /// The only plan.
        plan_name: Plan = Plan::Default,
    }
}

async fn show(
    app: App,
    call: Call<Administrate, ShowPlanLimits>,
) -> ApiResult<Json<PlanLimitsEntity>> {
    let Plan::Default = call.params.plan_name;
    let settings = app.db.peek(|tx| tx.settings()).await?;
    Ok(Json(settings.plan_limits.into()))
}

params! {
    pub struct ChangePlanLimits {
        /// The only plan.
        plan_name: Plan,
        /// Maximum number of unfinished jobs in all pipelines of a project; 0 for no limit.
        ci_active_jobs: Option<i64>,
        /// Maximum number of instance variables; 0 for no limit.
        ci_instance_level_variables: Option<i64>,
        /// Maximum size of a job log in MB; 0 for no limit.
        ci_jobs_trace_size_limit: Option<i64>,
        /// Maximum size of an `lsif` artifact in MB; 0 for the limit of all artifacts.
        ci_max_artifact_size_lsif: Option<i64>,
        /// Maximum number of entries in `needs` of a job; 0 forbids `needs`.
        ci_needs_size_limit: Option<i64>,
        /// Maximum number of deployment jobs in a pipeline; 0 for no limit.
        ci_pipeline_deployments: Option<i64>,
        /// Maximum number of pipeline schedules in a project; 0 for no limit.
        ci_pipeline_schedules: Option<i64>,
        /// Maximum number of jobs in a pipeline; 0 for the server's limit of 5,000.
        ci_pipeline_size: Option<i64>,
        /// Maximum number of runners of a group that were created or contacted in the last 90 days; 0 for no limit.
        ci_registered_group_runners: Option<i64>,
        /// Maximum number of runners of a project that were created or contacted in the last 90 days; 0 for no limit.
        ci_registered_project_runners: Option<i64>,
        /// Maximum size of a dotenv report in bytes; 0 for the server's limit of 1 MB.
        dotenv_size: Option<i64>,
        /// Maximum number of variables in a dotenv report; 0 for no limit.
        dotenv_variables: Option<i64>,
        /// Maximum number of variables of a group; 0 for no limit.
        group_ci_variables: Option<i64>,
        /// Maximum number of pipelines in a hierarchy of downstream pipelines; 0 for no limit.
        pipeline_hierarchy_size: Option<i64>,
        /// Maximum number of trigger tokens in a project; 0 for no limit.
        pipeline_triggers: Option<i64>,
        /// Maximum number of variables of a project; 0 for no limit.
        project_ci_variables: Option<i64>,
    }
}

impl ChangePlanLimits {
    fn apply(&self, limits: &mut PlanLimits) {
        let Plan::Default = self.plan_name;
        for (limit, given) in [
            (&mut limits.ci_active_jobs, self.ci_active_jobs),
            (&mut limits.ci_instance_level_variables, self.ci_instance_level_variables),
            (&mut limits.ci_jobs_trace_size_limit, self.ci_jobs_trace_size_limit),
            (&mut limits.ci_max_artifact_size_lsif, self.ci_max_artifact_size_lsif),
            (&mut limits.ci_needs_size_limit, self.ci_needs_size_limit),
            (&mut limits.ci_pipeline_deployments, self.ci_pipeline_deployments),
            (&mut limits.ci_pipeline_schedules, self.ci_pipeline_schedules),
            (&mut limits.ci_pipeline_size, self.ci_pipeline_size),
            (&mut limits.ci_registered_group_runners, self.ci_registered_group_runners),
            (&mut limits.ci_registered_project_runners, self.ci_registered_project_runners),
            (&mut limits.dotenv_size, self.dotenv_size),
            (&mut limits.dotenv_variables, self.dotenv_variables),
            (&mut limits.group_ci_variables, self.group_ci_variables),
            (&mut limits.pipeline_hierarchy_size, self.pipeline_hierarchy_size),
            (&mut limits.pipeline_triggers, self.pipeline_triggers),
            (&mut limits.project_ci_variables, self.project_ci_variables),
        ] {
            *limit = given.unwrap_or(*limit);
        }
    }
}

async fn update(
    app: App,
    call: Call<Administrate, ChangePlanLimits>,
) -> ApiResult<Json<PlanLimitsEntity>> {
    change_limits(&app, call).await.map(Json)
}

/// The plan has limits from the start, so that these are changed, too.
async fn create(
    app: App,
    call: Call<Administrate, ChangePlanLimits>,
) -> ApiResult<Created<PlanLimitsEntity>> {
    change_limits(&app, call).await.map(Created)
}

async fn change_limits(
    app: &App,
    call: Call<Administrate, ChangePlanLimits>,
) -> ApiResult<PlanLimitsEntity> {
    let (grant, given) = (call.grant, call.params);
    let change = move |limits: &mut PlanLimits| given.apply(limits);
    let limits = app.db.write(move |tx| actions::update_plan_limits(tx, &grant, change)).await?;
    Ok(limits.into())
}
