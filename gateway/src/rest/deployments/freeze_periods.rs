//! Freeze periods of a project.

use deployments::{
    freeze_period::actions::{self, FreezePeriodChange},
    policy::{ChangeFreezePeriods, ReadFreezePeriods},
};
use entities::deployments::freeze_period::FreezePeriodEntity;
use forge::ports::deployments::Calendar;
use kernel::ids::FreezePeriodId;

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, NonEmpty, params::OnlyPage},
    params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Freeze periods" at "/projects/{id}/freeze_periods";
    GET    ""                    => list   : ReadFreezePeriods,
    GET    "/{freeze_period_id}" => show   : ReadFreezePeriods,
    POST   ""                    => create : ChangeFreezePeriods,
    PUT    "/{freeze_period_id}" => update : ChangeFreezePeriods,
    DELETE "/{freeze_period_id}" => remove : ChangeFreezePeriods,
}

async fn list(
    app: App,
    call: Call<ReadFreezePeriods, OnlyPage>,
) -> ApiResult<PagedList<FreezePeriodEntity>> {
    let (grant, page) = (call.grant, call.page);
    let periods = app.db.read(move |tx| actions::list(tx, &grant, page)).await?;
    Ok(PagedList(periods.map(FreezePeriodEntity::from)))
}

params! {
    pub struct OneFreezePeriod {
        freeze_period_id: FreezePeriodId,
    }
}

async fn show(
    app: App,
    call: Call<ReadFreezePeriods, OneFreezePeriod>,
) -> ApiResult<Json<FreezePeriodEntity>> {
    let (grant, id) = (call.grant, call.params.freeze_period_id);
    let period = app.db.read(move |tx| actions::read(tx, &grant, id)).await?;
    Ok(Json(period.into()))
}

params! {
    pub struct CreateFreezePeriod {
        /// Cron expression.
        freeze_start: NonEmpty,
        /// Cron expression.
        freeze_end: NonEmpty,
        /// Default: UTC.
        cron_timezone: Option<String>,
    }
}

async fn create(
    app: App,
    call: Call<ChangeFreezePeriods, CreateFreezePeriod>,
) -> ApiResult<Created<FreezePeriodEntity>> {
    let (grant, params) = (call.grant, call.params);
    let zone = params.cron_timezone.filter(|zone| !zone.is_empty());
    let zone = zone.unwrap_or_else(|| "UTC".to_owned());
    let (start, end) = (params.freeze_start.0, params.freeze_end.0);
    let made = app.db.write(move |tx| {
        actions::create(tx, &grant, &Calendar, start.clone(), end.clone(), zone.clone())
    });
    Ok(Created(made.await?.into()))
}

params! {
    pub struct UpdateFreezePeriod {
        freeze_period_id: FreezePeriodId,
        /// Cron expression.
        freeze_start: Option<String>,
        /// Cron expression.
        freeze_end: Option<String>,
        cron_timezone: Option<String>,
    }
}

async fn update(
    app: App,
    call: Call<ChangeFreezePeriods, UpdateFreezePeriod>,
) -> ApiResult<Json<FreezePeriodEntity>> {
    let (grant, params) = (call.grant, call.params);
    let change = FreezePeriodChange {
        freeze_start: params.freeze_start,
        freeze_end: params.freeze_end,
        cron_timezone: params.cron_timezone,
    };
    let changed = app.db.write(move |tx| {
        actions::update(tx, &grant, &Calendar, params.freeze_period_id, change.clone())
    });
    Ok(Json(changed.await?.into()))
}

async fn remove(
    app: App,
    call: Call<ChangeFreezePeriods, OneFreezePeriod>,
) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, id) = (call.grant, call.params.freeze_period_id);
    let reader = grant.also::<ReadFreezePeriods>()?;
    let removed = app.db.write(move |tx| {
        actions::read(tx, &reader, id)?.updated_at.ensure_unchanged_since(since)?;
        actions::remove(tx, &grant, id)
    });
    removed.await?;
    Ok(NoContent)
}
