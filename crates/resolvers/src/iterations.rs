//! Iterations of groups, and those that projects can use.

use std::{collections::HashMap, sync::Arc};

use db::Tx;
use entities::review::iteration::IterationEntity;
use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Connection, Failure, Registry, Value, number_of};
use kernel::{Actor, Grant, Result, ids::NamespaceId};
use review::{
    Home,
    iteration::{
        Cadence, Iteration, IterationState, IterationStore as _,
        list::{IterationFilter, Search, list as iterations},
    },
    policy::{ReadGroupIterations, ReadIssues},
    ports::GroupHierarchy as _,
};

use super::{
    context::Context,
    failure::{failure_of, visible},
    groups,
    join::try_join_all,
    loaders::BatchLoader,
    milestones::{day, timeframe},
    numbered_list::NumberedList,
    values::{markdown, path_of, time},
};

/// Loads iterations that the caller sees.
struct IterationLoader(BatchLoader<i64, Arc<IterationEntity>>);

impl IterationLoader {
    fn of(context: &Context) -> Arc<Self> {
        let (urls, actor) = (context.forge.urls.clone(), context.actor());
        context.loaders.of(|db| {
            Self(BatchLoader::new(db, move |tx, ids| {
                let found: HashMap<i64, IterationEntity> =
                    IterationEntity::of(tx, &urls, actor, ids)?;
                Ok(found.into_iter().map(|(id, found)| (id, Arc::new(found))).collect())
            }))
        })
    }
}

pub fn iteration(iteration: IterationEntity) -> Value {
    Value::object("Iteration", Arc::new(iteration))
}

/// An iteration by id, where the caller sees it.
///
/// # Errors
/// When the database failed.
pub async fn record_of(
    context: &Context,
    id: i64,
) -> Result<Option<Arc<IterationEntity>>, Failure> {
    IterationLoader::of(context).0.load(id).await
}

/// An iteration by id; null where the caller does not see it.
///
/// # Errors
/// When the database failed.
pub async fn of_id(context: &Context, id: i64) -> Result<Value, Failure> {
    let found = record_of(context, id).await?;
    Ok(found.map_or(Value::Null, |found| Value::object("Iteration", found)))
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["IterationCadence"]);
    registry.query().lookup("iteration", |_, arguments, context| async move {
        of_id(&context, arguments.gid("id", &["Iteration"])?).await
    });
    registry
        .object::<IterationEntity>("Iteration")
        .plain("createdAt", |iteration| time(iteration.created_at))
        .plain("description", |iteration| iteration.description.clone().into())
        .plain("dueDate", |iteration| day(Some(&iteration.due_date)))
        .plain("id", |iteration| Value::gid("Iteration", iteration.id))
        .plain("iid", |iteration| iteration.iid.to_string().into())
        .plain("sequence", |iteration| iteration.sequence.into())
        .plain("startDate", |iteration| day(Some(&iteration.start_date)))
        .plain("state", |iteration| {
            match iteration.state {
                1 => "upcoming",
                2 => "current",
                _ => "closed",
            }
            .into()
        })
        .plain("title", |iteration| iteration.title.clone().into())
        .plain("updatedAt", |iteration| time(iteration.updated_at))
        .plain("webUrl", |iteration| iteration.web_url.as_str().into())
        .lookup("descriptionHtml", |iteration: Arc<IterationEntity>, _, context| async move {
            markdown(&context.forge, iteration.description.as_deref(), None).await
        })
        .lookup("group", |iteration, _, context| async move {
            groups::of_id(&context, NamespaceId(iteration.group_id)).await
        })
        .lookup("webPath", |iteration, _, context| async move {
            Ok(path_of(&context.forge.urls, &iteration.web_url).into())
        })
        .lookup("iterationCadence", |iteration, _, context| async move {
            let loader = context.loaders.of(|db| CadenceLoader(BatchLoader::new(db, cadences)));
            let found = loader.0.load(iteration.id).await?;
            Ok(found.map(|found| cadence(&found)).into())
        })
        .none(&["report"]);
}

/// Loads the cadences of iterations, by the ids of the iterations.
struct CadenceLoader(BatchLoader<i64, Arc<Cadence>>);

fn cadences(tx: &mut Tx<'_>, ids: &[i64]) -> Result<HashMap<i64, Arc<Cadence>>> {
    let iterations = tx.iterations_in_order(ids)?;
    let mut groups: Vec<NamespaceId> =
        iterations.iter().map(|iteration| iteration.namespace_id).collect();
    groups.sort_unstable();
    groups.dedup();
    let found = tx.cadences_of(&groups)?.into_iter();
    let found: HashMap<i64, Arc<Cadence>> =
        found.map(|cadence| (cadence.id, Arc::new(cadence))).collect();
    let of =
        |iteration: &Iteration| Some((iteration.id, found.get(&iteration.cadence_id)?.clone()));
    Ok(iterations.iter().filter_map(of).collect())
}

/// A cadence. Its iterations follow each other as people make them: none is made by itself.
pub fn cadence(cadence: &Cadence) -> Value {
    Value::fields(
        "IterationCadence",
        [
            ("active", true.into()),
            ("automatic", false.into()),
            ("description", Value::Null),
            ("durationInWeeks", Value::Null),
            ("id", Value::gid("Iterations::Cadence", cadence.id)),
            ("iterationsInAdvance", Value::Null),
            ("rollOver", false.into()),
            ("startDate", Value::Null),
            ("title", cadence.title.as_str().into()),
        ],
    )
}

/// The cadences of a group, or of the group of a project, and with ancestors of the groups above.
///
/// # Errors
/// When the database failed.
pub(super) async fn cadences_of(
    context: &Context,
    home: Home,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let id = arguments.maybe_gid("id", &["Iterations::Cadence"])?;
    let title = arguments.maybe_text("title").map(|title| title.to_lowercase());
    let ancestors = arguments.flag("includeAncestorGroups");
    let above = context.forge.db.read(move |tx| OrgHierarchy.above(tx, home)).await;
    let line = home.group().into_iter().chain(above.map_err(failure_of)?);
    let line: Vec<NamespaceId> = line.take(if ancestors { usize::MAX } else { 1 }).collect();
    let seen = try_join_all(line.iter().map(|id| groups::record_of(context, *id))).await?;
    let readable = seen.into_iter().flatten();
    let readable = readable.filter(|group| group.grant::<ReadGroupIterations>().is_ok());
    let readable: Vec<NamespaceId> = readable.map(|group| group.id()).collect();
    let found = context.forge.db.read(move |tx| tx.cadences_of(&readable)).await;
    // Cadences never end, and have no fixed length.
    let none = arguments.maybe_bool("active") == Some(false) || arguments.has("durationInWeeks");
    let wanted = |cadence: &&Cadence| {
        !none
            && id.is_none_or(|id| cadence.id == id)
            && title.as_ref().is_none_or(|title| cadence.title.to_lowercase().contains(title))
    };
    let found = found.map_err(failure_of)?;
    Ok(Connection::of_list(&page, found.iter().filter(wanted).map(cadence).collect()).into())
}

/// Iterations of a group.
///
/// # Errors
/// When the database failed.
pub(super) async fn of_group(
    context: &Context,
    grant: Result<Grant<ReadGroupIterations>>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let Some(grant) = visible(grant)? else { return Ok(Value::Null) };
    list(context, grant.actor(), Home::Group(grant.group()), arguments).await
}

/// Iterations that a project can use.
///
/// # Errors
/// When the database failed.
pub(super) async fn of_project(
    context: &Context,
    grant: Result<Grant<ReadIssues>>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let Some(grant) = visible(grant)? else { return Ok(Value::Null) };
    list(context, grant.actor(), Home::Project(grant.project()), arguments).await
}

async fn list(
    context: &Context,
    actor: Actor,
    home: Home,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let wanted = filter(arguments)?;
    let ancestors = arguments.flag("includeAncestors");
    let (window, urls) = (page.clone(), context.forge.urls.clone());
    let found = context.forge.db.read(move |tx| {
        let mut groups: Vec<NamespaceId> = home.group().into_iter().collect();
        let above = OrgHierarchy.above(tx, home)?;
        // A project without ancestors still has its own group.
        let nearest = if home.group().is_none() { 1 } else { 0 };
        groups.extend(above.iter().take(if ancestors { above.len() } else { nearest }));
        let filter = IterationFilter { groups, ..wanted };
        let found = NumberedList::read(&window, |request| {
            iterations(tx, &OrgHierarchy, actor, &filter, request)
        })?;
        found.try_map_all(|rows| IterationEntity::all(tx, &urls, rows))
    });
    Ok(found.await.map_err(failure_of)?.connection(&page, iteration).into())
}

fn filter(arguments: &Arguments) -> Result<IterationFilter, Failure> {
    let id = match arguments.maybe_text("id") {
        Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        Some(text) => Some(number_of(&text, &["Iteration"])?),
        None => None,
    };
    let search = arguments.maybe_text("search").or_else(|| arguments.maybe_text("title"));
    Ok(IterationFilter {
        states: match arguments.maybe_enum("state").as_deref() {
            Some("upcoming") => Some(vec![IterationState::Upcoming]),
            Some("current") => Some(vec![IterationState::Current]),
            Some("opened") => Some(vec![IterationState::Upcoming, IterationState::Current]),
            Some("closed") => Some(vec![IterationState::Closed]),
            _ => None,
        },
        search: search.filter(|text| !text.is_empty()).map(|text| Search {
            text,
            in_title: true,
            in_cadence_title: false,
        }),
        id,
        iid: arguments.maybe_int("iid"),
        timeframe: timeframe(arguments)?,
        ..IterationFilter::default()
    })
}
