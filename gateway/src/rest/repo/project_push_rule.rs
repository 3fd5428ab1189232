//! A project's push rule.

use entities::repo::push_rule::ProjectPushRuleEntity;
use kernel::{Error, error::Kind};
use repo::{
    policy::{AdminPushRule, ReadPushRule},
    push_rule::actions,
};

use super::{
    push_rule_calls::{changed, made},
    push_rule_params::RuleParams,
};
use crate::{
    app::App,
    error::ApiResult,
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
    Ok(Created(made(app, call).await?.into()))
}

async fn update(
    app: App,
    call: Call<AdminPushRule, RuleParams>,
) -> ApiResult<Json<ProjectPushRuleEntity>> {
    Ok(Json(changed(app, call).await?.into()))
}

async fn delete(app: App, call: Call<AdminPushRule>) -> ApiResult<NoContent> {
    match app.db.write(move |tx| actions::delete(tx, &call.grant, None)).await {
        Err(unknown) if unknown.is_plain(Kind::NotFound) => {
            Err(Error::not_found("Push rule").into())
        }
        done => Ok(done.map(|()| NoContent)?),
    }
}
