//! Milestones of projects and groups.

use std::sync::Arc;

use db::{Tx, keyset::RowPosition};
use entities::review::milestone::MilestoneEntity;
use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Failure, Registry, Value};
use kernel::{
    Actor, Grant, Result, Ts,
    ids::{MilestoneId, NamespaceId, ProjectId},
};
use org::hierarchy;
use review::{
    Home, Milestones, ReadGrant,
    milestone::{
        Milestone, MilestoneFilter, MilestoneOrder, MilestoneState, MilestoneStore as _,
        counts::{IssueCounts, issue_counts},
    },
    policy::{ReadGroupMilestones, ReadMilestones},
    ports::GroupHierarchy as _,
};

use super::{
    context::Context,
    failure::{failure_of, visible},
    groups,
    loaders::BatchLoader,
    numbered_list::NumberedList,
    projects, releases,
    values::{ids, path_of, time},
    windowed_page::{CursorOrder, WindowedPage},
};

/// Loaders of milestones.
struct MilestoneLoaders {
    /// Whether the caller may see them is not asked.
    records: BatchLoader<MilestoneId, Arc<MilestoneEntity>>,
    counts: BatchLoader<MilestoneId, IssueCounts>,
}

impl MilestoneLoaders {
    fn of(context: &Context) -> Arc<Self> {
        let (urls, actor) = (context.forge.urls.clone(), context.actor());
        context.loaders.of(|db| Self {
            records: BatchLoader::new(db, move |tx, ids| {
                let found = tx.milestones_by_id(ids)?;
                let found = MilestoneEntity::all(tx, &urls, found)?.into_iter();
                Ok(found.map(|found| (MilestoneId(found.id), Arc::new(found))).collect())
            }),
            counts: BatchLoader::new(db, move |tx, ids| {
                issue_counts(tx, &OrgHierarchy, actor, ids)
            }),
        })
    }
}

pub fn milestone(milestone: MilestoneEntity) -> Value {
    Value::object("Milestone", Arc::new(milestone))
}

/// The milestone of something that the caller may read: whoever may is shown its milestone.
///
/// # Errors
/// When the database failed.
pub async fn of_id(context: &Context, id: MilestoneId) -> Result<Value, Failure> {
    let found = MilestoneLoaders::of(context).records.load(id).await?;
    Ok(found.map_or(Value::Null, |found| Value::object("Milestone", found)))
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["MilestoneStats", "TimeReportStats", "TimeboxMetrics", "TimeboxReport"]);
    registry.query().lookup("milestone", |_, arguments, context| async move {
        one(&context, MilestoneId(arguments.gid("id", &["Milestone"])?)).await
    });
    registry
        .object::<MilestoneEntity>("Milestone")
        .plain("createdAt", |milestone| time(milestone.created_at))
        .plain("description", |milestone| milestone.description.clone().into())
        .plain("dueDate", |milestone| day(milestone.due_date.as_deref()))
        .plain("expired", |milestone| milestone.expired.into())
        .plain("groupMilestone", |milestone| milestone.group_id.is_some().into())
        .plain("id", |milestone| Value::gid("Milestone", milestone.id))
        .plain("iid", |milestone| milestone.iid.to_string().into())
        .plain("projectMilestone", |milestone| milestone.project_id.is_some().into())
        .plain("startDate", |milestone| day(milestone.start_date.as_deref()))
        .plain("state", |milestone| milestone.state.to_string().into())
        .plain("title", |milestone| milestone.title.as_str().into())
        .plain("updatedAt", |milestone| time(milestone.updated_at))
        .lookup("group", |milestone: Arc<MilestoneEntity>, _, context| async move {
            match milestone.group_id {
                Some(id) => groups::of_id(&context, NamespaceId(id)).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("project", |milestone, _, context| async move {
            match milestone.project_id {
                Some(id) => projects::of_id(&context, ProjectId(id)).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("stats", |milestone, _, context| async move {
            let loaders = MilestoneLoaders::of(&context);
            let counts = loaders.counts.load(MilestoneId(milestone.id)).await?.unwrap_or_default();
            Ok(Value::fields(
                "MilestoneStats",
                [
                    ("closedIssuesCount", counts.closed.into()),
                    ("totalIssuesCount", counts.total.into()),
                ],
            ))
        })
        .lookup("subgroupMilestone", |milestone, _, context| async move {
            let Some(id) = milestone.group_id else { return Ok(false.into()) };
            let group = context.loaders.namespaces.load(NamespaceId(id)).await?;
            Ok(group.is_some_and(|group| group.parent_id.is_some()).into())
        })
        .lookup("webPath", |milestone, _, context| async move {
            Ok(path_of(&context.forge.urls, &milestone.web_url).into())
        })
        .lookup("releases", |milestone, arguments, context| async move {
            releases::of_milestone(&context, MilestoneId(milestone.id), &arguments).await
        })
        .none(&["report"]);
}

/// A day as the moment at which it begins.
pub(super) fn day(text: Option<&str>) -> Value {
    text.and_then(Ts::parse).map_or(Value::Null, time)
}

/// A milestone, where the caller may read those of its project or group.
async fn one(context: &Context, id: MilestoneId) -> Result<Value, Failure> {
    let Some(found) = MilestoneLoaders::of(context).records.load(id).await? else {
        return Ok(Value::Null);
    };
    let readable = match (found.project_id, found.group_id) {
        (Some(project), _) => projects::record_of(context, ProjectId(project))
            .await?
            .is_some_and(|project| project.may::<ReadMilestones>()),
        (None, Some(group)) => groups::record_of(context, NamespaceId(group))
            .await?
            .is_some_and(|group| group.grant::<ReadGroupMilestones>().is_ok()),
        (None, None) => false,
    };
    Ok(if readable { Value::object("Milestone", found) } else { Value::Null })
}

/// Milestones of a project.
///
/// # Errors
/// When the database failed.
pub(super) async fn of_project(
    context: &Context,
    grant: Result<Grant<ReadMilestones>>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    list(context, grant, arguments).await
}

/// Milestones of a group.
///
/// # Errors
/// When the database failed.
pub(super) async fn of_group(
    context: &Context,
    grant: Result<Grant<ReadGroupMilestones>>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    list(context, grant, arguments).await
}

async fn list(
    context: &Context,
    grant: Result<impl ReadGrant<Milestones> + Clone + Send + 'static>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let Some(grant) = visible(grant)? else { return Ok(Value::Null) };
    let wanted = filter(arguments)?;
    let (ancestors, descendants) =
        (arguments.flag("includeAncestors"), arguments.flag("includeDescendants"));
    let (page, urls, order) = (arguments.page()?, context.forge.urls.clone(), wanted.order);
    let Some(cursors) = cursor_order(order) else {
        let window = page.clone();
        let found = context.forge.db.read(move |tx| {
            let places = places(tx, grant.actor(), grant.home(), ancestors, descendants)?;
            let (projects, groups) = (places.projects, places.groups);
            let filter = MilestoneFilter { projects, groups, ..wanted };
            let found = NumberedList::read(&window, |request| tx.milestones(&filter, request))?;
            found.try_map_all(|rows: Vec<Milestone>| MilestoneEntity::all(tx, &urls, rows))
        });
        return Ok(found.await.map_err(failure_of)?.connection(&page, milestone).into());
    };
    let page = WindowedPage::new(page, cursors)?.forwards();
    let (asked, counts) = (page.clone(), arguments.counts());
    let found = context.forge.db.read(move |tx| {
        let places = places(tx, grant.actor(), grant.home(), ancestors, descendants)?;
        let filter = MilestoneFilter { projects: places.projects, groups: places.groups, ..wanted };
        let found = asked.read(counts, |window, part| tx.milestones_in(&filter, window, part))?;
        found.try_map_all(|rows: Vec<Milestone>| {
            let places: Vec<_> = rows.iter().map(|row| order.position(row)).collect();
            let shown = MilestoneEntity::all(tx, &urls, rows)?;
            Ok(places.into_iter().zip(shown).collect::<Vec<_>>())
        })
    });
    let found = found.await.map_err(failure_of)?;
    let position = |(position, shown): &(Option<RowPosition>, MilestoneEntity)| {
        position.clone().unwrap_or_else(|| RowPosition::of_id(shown.id))
    };
    Ok(page.connection(found, position, |(_, shown)| milestone(shown)).into())
}

/// What orders milestones, as cursors tell it; nothing for lists that are paged by numbers.
fn cursor_order(order: MilestoneOrder) -> Option<CursorOrder> {
    match order {
        MilestoneOrder::NewestFirst => Some(CursorOrder::Id),
        MilestoneOrder::CreatedAt { .. } => Some(CursorOrder::Number("created_at")),
        MilestoneOrder::UpdatedAt { .. } => Some(CursorOrder::Number("updated_at")),
        MilestoneOrder::DueDate { .. } => Some(CursorOrder::Number("due_date")),
        MilestoneOrder::ExpiredLast { .. } => None,
    }
}

/// The project or group, the groups above it, and with descendants all groups and projects inside that the caller sees.
fn places(
    tx: &mut Tx<'_>,
    actor: Actor,
    home: Home,
    ancestors: bool,
    descendants: bool,
) -> Result<MilestoneFilter> {
    let mut places = MilestoneFilter::of(home);
    if ancestors {
        places.groups.extend(OrgHierarchy.above(tx, home)?);
    }
    if let Some(group) = home.group().filter(|_| descendants) {
        let mut inside = hierarchy::below_group(tx, actor, group)?;
        places.groups.extend(&inside);
        inside.push(group);
        places.projects.extend(hierarchy::projects_in(tx, actor, &inside)?);
    }
    Ok(places)
}

fn filter(arguments: &Arguments) -> Result<MilestoneFilter, Failure> {
    let sort = arguments.maybe_enum("sort").unwrap_or_default().to_uppercase();
    let descending = sort.ends_with("_DESC");
    let ids = ids(arguments, "ids", &["Milestone"])?;
    Ok(MilestoneFilter {
        // Nobody's id, where an empty list asks for none.
        ids: match ids {
            Some(ids) if ids.is_empty() => vec![MilestoneId(0)],
            ids => ids.unwrap_or_default().into_iter().map(MilestoneId).collect(),
        },
        state: arguments.maybe_enum("state").map(|state| match state.as_str() {
            "closed" => MilestoneState::Closed,
            _ => MilestoneState::Active,
        }),
        title: arguments.maybe_text("title"),
        title_part: arguments.maybe_text("searchTitle"),
        timeframe: timeframe(arguments)?,
        order: match sort.rsplit_once('_').map(|(field, _)| field) {
            Some("EXPIRED_LAST_DUE_DATE") => MilestoneOrder::ExpiredLast { descending },
            Some("CREATED") => MilestoneOrder::CreatedAt { descending },
            Some("UPDATED") => MilestoneOrder::UpdatedAt { descending },
            _ => MilestoneOrder::DueDate { descending },
        },
        ..MilestoneFilter::default()
    })
}

const TWO_SPANS: &str =
    "Provide either `containingDate`, or `timeframe`, or `startDate` and `endDate`";

/// The span of days that milestones or iterations are asked for by.
pub(super) fn timeframe(arguments: &Arguments) -> Result<Option<(Ts, Ts)>, Failure> {
    let moment = |arguments: &Arguments, name: &str| {
        let text = arguments.maybe_text(name);
        text.map(|text| {
            let at = Ts::parse(&text).map(|at| Ts::from_date(at.date()));
            at.ok_or_else(|| Failure::Message(format!("`{name}` is no date")))
        })
        .transpose()
    };
    let containing = moment(arguments, "containingDate")?.map(|day| (day, day));
    let older = (moment(arguments, "startDate")?, moment(arguments, "endDate")?);
    let older = match older {
        (Some(start), Some(end)) => Some((start, end)),
        (None, None) => None,
        _ => return Err(Failure::message("Both startDate and endDate must be present.")),
    };
    let framed = match arguments.object("timeframe") {
        Some(frame) => moment(&frame, "start")?.zip(moment(&frame, "end")?),
        None => None,
    };
    let mut spans = [containing, older, framed].into_iter().flatten();
    let span = spans.next();
    if spans.next().is_some() {
        return Err(Failure::message(TWO_SPANS));
    }
    match span {
        Some((start, end)) if start > end => Err(Failure::message("startDate is after endDate")),
        span => Ok(span),
    }
}
