//! Jobs are started, done again and ended, and what they left behind is removed.

use std::sync::Arc;

use ci::{
    artifact::ArtifactStore as _,
    job::{Job, StageJobStore as _, actions},
    pipeline::PipelineVariable,
    policy::{DeleteArtifacts, UpdateJobs},
};
use forge::{
    pipeline::control::{play_job, retry_job},
    ports::ci::Refs,
    runner::artifacts::remove_of_job,
};
use graphql::{Arguments, Failure, Payload, Registry, Value};
use kernel::{Error, Grant, ids::JobId};

use super::{
    job::job,
    loaders::CiLoaders,
    located_project::{self, LocatedProject},
    pipeline_mutations::variables,
};
use crate::{
    context::Context,
    failure::{done, failure_of},
};

/// What a job is called in global ids.
const CLASSES: [&str; 3] = ["Ci::Build", "Ci::Bridge", "CommitStatus"];

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.mutation("jobCancel", |input, context| async move {
        let (home, grant, row) = named(&input, &context).await?;
        let id = row.id;
        let written =
            context.forge.db.write(move |tx| actions::cancel(tx, &grant, &Refs, id)).await;
        payload(&context, home, written).await
    });
    registry.mutation("jobUnschedule", |input, context| async move {
        let (home, grant, row) = named(&input, &context).await?;
        let id = row.id;
        let written =
            context.forge.db.write(move |tx| actions::unschedule(tx, &grant, &Refs, id)).await;
        payload(&context, home, written).await
    });
    registry.mutation("jobPlay", |input, context| async move {
        let (home, grant, row) = named(&input, &context).await?;
        let played = match sound_variables(&input)? {
            Ok(given) => play_job(&context.forge, grant, row.id, given).await,
            Err(refused) => Err(refused),
        };
        payload(&context, home, played).await
    });
    registry.mutation("jobRetry", |input, context| async move {
        let (home, grant, row) = named(&input, &context).await?;
        let retried = match sound_variables(&input)? {
            Err(refused) => Err(refused),
            // Only what is started by hand takes variables.
            Ok(given) if !given.is_empty() && row.is_action() => {
                play_job(&context.forge, grant, row.id, given).await
            }
            Ok(_) => retry_job(&context.forge, grant, row.id).await,
        };
        payload(&context, home, retried).await
    });
    registry.mutation("jobArtifactsDestroy", |input, context| async move {
        destroy_artifacts(&input, &context).await
    });
}

/// The job that the input names, where it is, and that the caller may change jobs there.
async fn named(
    input: &Arguments,
    context: &Context,
) -> Result<(Arc<LocatedProject>, Grant<UpdateJobs>, Job), Failure> {
    let (home, row) = found(input, context).await?;
    let grant = home.grant::<UpdateJobs>().map_err(failure_of)?;
    Ok((home, grant, row))
}

async fn found(
    input: &Arguments,
    context: &Context,
) -> Result<(Arc<LocatedProject>, Job), Failure> {
    let id = JobId(input.gid("id", &CLASSES)?);
    let row = CiLoaders::of(context).jobs.load(id).await?;
    let row = row.ok_or(Failure::NotFoundOrForbidden)?;
    Ok((located_project::expect(context, row.job.project_id).await?, row.job.clone()))
}

type Variables = Result<Vec<(String, String)>, Error>;

fn sound_variables(input: &Arguments) -> Result<Variables, Failure> {
    let given = variables(input)?;
    let all: Vec<PipelineVariable> =
        (given.iter().cloned()).map(|(key, value)| PipelineVariable::plain(key, value)).collect();
    Ok(PipelineVariable::ensure_sound(&all).map(|()| given))
}

/// The job as it is after the change.
async fn payload(
    context: &Context,
    home: Arc<LocatedProject>,
    written: Result<Job, Error>,
) -> Result<Payload, Failure> {
    let row = match done(written)? {
        Ok(row) => row,
        Err(errors) => return Ok(Payload::errors(errors)),
    };
    let read = context.forge.db.read(move |tx| tx.stage_jobs(&[row.id])).await;
    let found = read.map_err(failure_of)?.pop();
    let value = found.map_or(Value::Null, |row| job(home, Arc::new(row)));
    Ok(Payload::new().field("job", value))
}

async fn destroy_artifacts(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (home, row) = found(input, context).await?;
    let grant: Grant<DeleteArtifacts> = home.grant().map_err(failure_of)?;
    let (project, id) = (grant.project(), row.id);
    // Not by a loader, which would show the artifacts as they were.
    let read = context.forge.db.read(move |tx| {
        let (row, now) = (actions::build(tx, project, id)?, tx.now);
        Ok((row, tx.artifacts_of(&[id])?.iter().filter(|one| one.is_there(now)).count()))
    });
    let (row, count) = read.await.map_err(failure_of)?;
    remove_of_job(&context.forge, id).await.map_err(failure_of)?;
    Ok(payload(context, home, Ok(row)).await?.field("destroyedArtifactsCount", count))
}
