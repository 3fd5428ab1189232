//! Variables of a pipeline schedule.

use ci::{policy::ChangeSchedules, schedule::variables, variable::VariableType};
use entities::ci::pipeline_schedule::ScheduleVariableEntity;
use forge::ports::ci::Projects;
use kernel::ids::PipelineScheduleId;

use super::variable_params::Value;
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{AcceptedWith, Created, Json},
    routes,
};

routes! { "Pipeline schedule variables" at "/projects/{id}/pipeline_schedules/{pipeline_schedule_id}/variables";
    POST   ""       => create : ChangeSchedules,
    GET    "/{key}" => show   : ChangeSchedules,
    PUT    "/{key}" => update : ChangeSchedules,
    DELETE "/{key}" => remove : ChangeSchedules,
}

params! {
    pub struct OneScheduleVariable {
        pipeline_schedule_id: PipelineScheduleId,
        key: String,
    }
}

async fn show(
    app: App,
    call: Call<ChangeSchedules, OneScheduleVariable>,
) -> ApiResult<Json<ScheduleVariableEntity>> {
    let (grant, OneScheduleVariable { pipeline_schedule_id: id, key }) = (call.grant, call.params);
    let vault = app.vault.clone();
    let shown = app.db.read(move |tx| {
        ScheduleVariableEntity::new(variables::read(tx, &grant, id, &key)?, &vault)
    });
    Ok(Json(shown.await?))
}

params! {
    pub struct CreateScheduleVariable {
        pipeline_schedule_id: PipelineScheduleId,
        /// At most 255 letters, digits and underscores.
        key: String,
        value: Value,
        variable_type: VariableType = VariableType::EnvVar,
    }
}

async fn create(
    app: App,
    call: Call<ChangeSchedules, CreateScheduleVariable>,
) -> ApiResult<Created<ScheduleVariableEntity>> {
    let (grant, params, vault) = (call.grant, call.params, app.vault.clone());
    let made = app.db.write(move |tx| {
        let new = (params.key, params.variable_type, &params.value.0);
        let made =
            variables::create(tx, &grant, (&Projects, &vault), params.pipeline_schedule_id, new)?;
        ScheduleVariableEntity::new(made, &vault)
    });
    Ok(Created(made.await?))
}

params! {
    pub struct ChangeScheduleVariable {
        pipeline_schedule_id: PipelineScheduleId,
        key: String,
        value: Option<Value>,
        variable_type: Option<VariableType>,
    }
}

async fn update(
    app: App,
    call: Call<ChangeSchedules, ChangeScheduleVariable>,
) -> ApiResult<Json<ScheduleVariableEntity>> {
    let (grant, params, vault) = (call.grant, call.params, app.vault.clone());
    let changed = app.db.write(move |tx| {
        let (id, key) = (params.pipeline_schedule_id, &params.key);
        let change = (params.variable_type, params.value.as_ref().map(|value| &value.0));
        let after = variables::update(tx, &grant, (&Projects, &vault), id, key, change)?;
        ScheduleVariableEntity::new(after, &vault)
    });
    Ok(Json(changed.await?))
}

async fn remove(
    app: App,
    call: Call<ChangeSchedules, OneScheduleVariable>,
) -> ApiResult<AcceptedWith<ScheduleVariableEntity>> {
    let (grant, OneScheduleVariable { pipeline_schedule_id: id, key }) = (call.grant, call.params);
    let vault = app.vault.clone();
    let removed = app.db.write(move |tx| {
        let removed = variables::remove(tx, &grant, id, &key)?;
        Ok(ScheduleVariableEntity::of_removed(removed, &vault))
    });
    Ok(AcceptedWith(removed.await?))
}
