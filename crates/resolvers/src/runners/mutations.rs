//! Runners are changed and removed, and the tokens that register them are replaced.

use std::{collections::BTreeSet, sync::Arc};

use db::Tx;
use forge::{ports::runners::Roles, runner::registration};
use graphql::{Arguments, Failure, Payload, Registry, Value, parse_gid};
use kernel::{
    Grant, Result as KernelResult,
    access::Administrate,
    ids::{NamespaceId, ProjectId, RunnerId},
};
use org::access::{IdOrPath, locate_project};
use runners::{
    policy::{AdminGroupRunners, AdminProjectRunners, UseRunners},
    runner::{Attributes, Runner, RunnerStore as _, RunnerType, actions},
};

use super::runner::runner;
use crate::{
    context::Context,
    failure::{done, failure_of},
    pipelines::{
        located_project::{self, group_grant, instance_grant},
        value_of,
    },
};

/// What the minutes of a runner cost is not counted here.
const COST_FACTORS: [&str; 2] =
    ["privateProjectsMinutesCostFactor", "publicProjectsMinutesCostFactor"];
const NO_COSTS: &str = "Minutes have no cost factors: leave them out";

/// Runners that one call removes.
const REMOVED_AT_ONCE: usize = 50;

pub(super) fn register(registry: &mut Registry<Context>) {
    registry
        .mutation("runnerUpdate", |input, context| async move { update(&input, &context).await });
    registry.mutation("runnerDelete", |input, context| async move {
        let id = RunnerId(input.gid("id", &["Ci::Runner"])?);
        let grant = instance_grant::<UseRunners>(&context).map_err(failure_of)?;
        let removed =
            context.forge.db.write(move |tx| actions::remove(tx, &grant, &Roles, id, None)).await;
        Ok(Payload::errors(done(removed)?.err().unwrap_or_default()))
    });
    registry.mutation("bulkRunnerDelete", |input, context| async move {
        remove_many(&input, &context).await
    });
    registry.mutation("runnersRegistrationTokenReset", |input, context| async move {
        reset_registration(&input, &context).await
    });
}

async fn update(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let id = RunnerId(input.gid("id", &["Ci::Runner"])?);
    let grant = instance_grant::<UseRunners>(context).map_err(failure_of)?;
    if COST_FACTORS.iter().any(|name| input.json(name).is_some_and(|given| !given.is_null())) {
        return Ok(Payload::errors(vec![NO_COSTS.to_owned()]));
    }
    let active = input.maybe_bool("active").or(input.maybe_bool("paused").map(|paused| !paused));
    let attributes = Attributes {
        description: input.maybe_text("description"),
        maintenance_note: input.maybe_text("maintenanceNote"),
        active,
        locked: input.maybe_bool("locked"),
        run_untagged: input.maybe_bool("runUntagged"),
        access_level: value_of(input.maybe_enum("accessLevel")),
        tags: input.maybe_texts("tagList"),
        maximum_timeout: input.has("maximumTimeout").then(|| input.maybe_int("maximumTimeout")),
    };
    let associated = match input.maybe_texts("associatedProjects") {
        None => None,
        Some(_) => Some(input.gids("associatedProjects", &["Project"])?),
    };
    let written = context.forge.db.write(move |tx| {
        let after = actions::update(tx, &grant, &Roles, id, attributes)?;
        if let Some(wanted) = associated {
            associate(tx, &grant, &after, &wanted.into_iter().map(ProjectId).collect())?;
        }
        Ok(after)
    });
    Ok(match done(written.await)? {
        Ok(row) => Payload::new().field("runner", runner(context, Arc::new(row))),
        Err(errors) => Payload::errors(errors),
    })
}

/// Assigns a project runner to these projects alone, beside its first one.
fn associate(
    tx: &mut Tx<'_>,
    grant: &Grant<UseRunners>,
    row: &Runner,
    wanted: &BTreeSet<ProjectId>,
) -> KernelResult<()> {
    if row.runner_type != RunnerType::Project {
        return Err(kernel::Error::invalid("base", "Only project runners can be assigned"));
    }
    let assigned = tx.projects_of_runner(row.id)?;
    let mut allowed = |project: ProjectId| -> KernelResult<Grant<AdminProjectRunners>> {
        let (scope, who) = locate_project(tx, grant.actor(), &IdOrPath::Id(project.0))?;
        Grant::check(&who, scope)
    };
    let mut new = Vec::new();
    for project in wanted.iter().filter(|project| !assigned.contains(project)) {
        new.push(allowed(*project)?);
    }
    let mut old = Vec::new();
    for project in assigned.iter().skip(1).filter(|project| !wanted.contains(project)) {
        old.push(allowed(*project)?);
    }
    for project in new {
        registration::assign(tx, &project, row.id)?;
    }
    for project in old {
        actions::unassign(tx, &project, row.id, None)?;
    }
    Ok(())
}

async fn remove_many(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let ids = input.gids("ids", &["Ci::Runner"])?;
    if ids.len() > REMOVED_AT_ONCE {
        let text = format!("Can only delete up to {REMOVED_AT_ONCE} runners per call.");
        return Err(Failure::Message(text));
    }
    let grant = instance_grant::<UseRunners>(context).map_err(failure_of)?;
    let mut removed = Vec::new();
    let mut kept = 0_usize;
    for id in ids.into_iter().map(RunnerId) {
        let grant = grant.clone();
        let gone =
            context.forge.db.write(move |tx| actions::remove(tx, &grant, &Roles, id, None)).await;
        match done(gone) {
            Ok(Ok(())) => removed.push(Value::gid("Ci::Runner", id)),
            Ok(Err(_)) | Err(Failure::NotFoundOrForbidden) => kept += 1,
            Err(failure) => return Err(failure),
        }
    }
    let errors = match kept {
        0 => Vec::new(),
        kept => vec![format!("User does not have permission to delete {kept} of the runners")],
    };
    Ok(Payload::errors(errors)
        .field("deletedCount", removed.len())
        .field("deletedIds", Value::List(removed)))
}

async fn reset_registration(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let given = input.maybe_text("id").map(|id| parse_gid(&id)).transpose()?;
    let number = |class: &[&str]| -> Result<i64, Failure> {
        let (found, id) = given.as_ref().ok_or(Failure::NotFoundOrForbidden)?;
        let wrong = || {
            let named = class.first().copied().unwrap_or_default();
            let gid = format!("gid://gitlab/{found}/{id}");
            Failure::Message(format!("\"{gid}\" does not represent an instance of {named}"))
        };
        match class.contains(&found.as_str()) {
            true => id.parse().map_err(|_cause| Failure::NotFoundOrForbidden),
            false => Err(wrong()),
        }
    };
    let db = &context.forge.db;
    let token = match value_of::<RunnerType>(input.maybe_enum("type")) {
        Some(RunnerType::Group) => {
            let id = NamespaceId(number(&["Group"])?);
            let grant = group_grant::<AdminGroupRunners>(context, id).await?;
            db.write(move |tx| registration::reset_of_group(tx, &grant)).await
        }
        Some(RunnerType::Project) => {
            let home = located_project::expect(context, ProjectId(number(&["Project"])?)).await?;
            let grant = home.grant::<AdminProjectRunners>().map_err(failure_of)?;
            db.write(move |tx| registration::reset_of_project(tx, &grant)).await
        }
        _ => {
            let grant: Grant<Administrate> = instance_grant(context).map_err(failure_of)?;
            db.write(move |tx| registration::reset_of_instance(tx, &grant)).await
        }
    };
    Ok(match done(token)? {
        Ok(token) => Payload::new().field("token", token.into_revealed()),
        Err(errors) => Payload::errors(errors),
    })
}
