//! A project's pipelines.

use ci::{
    Status,
    pipeline::{PipelineOrder, PipelineScope, Source, actions},
    policy::ReadPipelines,
};
use entities::ci::pipeline::{FullPipelineEntity, PipelineEntity};
use forge::{pipeline::PipelineQuery, ports::ci::Projects};
use kernel::{Error, Result, Ts, ids::PipelineId};
use repo::git::RefName;

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Sort},
    param_enums, params,
    present::{Json, PagedList},
    routes,
};

routes! { "Pipelines" at "/projects/{id}";
    GET "/pipelines"               => list   : ReadPipelines,
    GET "/pipelines/latest"        => latest : ReadPipelines,
    GET "/pipeline/latest"         => latest : ReadPipelines,
    POST "/pipelines/latest"       => latest : ReadPipelines,
    POST "/pipeline/latest"        => latest : ReadPipelines,
    GET "/pipelines/{pipeline_id}" => show   : ReadPipelines,
}

param_enums! { PipelineScope, Status, Source, PipelineOrder }

params! {
    pub struct ListPipelines: paged {
        scope: Option<PipelineScope>,
        status: Option<Status>,
        source: Option<Source>,
        r#ref: Option<String>,
        sha: Option<String>,
        /// Only pipelines with (true) or without (false) configuration errors.
        yaml_errors: Option<bool>,
        /// Username of the user who triggered the pipeline.
        username: Option<String>,
        name: Option<String>,
        created_before: Option<Ts>,
        created_after: Option<Ts>,
        updated_before: Option<Ts>,
        updated_after: Option<Ts>,
        order_by: PipelineOrder = PipelineOrder::Id,
        sort: Sort = Sort::Desc,
    }
}

impl From<ListPipelines> for PipelineQuery {
    fn from(given: ListPipelines) -> Self {
        Self {
            scope: given.scope,
            status: given.status,
            source: given.source,
            ref_name: given.r#ref,
            sha: given.sha,
            yaml_errors: given.yaml_errors,
            username: given.username,
            name: given.name,
            created_before: given.created_before,
            created_after: given.created_after,
            updated_before: given.updated_before,
            updated_after: given.updated_after,
            order: given.order_by,
            descending: given.sort == Sort::Desc,
        }
    }
}

async fn list(
    app: App,
    call: Call<ReadPipelines, ListPipelines>,
) -> ApiResult<PagedList<PipelineEntity>> {
    let (grant, page) = (call.grant, call.page);
    let filter = PipelineQuery::from(call.params).into_filter(&app, &grant).await?;
    let url = app.urls.at(&grant.facts().full_path);
    let listed = app.db.read(move |tx| actions::list(tx, &grant, &Projects, &filter, page));
    Ok(PagedList(listed.await?.map(|pipeline| PipelineEntity::new(&pipeline, &url))))
}

params! {
    pub struct OnePipeline {
        pipeline_id: PipelineId,
    }
}

async fn show(
    app: App,
    call: Call<ReadPipelines, OnePipeline>,
) -> ApiResult<Json<FullPipelineEntity>> {
    let (grant, id, urls) = (call.grant, call.params.pipeline_id, app.urls.clone());
    let shown = app.db.read(move |tx| {
        let pipeline = actions::read(tx, &grant, &Projects, id)?;
        FullPipelineEntity::load(tx, &urls, grant.facts(), &pipeline)
    });
    Ok(Json(shown.await?))
}

params! {
    pub struct LatestPipeline {
        /// Branch. Default: the default branch.
        r#ref: Option<String>,
    }
}

/// What the tip of a branch came to; a branch without a pipeline there is refused.
async fn latest(
    app: App,
    call: Call<ReadPipelines, LatestPipeline>,
) -> ApiResult<Json<FullPipelineEntity>> {
    let (grant, urls) = (call.grant, app.urls.clone());
    let named = call.params.r#ref.filter(|name| !name.is_empty());
    let branch =
        named.or_else(|| grant.facts().default_branch.clone()).ok_or_else(Error::forbidden)?;
    let name = RefName::branch(&branch).map_err(|_no_name| Error::forbidden())?;
    let tip = app.git_read(grant.project(), move |reader| {
        Ok(reader.find_reference(&name)?.and_then(|found| found.commit))
    });
    let tip = tip.await?.ok_or_else(Error::forbidden)?.to_string();
    let shown = app.db.read(move |tx| {
        let pipeline = actions::newest_at(tx, &grant, &Projects, &branch, &tip)?;
        FullPipelineEntity::load(tx, &urls, grant.facts(), &pipeline)
    });
    Ok(Json(shown.await?))
}
