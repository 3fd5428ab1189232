//! Pipelines are made, done again, ended, named and taken away.

use ci::{
    pipeline::{Pipeline, Source, control},
    policy::{CreatePipelines, DeletePipelines, UpdatePipelines},
};
use entities::ci::pipeline::FullPipelineEntity;
use forge::{
    pipeline::{Request, make, run_now},
    ports::ci::Refs,
};
use kernel::{Result, access::ProjectFacts, ids::PipelineId};

use super::{job_params::NewPipelineVariable, pipelines::OnePipeline};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, NonEmpty},
    params,
    present::{Created, Json, NoContent},
    routes,
};

routes! { "Changes of pipelines" at "/projects/{id}";
    POST   "/pipeline"                         => create : CreatePipelines,
    POST   "/pipelines/{pipeline_id}/retry"    => retry  : UpdatePipelines,
    POST   "/pipelines/{pipeline_id}/cancel"   => cancel : UpdatePipelines,
    PUT    "/pipelines/{pipeline_id}/metadata" => rename : UpdatePipelines,
    DELETE "/pipelines/{pipeline_id}"          => delete : DeletePipelines,
}

params! {
    pub struct CreatePipeline {
        /// A branch or tag.
        r#ref: NonEmpty,
        variables: Option<Vec<NewPipelineVariable>>,
    }
}

async fn create(
    app: App,
    call: Call<CreatePipelines, CreatePipeline>,
) -> ApiResult<Created<FullPipelineEntity>> {
    let (grant, params) = (call.grant, call.params);
    let facts = grant.facts().clone();
    let variables = params.variables.unwrap_or_default();
    let request = Request {
        facts: facts.clone(),
        who: *grant.who(),
        source: Source::Api,
        ref_name: params.r#ref.0,
        variables: variables.into_iter().map(Into::into).collect(),
        schedule: None,
        schedule_run: None,
        trigger: None,
        parent: None,
    };
    let pipeline = make(&app, request).await?;
    run_now(&app, pipeline.id).await;
    Ok(Created(pipeline_entity(&app, &facts, pipeline).await?))
}

async fn pipeline_entity(
    app: &App,
    facts: &ProjectFacts,
    pipeline: Pipeline,
) -> Result<FullPipelineEntity> {
    let (urls, facts) = (app.urls.clone(), facts.clone());
    app.db.read(move |tx| FullPipelineEntity::load(tx, &urls, &facts, &pipeline)).await
}

async fn retry(
    app: App,
    call: Call<UpdatePipelines, OnePipeline>,
) -> ApiResult<Created<FullPipelineEntity>> {
    let (grant, id) = (call.grant, call.params.pipeline_id);
    let facts = grant.facts().clone();
    let pipeline = app.db.write(move |tx| control::retry(tx, &grant, &Refs, id)).await?;
    run_now(&app, id).await;
    Ok(Created(pipeline_entity(&app, &facts, pipeline).await?))
}

async fn cancel(
    app: App,
    call: Call<UpdatePipelines, OnePipeline>,
) -> ApiResult<Json<FullPipelineEntity>> {
    let (grant, id) = (call.grant, call.params.pipeline_id);
    let facts = grant.facts().clone();
    let pipeline = app.db.write(move |tx| control::cancel(tx, &grant, &Refs, id)).await?;
    Ok(Json(pipeline_entity(&app, &facts, pipeline).await?))
}

params! {
    pub struct RenamePipeline {
        pipeline_id: PipelineId,
        /// 1 to 255 characters; spaces around the name are removed.
        name: String,
    }
}

async fn rename(
    app: App,
    call: Call<UpdatePipelines, RenamePipeline>,
) -> ApiResult<Json<FullPipelineEntity>> {
    let (grant, id, name) = (call.grant, call.params.pipeline_id, call.params.name);
    let facts = grant.facts().clone();
    let renamed = app.db.write(move |tx| control::rename(tx, &grant, &Refs, id, &name));
    let pipeline = renamed.await?;
    Ok(Json(pipeline_entity(&app, &facts, pipeline).await?))
}

async fn delete(app: App, call: Call<DeletePipelines, OnePipeline>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, id) = (call.grant, call.params.pipeline_id);
    app.db.write(move |tx| control::delete(tx, &grant, id, since)).await?;
    Ok(NoContent)
}
