//! Pipeline trigger tokens of a project.

use ci::{
    policy::{ChangeTriggers, ReadTriggers},
    trigger::{Trigger, TriggerToken, actions},
};
use entities::ci::trigger::TriggerEntity;
use forge::ports::ci::PlanLimits;
use kernel::{Ability, Grant, Result, access::Project, ids::TriggerId};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Pipeline triggers" at "/projects/{id}/triggers";
    GET    ""              => list   : ReadTriggers,
    GET    "/{trigger_id}" => show   : ReadTriggers,
    POST   ""              => create : ChangeTriggers,
    PUT    "/{trigger_id}" => update : ChangeTriggers,
    DELETE "/{trigger_id}" => remove : ChangeTriggers,
}

/// Builds the entities as the caller may see them.
fn trigger_entities<A: Ability<Scope = Project>>(
    tx: &mut db::Tx<'_>,
    app: &App,
    grant: &Grant<A>,
    triggers: Vec<Trigger>,
) -> Result<Vec<TriggerEntity>> {
    TriggerEntity::all(tx, (&app.urls, &app.vault), &grant.actor(), triggers)
}

fn one<A: Ability<Scope = Project>>(
    tx: &mut db::Tx<'_>,
    app: &App,
    grant: &Grant<A>,
    trigger: Trigger,
) -> Result<TriggerEntity> {
    trigger_entities(tx, app, grant, vec![trigger])?.pop().ok_or_else(kernel::Error::missing)
}

async fn list(app: App, call: Call<ReadTriggers, OnlyPage>) -> ApiResult<PagedList<TriggerEntity>> {
    let (grant, page, own) = (call.grant, call.page, app.clone());
    let listed = app.db.read(move |tx| {
        actions::list(tx, &grant, page)?.try_map_all(|all| trigger_entities(tx, &own, &grant, all))
    });
    Ok(PagedList(listed.await?))
}

params! {
    pub struct OneTrigger {
        trigger_id: TriggerId,
    }
}

async fn show(app: App, call: Call<ReadTriggers, OneTrigger>) -> ApiResult<Json<TriggerEntity>> {
    let (grant, id, own) = (call.grant, call.params.trigger_id, app.clone());
    let shown = app.db.read(move |tx| {
        let trigger = actions::read(tx, &grant, id)?;
        one(tx, &own, &grant, trigger)
    });
    Ok(Json(shown.await?))
}

params! {
    pub struct CreateTrigger {
        description: String,
    }
}

async fn create(
    app: App,
    call: Call<ChangeTriggers, CreateTrigger>,
) -> ApiResult<Created<TriggerEntity>> {
    let (grant, description, own) = (call.grant, call.params.description, app.clone());
    let token = TriggerToken::generate();
    let made = app.db.write(move |tx| {
        let made = actions::create(tx, &grant, &PlanLimits, &own.vault, description, &token)?;
        one(tx, &own, &grant, made)
    });
    Ok(Created(made.await?))
}

params! {
    pub struct ChangeTrigger {
        trigger_id: TriggerId,
        description: Option<String>,
    }
}

async fn update(
    app: App,
    call: Call<ChangeTriggers, ChangeTrigger>,
) -> ApiResult<Json<TriggerEntity>> {
    let (grant, params, own) = (call.grant, call.params, app.clone());
    let changed = app.db.write(move |tx| {
        let after = actions::update(tx, &grant, params.trigger_id, params.description)?;
        one(tx, &own, &grant, after)
    });
    Ok(Json(changed.await?))
}

async fn remove(app: App, call: Call<ChangeTriggers, OneTrigger>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, id) = (call.grant, call.params.trigger_id);
    app.db.write(move |tx| actions::remove(tx, &grant, id, since)).await?;
    Ok(NoContent)
}
