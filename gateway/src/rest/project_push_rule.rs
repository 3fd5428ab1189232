//! A project's push rule.

use kernel::Error;
use repo::{
    policy::{AdminPushRule, ReadPushRule},
    push_rule::actions,
};

use super::push_rule_params::RuleParams;
use crate::{
    app::App,
    entities::push_rule::ProjectPushRuleEntity,
    error::{ApiError, ApiResult},
    extract::Call,
    present::{Created, Json, NoContent},
    routes,
};

routes! { "Push rules of projects" at "/projects/{id}/push_rule";
    GET    "" => show   : ReadPushRule,
    POST   "" => create : AdminPushRule,
    PUT    "" => update : AdminPushRule,
    DELETE "" => delete : AdminPushRule,
}

async fn show(
    app: App,
    call: Call<ReadPushRule>,
) -> ApiResult<Json<Option<ProjectPushRuleEntity>>> {
    let found = app.db.peek(move |tx| actions::show(tx, &call.grant)).await?;
    // There being none is no failure here.
    Ok(Json(found.map(ProjectPushRuleEntity::from)))
}

async fn create(
    app: App,
    call: Call<AdminPushRule, RuleParams>,
) -> ApiResult<Created<ProjectPushRuleEntity>> {
    let (grant, params) = (call.grant, call.params);
    let made =
        app.db.write(move |tx| actions::create(tx, &grant, |terms| params.apply(terms))).await;
    match made {
        Ok(rule) => Ok(Created(rule.into())),
        Err(Error::Conflict(text)) => Err(ApiError::Taken(text)),
        Err(other) => Err(other.into()),
    }
}

async fn update(
    app: App,
    call: Call<AdminPushRule, RuleParams>,
) -> ApiResult<Json<ProjectPushRuleEntity>> {
    let (grant, params) = (call.grant, call.params);
    let changed = app.db.write(move |tx| actions::update(tx, &grant, |terms| params.apply(terms)));
    Ok(Json(changed.await?.into()))
}

async fn delete(app: App, call: Call<AdminPushRule>) -> ApiResult<NoContent> {
    match app.db.write(move |tx| actions::delete(tx, &call.grant, None)).await {
        Err(Error::Missing) => Err(Error::NotFound("Push rule").into()),
        done => Ok(done.map(|()| NoContent)?),
    }
}
