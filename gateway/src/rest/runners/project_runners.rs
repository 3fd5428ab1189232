//! The runners that do the jobs of a project.

use entities::runners::runner::{ResetTokenEntity, RunnerEntity};
use forge::runner::{lists, registration};
use kernel::ids::RunnerId;
use runners::{
    policy::{AdminProjectRunners, ReadProjectRunners},
    runner::actions,
};

use super::runner_params::ListRunners;
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, NoContent, PagedList},
    routes,
};

routes! { "Runners of projects" at "/projects/{id}/runners";
    GET    ""                          => list     : ReadProjectRunners,
    POST   ""                          => assign   : AdminProjectRunners,
    DELETE "/{runner_id}"              => unassign : AdminProjectRunners,
    POST   "/reset_registration_token" => reset    : AdminProjectRunners,
}

async fn list(
    app: App,
    call: Call<ReadProjectRunners, ListRunners>,
) -> ApiResult<PagedList<RunnerEntity>> {
    let (grant, page, filter) = (call.grant, call.page, call.params.into_filter(true)?);
    let listed = app.db.read(move |tx| {
        let found = lists::of_project(tx, &grant, &filter, page)?;
        Ok(found.map(|runner| RunnerEntity::new(&runner, tx.now)))
    });
    Ok(PagedList(listed.await?))
}

params! {
    pub struct AssignRunner {
        /// A runner of another project.
        runner_id: RunnerId,
    }
}

async fn assign(
    app: App,
    call: Call<AdminProjectRunners, AssignRunner>,
) -> ApiResult<Created<RunnerEntity>> {
    let (grant, id) = (call.grant, call.params.runner_id);
    let assigned = app.db.write(move |tx| {
        let runner = registration::assign(tx, &grant, id)?;
        Ok(RunnerEntity::new(&runner, tx.now))
    });
    Ok(Created(assigned.await?))
}

async fn unassign(app: App, call: Call<AdminProjectRunners, AssignRunner>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, id) = (call.grant, call.params.runner_id);
    app.db.write(move |tx| actions::unassign(tx, &grant, id, since)).await?;
    Ok(NoContent)
}

async fn reset(app: App, call: Call<AdminProjectRunners>) -> ApiResult<Created<ResetTokenEntity>> {
    let grant = call.grant;
    let token = app.db.write(move |tx| registration::reset_of_project(tx, &grant)).await?;
    Ok(Created(token.into()))
}
