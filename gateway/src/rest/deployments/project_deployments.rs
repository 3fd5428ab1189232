//! Deployments of a project.

use db::Tx;
use deployments::{
    deployment::{
        DeploymentFilter, DeploymentOrder, DeploymentStatus, NewDeployment, StatusReport, actions,
    },
    policy::{ChangeDeployments, ReadDeployments, RemoveDeployments},
};
use entities::deployments::{
    deployment::DeploymentEntity,
    deployment_approval::DeploymentDetailEntity,
    deployment_records::{DeploymentReader, present, present_detail},
};
use forge::{
    deployment::{report, run_now},
    ports::deployments::Members,
};
use kernel::{Ts, ids::DeploymentId};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, NonEmpty, Sort},
    param_enums, params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Deployments" at "/projects/{id}/deployments";
    GET    ""                  => list   : ReadDeployments,
    GET    "/{deployment_id}"  => show   : ReadDeployments,
    POST   ""                  => create : ChangeDeployments,
    PUT    "/{deployment_id}"  => update : ChangeDeployments,
    DELETE "/{deployment_id}"  => remove : RemoveDeployments,
}

param_enums! { DeploymentStatus, DeploymentOrder, StatusReport }

params! {
    pub struct ListDeployments: paged {
        order_by: DeploymentOrder = DeploymentOrder::Id,
        sort: Sort = Sort::Asc,
        /// Filters by update time; the list is then ordered by it.
        updated_after: Option<Ts>,
        /// Filters by update time; the list is then ordered by it.
        updated_before: Option<Ts>,
        /// Name of an environment.
        environment: Option<String>,
        status: Option<DeploymentStatus>,
    }
}

async fn list(
    app: App,
    call: Call<ReadDeployments, ListDeployments>,
) -> ApiResult<PagedList<DeploymentEntity>> {
    let (grant, page, params) = (call.grant, call.page, call.params);
    let (facts, reader) = (grant.facts().clone(), DeploymentReader::from(&grant));
    let list = move |tx: &mut Tx<'_>| {
        let filter = DeploymentFilter {
            environment: None,
            statuses: params.status.into_iter().collect(),
            updated_before: params.updated_before,
            updated_after: params.updated_after,
            order: params.order_by,
            descending: params.sort == Sort::Desc,
        };
        let environment = params.environment.as_deref().filter(|name| !name.is_empty());
        actions::list(tx, &grant, environment, &filter, page)
    };
    Ok(PagedList(present(&app, &facts, reader, list).await?))
}

params! {
    pub struct OneDeployment {
        deployment_id: DeploymentId,
    }
}

async fn show(
    app: App,
    call: Call<ReadDeployments, OneDeployment>,
) -> ApiResult<Json<DeploymentDetailEntity>> {
    let (grant, id) = (call.grant, call.params.deployment_id);
    let (facts, reader) = (grant.facts().clone(), DeploymentReader::from(&grant));
    let find = move |tx: &mut Tx<'_>| actions::read(tx, &grant, id);
    Ok(Json(present_detail(&app, &facts, reader, find).await?))
}

params! {
    pub struct CreateDeployment {
        /// Name of an environment. One that does not exist is created.
        environment: NonEmpty,
        /// Commit that is deployed.
        sha: NonEmpty,
        /// Branch or tag that is deployed.
        r#ref: NonEmpty,
        /// Whether `ref` is a tag.
        tag: bool,
        status: StatusReport,
    }
}

async fn create(
    app: App,
    call: Call<ChangeDeployments, CreateDeployment>,
) -> ApiResult<Created<DeploymentDetailEntity>> {
    let (grant, params) = (call.grant, call.params);
    let (facts, reader) = (grant.facts().clone(), DeploymentReader::from(&grant));
    let new = NewDeployment {
        environment: params.environment.0,
        ref_name: params.r#ref.0,
        tag: params.tag,
        sha: params.sha.0,
        status: params.status,
    };
    let made = report(&app, grant, new).await?;
    Ok(Created(present_detail(&app, &facts, reader, |_| Ok(made)).await?))
}

params! {
    pub struct UpdateDeployment {
        deployment_id: DeploymentId,
        status: StatusReport,
    }
}

async fn update(
    app: App,
    call: Call<ChangeDeployments, UpdateDeployment>,
) -> ApiResult<Json<DeploymentDetailEntity>> {
    let (grant, params) = (call.grant, call.params);
    let (facts, reader) = (grant.facts().clone(), DeploymentReader::from(&grant));
    let changed = app.db.write(move |tx| {
        actions::update(tx, &grant, &Members, params.deployment_id, params.status)
    });
    let changed = changed.await?;
    run_now(&app, changed.id).await;
    Ok(Json(present_detail(&app, &facts, reader, |_| Ok(changed)).await?))
}

async fn remove(app: App, call: Call<RemoveDeployments, OneDeployment>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, id) = (call.grant, call.params.deployment_id);
    let reader = grant.also::<ReadDeployments>()?;
    let removed = app.db.write(move |tx| {
        actions::read(tx, &reader, id)?.updated_at.ensure_unchanged_since(since)?;
        actions::remove(tx, &grant, &Members, id)
    });
    removed.await?;
    Ok(NoContent)
}
