//! Environments are made, changed, stopped and removed, and deployments are approved.

use std::sync::Arc;

use deployments::{
    approval::{ApprovalStatus, actions::Verdict},
    deployment::DeploymentStore as _,
    environment::{Environment, EnvironmentChange, actions},
    policy::{ChangeEnvironments, ReadDeployments, RemoveEnvironments, StopEnvironments},
};
use forge::{
    deployment::{decide, stop as stop_environment},
    pipeline::run_now,
    ports::deployments::Members,
};
use graphql::{Arguments, Failure, Payload, Registry};
use kernel::{Result as KernelResult, ids::DeploymentId};

use super::{
    deployment::approval,
    environment::{environment, named},
};
use crate::{
    context::Context,
    failure::{done, failure_of},
    pipelines::{LocatedProject, located_project, value_of},
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.mutation("environmentCreate", |input, context| async move {
        create(&input, &context).await
    });
    registry.mutation("environmentUpdate", |input, context| async move {
        let (home, id) = named(&input, &context).await?;
        let grant = home.grant::<ChangeEnvironments>().map_err(failure_of)?;
        let change = EnvironmentChange {
            name: None,
            external_url: input.has("externalUrl").then(|| input.maybe_text("externalUrl")),
            tier: input.has("tier").then(|| value_of(input.maybe_enum("tier"))),
        };
        let written =
            context.forge.db.write(move |tx| actions::update(tx, &grant, &Members, id, change));
        payload(home, written.await)
    });
    registry
        .mutation("environmentStop", |input, context| async move { stop(&input, &context).await });
    registry.mutation("environmentDelete", |input, context| async move {
        let (home, id) = named(&input, &context).await?;
        let grant = home.grant::<RemoveEnvironments>().map_err(failure_of)?;
        let removed = context.forge.db.write(move |tx| actions::remove(tx, &grant, &Members, id));
        Ok(Payload::errors(done(removed.await)?.err().unwrap_or_default()))
    });
    registry.mutation("approveDeployment", |input, context| async move {
        approve(&input, &context).await
    });
}

fn payload(
    home: Arc<LocatedProject>,
    written: KernelResult<Environment>,
) -> Result<Payload, Failure> {
    Ok(match done(written)? {
        Ok(row) => Payload::new().field("environment", environment(home, row)),
        Err(errors) => Payload::errors(errors),
    })
}

async fn create(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let home = located_project::at(context, input.text("projectPath")?).await?;
    let grant = home.grant::<ChangeEnvironments>().map_err(failure_of)?;
    let (name, tier) = (input.text("name")?, value_of(input.maybe_enum("tier")));
    let url = input.maybe_text("externalUrl").filter(|url| !url.is_empty());
    let written =
        context.forge.db.write(move |tx| actions::create(tx, &grant, name, url, tier)).await;
    payload(home, written)
}

async fn stop(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (home, id) = named(input, context).await?;
    let grant = home.grant::<StopEnvironments>().map_err(failure_of)?;
    let (vault, force) = (context.forge.vault.clone(), input.flag("force"));
    let written =
        context.forge.db.write(move |tx| stop_environment(tx, &vault, &grant, id, force)).await;
    if let Ok(stopped) = &written
        && let Some(pipeline) = stopped.pipeline
    {
        run_now(&context.forge, pipeline).await;
    }
    payload(home, written.map(|stopped| stopped.environment))
}

async fn approve(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let id = DeploymentId(input.gid("id", &["Deployment"])?);
    let found = context.forge.db.read(move |tx| tx.any_deployment(id)).await;
    let row = found.map_err(failure_of)?.ok_or(Failure::NotFoundOrForbidden)?;
    let home = located_project::expect(context, row.project_id).await?;
    let grant = home.grant::<ReadDeployments>().map_err(failure_of)?;
    let status = value_of(input.maybe_enum("status")).unwrap_or(ApprovalStatus::Rejected);
    let verdict = Verdict {
        status,
        comment: input.maybe_text("comment"),
        represented_as: input.maybe_text("representedAs"),
    };
    let said = context.forge.db.write(move |tx| decide(tx, &grant, id, &verdict)).await;
    Ok(match done(said)? {
        Ok(said) => Payload::new().field("deploymentApproval", approval(context, &said).await?),
        Err(errors) => Payload::errors(errors),
    })
}
