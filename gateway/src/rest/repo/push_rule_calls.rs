//! The calls that the push rules of projects, groups and the installation share. The rules of the latter two are what new
//! projects begin with, and have one form.

use entities::repo::push_rule::GroupPushRuleEntity;
use kernel::{Ability, Error, Grant, error::Kind};
use repo::push_rule::{
    PushRule,
    actions::{self, ChangePermission, ReadPermission},
};

use super::push_rule_params::RuleParams;
use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::Call,
    present::{Created, Json, NoContent},
};

pub(super) async fn made<A: Ability>(app: App, call: Call<A, RuleParams>) -> ApiResult<PushRule>
where
    Grant<A>: ChangePermission,
{
    let (grant, params) = (call.grant, call.params);
    let made = app.db.write(move |tx| actions::create(tx, &grant, |terms| params.apply(terms)));
    match made.await {
        Ok(rule) => Ok(rule),
        Err(failure) => Err(ApiError::Taken(failure.into_whole(Kind::Conflict)?)),
    }
}

pub(super) async fn changed<A: Ability>(app: App, call: Call<A, RuleParams>) -> ApiResult<PushRule>
where
    Grant<A>: ChangePermission,
{
    let (grant, params) = (call.grant, call.params);
    let changed = app.db.write(move |tx| actions::update(tx, &grant, |terms| params.apply(terms)));
    Ok(changed.await?)
}

pub(super) async fn show<A: Ability>(
    app: App,
    call: Call<A>,
) -> ApiResult<Json<GroupPushRuleEntity>>
where
    Grant<A>: ReadPermission,
{
    let found = app.db.peek(move |tx| actions::show(tx, &call.grant)).await?;
    Ok(Json(found.ok_or_else(Error::hidden)?.into()))
}

pub(super) async fn create<A: Ability>(
    app: App,
    call: Call<A, RuleParams>,
) -> ApiResult<Created<GroupPushRuleEntity>>
where
    Grant<A>: ChangePermission,
{
    Ok(Created(made(app, call).await?.into()))
}

pub(super) async fn update<A: Ability>(
    app: App,
    call: Call<A, RuleParams>,
) -> ApiResult<Json<GroupPushRuleEntity>>
where
    Grant<A>: ChangePermission,
{
    Ok(Json(changed(app, call).await?.into()))
}

pub(super) async fn delete<A: Ability>(app: App, call: Call<A>) -> ApiResult<NoContent>
where
    Grant<A>: ChangePermission,
{
    let (since, grant) = (call.unmodified_since(), call.grant);
    match app.db.write(move |tx| actions::delete(tx, &grant, since)).await {
        Err(unknown) if unknown.kind == Kind::NotFound => Err(Error::hidden().into()),
        done => Ok(done.map(|()| NoContent)?),
    }
}
