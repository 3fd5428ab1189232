//! A group's push rule: what its new projects begin with.

use kernel::Error;
use repo::{
    policy::{AdminGroupPushRule, ReadGroupPushRule},
    push_rule::actions,
};

use super::push_rule_params::RuleParams;
use crate::{
    app::App,
    entities::push_rule::GroupPushRuleEntity,
    error::{ApiError, ApiResult},
    extract::Call,
    present::{Created, Json, NoContent},
    routes,
};

routes! { "Push rules of groups" at "/groups/{id}/push_rule";
    GET    "" => show   : ReadGroupPushRule,
    POST   "" => create : AdminGroupPushRule,
    PUT    "" => update : AdminGroupPushRule,
    DELETE "" => delete : AdminGroupPushRule,
}

async fn show(app: App, call: Call<ReadGroupPushRule>) -> ApiResult<Json<GroupPushRuleEntity>> {
    let found = app.db.peek(move |tx| actions::show(tx, &call.grant)).await?;
    Ok(Json(found.ok_or(ApiError::Nothing)?.into()))
}

async fn create(
    app: App,
    call: Call<AdminGroupPushRule, RuleParams>,
) -> ApiResult<Created<GroupPushRuleEntity>> {
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
    call: Call<AdminGroupPushRule, RuleParams>,
) -> ApiResult<Json<GroupPushRuleEntity>> {
    let (grant, params) = (call.grant, call.params);
    let changed = app.db.write(move |tx| actions::update(tx, &grant, |terms| params.apply(terms)));
    Ok(Json(changed.await?.into()))
}

async fn delete(app: App, call: Call<AdminGroupPushRule>) -> ApiResult<NoContent> {
    let (since, grant) = (call.unmodified_since(), call.grant);
    match app.db.write(move |tx| actions::delete(tx, &grant, since)).await {
        Err(Error::Missing) => Err(ApiError::Nothing),
        done => Ok(done.map(|()| NoContent)?),
    }
}
