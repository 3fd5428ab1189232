//! The runners that do the jobs of a group's projects.

use entities::runners::runner::{ResetTokenEntity, RunnerEntity};
use forge::runner::{
    lists::{self, RunnerMembership},
    registration,
};
use runners::policy::{AdminGroupRunners, ReadGroupRunners};

use super::runner_params::ListRunners;
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    present::{Created, PagedList},
    routes,
};

routes! { "Runners of groups" at "/groups/{id}/runners";
    GET  ""                          => list  : ReadGroupRunners,
    POST "/reset_registration_token" => reset : AdminGroupRunners,
}

async fn list(
    app: App,
    call: Call<ReadGroupRunners, ListRunners>,
) -> ApiResult<PagedList<RunnerEntity>> {
    let (grant, page, filter) = (call.grant, call.page, call.params.into_filter(true)?);
    let listed = app.db.read(move |tx| {
        let membership = RunnerMembership::AllAvailable;
        let found = lists::of_group(tx, &grant, membership, &filter, page)?;
        Ok(found.map(|runner| RunnerEntity::new(&runner, tx.now)))
    });
    Ok(PagedList(listed.await?))
}

async fn reset(app: App, call: Call<AdminGroupRunners>) -> ApiResult<Created<ResetTokenEntity>> {
    let grant = call.grant;
    let token = app.db.write(move |tx| registration::reset_of_group(tx, &grant)).await?;
    Ok(Created(token.into()))
}
