//! Pipelines are made, done again, ended and removed.

use std::sync::Arc;

use ci::{
    pipeline::{Pipeline, PipelineVariable, Source, control},
    policy::{CreatePipelines, DeletePipelines, UpdatePipelines},
};
use forge::{
    pipeline::{Request, make, run_now},
    ports::ci::Refs,
};
use graphql::{Arguments, Failure, Payload, Registry};
use kernel::{Error, ids::PipelineId};

use super::{
    loaders::CiLoaders,
    located_project::{self, LocatedProject},
    pipeline::pipeline,
};
use crate::{
    context::Context,
    failure::{done, failure_of},
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry
        .mutation("pipelineCreate", |input, context| async move { create(&input, &context).await });
    registry.mutation("pipelineRetry", |input, context| async move {
        let (home, id) = named(&input, &context).await?;
        let grant = home.grant::<UpdatePipelines>().map_err(failure_of)?;
        let written = context.forge.db.write(move |tx| control::retry(tx, &grant, &Refs, id)).await;
        if written.is_ok() {
            run_now(&context.forge, id).await;
        }
        payload(home, written)
    });
    registry.mutation("pipelineCancel", |input, context| async move {
        let (home, id) = named(&input, &context).await?;
        let grant = home.grant::<UpdatePipelines>().map_err(failure_of)?;
        let written =
            context.forge.db.write(move |tx| control::cancel(tx, &grant, &Refs, id)).await;
        payload(home, written)
    });
    registry.mutation("pipelineDestroy", |input, context| async move {
        let (home, id) = named(&input, &context).await?;
        let grant = home.grant::<DeletePipelines>().map_err(failure_of)?;
        let written = context.forge.db.write(move |tx| control::delete(tx, &grant, id, None)).await;
        Ok(Payload::errors(done(written)?.err().unwrap_or_default()))
    });
}

/// The pipeline that the input names, and where it is.
async fn named(
    input: &Arguments,
    context: &Context,
) -> Result<(Arc<LocatedProject>, PipelineId), Failure> {
    let id = PipelineId(input.gid("id", &["Ci::Pipeline"])?);
    let row = CiLoaders::of(context).pipelines.load(id).await?;
    let row = row.ok_or(Failure::NotFoundOrForbidden)?;
    Ok((located_project::expect(context, row.project_id).await?, id))
}

fn payload(
    home: Arc<LocatedProject>,
    written: Result<Pipeline, Error>,
) -> Result<Payload, Failure> {
    Ok(match done(written)? {
        Ok(row) => Payload::new().field("pipeline", pipeline(home, row)),
        Err(errors) => Payload::errors(errors),
    })
}

/// Names and values of an input's variables.
pub(super) fn variables(input: &Arguments) -> Result<Vec<(String, String)>, Failure> {
    let pair = |one: Arguments| Ok((one.text("key")?, one.text("value")?));
    input.objects("variables").into_iter().map(pair).collect()
}

async fn create(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let home = located_project::at(context, input.text("projectPath")?).await?;
    let grant = home.grant::<CreatePipelines>().map_err(failure_of)?;
    let given = variables(input)?.into_iter();
    let request = Request {
        facts: grant.facts().clone(),
        who: *grant.who(),
        source: Source::Api,
        ref_name: input.text("ref")?,
        variables: given.map(|(key, value)| PipelineVariable::plain(key, value)).collect(),
        schedule: None,
        schedule_run: None,
        trigger: None,
        parent: None,
    };
    let made = make(&context.forge, request).await;
    if let Ok(pipeline) = &made {
        run_now(&context.forge, pipeline.id).await;
    }
    payload(home, made)
}
