//! A project's pipeline schedules.

use ci::{
    policy::{ChangeSchedules, CreatePipelines, ReadSchedules},
    schedule::{
        NewSchedule, Schedule, ScheduleChange, ScheduleScope, ScheduleStore as _,
        actions::{self, NextRun},
    },
};
use db::Tx;
use entities::ci::{
    pipeline::PipelineEntity,
    pipeline_schedule::{
        PipelineScheduleDetailEntity, PipelineScheduleEntity, ScheduleVariableEntity,
    },
};
use forge::{
    pipeline::control,
    ports::ci::{PlanLimits, Projects},
    urls::Urls,
};
use kernel::{Ability, Grant, Result, access::Project, ids::PipelineScheduleId};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, NonEmpty, Sort},
    param_enums, params,
    present::{Created, CreatedMessage, Json, NoContent, PagedList},
    routes,
};

routes! { "Pipeline schedules" at "/projects/{id}/pipeline_schedules";
    GET    ""                                       => list           : ReadSchedules,
    GET    "/{pipeline_schedule_id}"                => show           : ReadSchedules,
    GET    "/{pipeline_schedule_id}/pipelines"      => pipelines      : ReadSchedules,
    POST   ""                                       => create         : CreatePipelines,
    PUT    "/{pipeline_schedule_id}"                => update         : ChangeSchedules,
    POST   "/{pipeline_schedule_id}/take_ownership" => take_ownership : ChangeSchedules,
    POST   "/{pipeline_schedule_id}/play"           => play           : CreatePipelines,
    DELETE "/{pipeline_schedule_id}"                => remove         : ChangeSchedules,
}

param_enums! { ScheduleScope }

params! {
    pub struct ListSchedules: paged {
        /// Only active or only inactive schedules. Default: both.
        scope: Option<ScheduleScope>,
    }
}

async fn list(
    app: App,
    call: Call<ReadSchedules, ListSchedules>,
) -> ApiResult<PagedList<PipelineScheduleEntity>> {
    let (grant, rest, page) = (call.grant, call.params.scope, call.page);
    let urls = app.urls.clone();
    let listed = app.db.read(move |tx| {
        actions::list(tx, &grant, &Projects, rest, page)?
            .try_map_all(|all| PipelineScheduleEntity::all(tx, &urls, all))
    });
    Ok(PagedList(listed.await?))
}

params! {
    pub struct OneSchedule {
        pipeline_schedule_id: PipelineScheduleId,
    }
}

/// Builds the entity of one schedule with its last pipeline.
fn whole<A: Ability<Scope = Project>>(
    tx: &mut Tx<'_>,
    urls: &Urls,
    grant: &Grant<A>,
    schedule: Schedule,
    variables: Option<Vec<ScheduleVariableEntity>>,
) -> Result<PipelineScheduleDetailEntity> {
    let url = urls.at(&grant.facts().full_path);
    let last = tx.newest_pipeline_of_schedule(schedule.id)?;
    PipelineScheduleDetailEntity::new(tx, (urls, &url), schedule, last.as_ref(), variables)
}

async fn show(
    app: App,
    call: Call<ReadSchedules, OneSchedule>,
) -> ApiResult<Json<PipelineScheduleDetailEntity>> {
    let (grant, id) = (call.grant, call.params.pipeline_schedule_id);
    let (urls, vault) = (app.urls.clone(), app.vault.clone());
    let shown = app.db.read(move |tx| {
        let schedule = actions::read(tx, &grant, &Projects, id)?;
        let variables = match actions::is_keeper(grant.who(), &schedule) {
            false => None,
            true => {
                let all = tx.schedule_variables(id)?.into_iter();
                let all = all.map(|variable| ScheduleVariableEntity::new(variable, &vault));
                Some(all.collect::<Result<_>>()?)
            }
        };
        whole(tx, &urls, &grant, schedule, variables)
    });
    Ok(Json(shown.await?))
}

params! {
    pub struct ListSchedulePipelines: paged {
        pipeline_schedule_id: PipelineScheduleId,
        sort: Sort = Sort::Asc,
    }
}

async fn pipelines(
    app: App,
    call: Call<ReadSchedules, ListSchedulePipelines>,
) -> ApiResult<PagedList<PipelineEntity>> {
    let (grant, params, page) = (call.grant, call.params, call.page);
    let url = app.urls.at(&grant.facts().full_path);
    let listed = app.db.read(move |tx| {
        let schedule = actions::read(tx, &grant, &Projects, params.pipeline_schedule_id)?;
        tx.pipelines_of_schedule(schedule.id, params.sort == Sort::Desc, page)
    });
    Ok(PagedList(listed.await?.map(|pipeline| PipelineEntity::new(&pipeline, &url))))
}

params! {
    pub struct CreateSchedule {
        description: String,
        /// Branch or tag.
        r#ref: NonEmpty,
        /// Cron expression with five fields, such as `0 4 * * *`.
        cron: String,
        /// Time zone by its IANA name (`Europe/Berlin`) or Rails name (`Eastern Time (US & Canada)`).
        cron_timezone: String = "UTC".to_owned(),
        active: bool = true,
    }
}

async fn create(
    app: App,
    call: Call<CreatePipelines, CreateSchedule>,
) -> ApiResult<Created<PipelineScheduleDetailEntity>> {
    let (grant, params, urls) = (call.grant, call.params, app.urls.clone());
    let new = NewSchedule {
        description: params.description,
        ref_name: params.r#ref.0,
        cron: params.cron,
        cron_timezone: params.cron_timezone,
        active: params.active,
    };
    let seen = new.clone();
    let next = app.db.read(move |tx| Ok(NextRun::of_new(&seen, tx.now))).await?;
    let made = app.db.write(move |tx| {
        let made = actions::create(tx, &grant, &PlanLimits, new, &next)?;
        whole(tx, &urls, &grant, made, None)
    });
    Ok(Created(made.await?))
}

params! {
    pub struct ChangeSchedule {
        pipeline_schedule_id: PipelineScheduleId,
        description: Option<String>,
        /// Branch or tag.
        r#ref: Option<String>,
        /// Cron expression with five fields, such as `0 4 * * *`.
        cron: Option<String>,
        /// Time zone by its IANA name (`Europe/Berlin`) or Rails name (`Eastern Time (US & Canada)`).
        cron_timezone: Option<String>,
        active: Option<bool>,
    }
}

async fn update(
    app: App,
    call: Call<ChangeSchedules, ChangeSchedule>,
) -> ApiResult<Json<PipelineScheduleDetailEntity>> {
    let (grant, params, urls) = (call.grant, call.params, app.urls.clone());
    let id = params.pipeline_schedule_id;
    let change = ScheduleChange {
        description: params.description,
        ref_name: params.r#ref,
        cron: params.cron,
        cron_timezone: params.cron_timezone,
        active: params.active,
    };
    let (project, seen) = (grant.project(), change.clone());
    let next = app.db.read(move |tx| NextRun::of_change(tx, project, id, &seen)).await?;
    let changed = app.db.write(move |tx| {
        let after = actions::update(tx, &grant, id, change, &next)?;
        whole(tx, &urls, &grant, after, None)
    });
    Ok(Json(changed.await?))
}

async fn take_ownership(
    app: App,
    call: Call<ChangeSchedules, OneSchedule>,
) -> ApiResult<Created<PipelineScheduleDetailEntity>> {
    let (grant, id, urls) = (call.grant, call.params.pipeline_schedule_id, app.urls.clone());
    let taken = app.db.write(move |tx| {
        let after = actions::take_ownership(tx, &grant, id)?;
        whole(tx, &urls, &grant, after, None)
    });
    Ok(Created(taken.await?))
}

async fn play(app: App, call: Call<CreatePipelines, OneSchedule>) -> ApiResult<CreatedMessage> {
    let (grant, id) = (call.grant, call.params.pipeline_schedule_id);
    let project = grant.project();
    app.db.read(move |tx| tx.schedule(project, id)).await?;
    app.rates.check_schedule_play(id, grant.user()?)?;
    control::play_schedule(&app, grant, id).await?;
    Ok(CreatedMessage)
}

async fn remove(app: App, call: Call<ChangeSchedules, OneSchedule>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, id) = (call.grant, call.params.pipeline_schedule_id);
    app.db.write(move |tx| actions::remove(tx, &grant, id, since)).await?;
    Ok(NoContent)
}
