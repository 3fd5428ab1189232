//! Making and changing iterations and their cadences.

use entities::review::iteration::IterationEntity;
use graphql::{Arguments, Failure, Payload, Registry, Value};
use kernel::{Error, Grant, Result as Kept, Ts, ids::NamespaceId};
use org::access::{IdOrPath, locate_project};
use review::{
    Home,
    iteration::{
        Cadence, Iteration, IterationStore as _,
        actions::{self, NewIteration},
    },
    policy::ManageGroupIterations,
    ports::GroupHierarchy as _,
};

use super::scope;
use crate::{
    context::Context,
    failure::{done, failure_of},
    groups,
    iterations::{self, iteration},
};

type Answer = Result<Payload, Failure>;

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.mutation(
        "iterationCreate",
        |input, context| async move { create(&context, &input).await },
    );
    registry.mutation(
        "createIteration",
        |input, context| async move { create(&context, &input).await },
    );
    registry.mutation(
        "updateIteration",
        |input, context| async move { update(&context, &input).await },
    );
    registry.mutation("iterationDelete", |input, context| async move {
        let id = input.gid("id", &["Iteration"])?;
        let grant = grant_of_iteration(&context, id).await?;
        let group = grant.group();
        let removed = context.forge.db.write(move |tx| actions::remove(tx, &grant, id)).await;
        gone(&context, group, removed).await
    });
    registry.mutation("iterationCadenceCreate", |input, context| async move {
        let path = input.text("groupPath")?;
        let grant = scope::group_grant_at::<ManageGroupIterations>(&context, path).await?;
        let title = input.text("title")?;
        let made = context.forge.db.write(move |tx| actions::create_cadence(tx, &grant, &title));
        cadence(made.await)
    });
    registry.mutation("iterationCadenceUpdate", |input, context| async move {
        let (id, title) = (input.gid("id", &["Iterations::Cadence"])?, input.text("title")?);
        let grant = grant_of_cadence(&context, id).await?;
        let kept =
            context.forge.db.write(move |tx| actions::rename_cadence(tx, &grant, id, &title));
        cadence(kept.await)
    });
    registry.mutation("iterationCadenceDestroy", |input, context| async move {
        let id = input.gid("id", &["Iterations::Cadence"])?;
        let grant = grant_of_cadence(&context, id).await?;
        let group = grant.group();
        let removed =
            context.forge.db.write(move |tx| actions::remove_cadence(tx, &grant, id)).await;
        gone(&context, group, removed).await
    });
}

async fn gone(context: &Context, group: NamespaceId, removed: Kept<()>) -> Answer {
    Ok(match done(removed)? {
        Ok(()) => Payload::new().field("group", groups::of_id(context, group).await?),
        Err(errors) => Payload::errors(errors),
    })
}

fn cadence(kept: Kept<Cadence>) -> Answer {
    Ok(match done(kept)? {
        Ok(kept) => Payload::new().field("iterationCadence", iterations::cadence(&kept)),
        Err(errors) => Payload::errors(errors),
    })
}

async fn grant_of_iteration(
    context: &Context,
    id: i64,
) -> Result<Grant<ManageGroupIterations>, Failure> {
    let found = context.forge.db.read(move |tx| Ok(tx.iterations_in_order(&[id])?.pop())).await;
    let found = found.map_err(failure_of)?.ok_or(Failure::NotFoundOrForbidden)?;
    scope::group_grant_in(context, found.namespace_id).await
}

async fn grant_of_cadence(
    context: &Context,
    id: i64,
) -> Result<Grant<ManageGroupIterations>, Failure> {
    let found = context.forge.db.read(move |tx| tx.cadence(id)).await.map_err(failure_of)?;
    let found = found.ok_or(Failure::NotFoundOrForbidden)?;
    scope::group_grant_in(context, found.namespace_id).await
}

async fn answer(context: &Context, kept: Kept<Iteration>) -> Answer {
    let urls = context.forge.urls.clone();
    Ok(match done(kept)? {
        Ok(kept) => {
            let shown =
                context.forge.db.read(move |tx| IterationEntity::all(tx, &urls, vec![kept])).await;
            let shown: Value = shown.map_err(failure_of)?.pop().map(iteration).into();
            Payload::new().field("iteration", shown)
        }
        Err(errors) => Payload::errors(errors),
    })
}

/// A day; nothing where none is given.
fn day(input: &Arguments, name: &str) -> Result<Option<Ts>, Vec<String>> {
    let Some(text) = input.maybe_text(name).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let date = text.get(..10).unwrap_or(&text);
    match kernel::time::parse_date(date) {
        Ok(date) => Ok(Some(Ts::from_date(date))),
        Err(_) => Err(vec![format!("{name} is invalid")]),
    }
}

/// The group that the input names, or that the project it names is in.
async fn group(
    context: &Context,
    input: &Arguments,
) -> Result<Grant<ManageGroupIterations>, Failure> {
    match (input.maybe_text("groupPath"), input.maybe_text("projectPath")) {
        (Some(path), None) => scope::group_grant_at(context, path).await,
        (None, Some(path)) => {
            let actor = context.actor();
            let found = context.forge.db.read(move |tx| {
                let (project, _) = locate_project(tx, actor, &IdOrPath::Path(path))?;
                let above = forge::ports::review::OrgHierarchy;
                let groups = above.above(tx, Home::Project(project.0.id))?;
                groups.first().copied().ok_or_else(Error::missing)
            });
            scope::group_grant_in(context, found.await.map_err(failure_of)?).await
        }
        _ => Err(Failure::one_of(&["groupPath", "projectPath"])),
    }
}

async fn create(context: &Context, input: &Arguments) -> Answer {
    let grant = group(context, input).await?;
    let days = day(input, "startDate").and_then(|start| Ok((start, day(input, "dueDate")?)));
    let (start_date, due_date) = match days {
        Ok((Some(start), Some(due))) => (start, due),
        Ok((start, due)) => {
            let missing = [("Start date", start), ("Due date", due)].into_iter();
            let missing = missing.filter(|(_, day)| day.is_none());
            return Ok(Payload::errors(
                missing.map(|(name, _)| format!("{name} can't be blank")).collect(),
            ));
        }
        Err(errors) => return Ok(Payload::errors(errors)),
    };
    let cadence = input.maybe_gid("iterationsCadenceId", &["Iterations::Cadence"])?;
    let new = NewIteration {
        title: input.maybe_text("title").filter(|title| !title.trim().is_empty()),
        description: input.maybe_text("description").filter(|text| !text.is_empty()),
        start_date,
        due_date,
    };
    let made = context.forge.db.write(move |tx| actions::create(tx, &grant, cadence, &new)).await;
    answer(context, made).await
}

async fn update(context: &Context, input: &Arguments) -> Answer {
    let path = input.text("groupPath")?;
    let grant = scope::group_grant_at::<ManageGroupIterations>(context, path).await?;
    let text = input.text("id")?;
    let id = match text.parse::<i64>() {
        Ok(number) => number,
        Err(_) => graphql::number_of(&text, &["Iteration"])?,
    };
    let days = day(input, "startDate").and_then(|start| Ok((start, day(input, "dueDate")?)));
    let (start, due) = match days {
        Ok(days) => days,
        Err(errors) => return Ok(Payload::errors(errors)),
    };
    let title = input.has("title").then(|| input.maybe_text("title"));
    let description = input.has("description").then(|| input.maybe_text("description"));
    let kept = context.forge.db.write(move |tx| {
        actions::update(tx, &grant, id, |old| NewIteration {
            title: title.unwrap_or_else(|| old.title.clone()),
            description: description.unwrap_or_else(|| old.description.clone()),
            start_date: start.unwrap_or(old.start_date),
            due_date: due.unwrap_or(old.due_date),
        })
    });
    answer(context, kept.await).await
}
