//! Time that was spent on issues and merge requests.

use std::sync::Arc;

use db::keyset::RowPosition;
use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Connection, Failure, Payload, Registry, Value};
use kernel::{
    Result as Kept, Ts,
    ids::{IssueId, MergeRequestId, UserId},
};
use org::{
    access::{IdOrPath, locate_group, locate_project},
    user::names::person_or_nobody,
};
use review::{
    item::{
        Item, ItemId, ItemKind,
        time::{
            actions,
            timelog::{self, Timelog, TimelogFilter, TimelogStore as _},
        },
    },
    policy::{ManageIssues, ManageMergeRequests},
};

use super::{
    item_filter::{last_moment, moment},
    loaders::ReviewLoaders,
    scope::{self, kind_of},
};
use crate::{
    context::Context,
    failure::{done, failure_of, visible},
    groups::GroupRecord,
    people,
    projects::{self, ProjectRecord},
    values::time,
    windowed_page::{CursorOrder, WindowedPage},
};

fn entry(one: Arc<Timelog>) -> Value {
    Value::object("Timelog", one)
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["TimelogPermissions"]);
    registry.query().lookup("timelogs", |_, arguments, context| async move {
        let mut filter = filter(&arguments)?;
        if !place(&context, &arguments, &mut filter).await? {
            return Ok(empty());
        }
        listed(&context, filter, &arguments).await
    });
    registry.object::<ProjectRecord>("Project").lookup(
        "timelogs",
        |project: Arc<ProjectRecord>, arguments, context| async move {
            let filter = TimelogFilter { project: Some(project.id()), ..filter(&arguments)? };
            listed(&context, filter, &arguments).await
        },
    );
    registry.object::<GroupRecord>("Group").lookup(
        "timelogs",
        |group: Arc<GroupRecord>, arguments, context| async move {
            let path = group.facts.full_path.clone();
            let filter = TimelogFilter { group: Some(path), ..filter(&arguments)? };
            listed(&context, filter, &arguments).await
        },
    );
    registry
        .object::<Timelog>("Timelog")
        .plain("id", |one| Value::gid("Timelog", one.id))
        .plain("spentAt", |one| time(one.spent_at))
        .plain("summary", |one| one.summary.as_deref().into())
        .plain("timeSpent", |one| one.time_spent.into())
        .none(&["note"])
        .lookup("user", |one, _, context| async move { people::of_id(&context, one.user_id).await })
        .lookup("project", |one, _, context| async move {
            projects::of_id(&context, one.project_id).await
        })
        .lookup("issue", |one, _, context| async move {
            match one.item_kind {
                ItemKind::Issue => {
                    super::item_values::issue_of_id(&context, IssueId(one.item_id)).await
                }
                _ => Ok(Value::Null),
            }
        })
        .lookup("mergeRequest", |one, _, context| async move {
            match one.item_kind {
                ItemKind::MergeRequest => {
                    super::item_values::merge_request_of_id(&context, MergeRequestId(one.item_id))
                        .await
                }
                _ => Ok(Value::Null),
            }
        })
        .lookup("userPermissions", |one, _, context| async move {
            let who = ReviewLoaders::of(&context).standings.load(one.project_id).await?;
            let may = who.is_some_and(|who| who.signed_in() && one.may_remove(&who));
            Ok(Value::fields("TimelogPermissions", [("adminTimelog", may.into())]))
        });
    register_mutations(registry);
}

/// A page of the entries of an item, oldest first.
///
/// # Errors
/// When the database failed.
pub async fn of_item(
    context: &Context,
    item: ItemId,
    page: &graphql::Page,
) -> Result<Value, Failure> {
    let found = ReviewLoaders::of(context).timelogs.load(item).await?.unwrap_or_default();
    let total: i64 = found.iter().map(|one| one.time_spent).sum();
    let values = found.iter().cloned().map(entry).collect();
    Ok(Connection::of_list(page, values).field("totalSpentTime", total).into())
}

/// The entries of a user that the caller may read.
///
/// # Errors
/// For arguments that exclude each other.
pub async fn of_user(
    context: &Context,
    user: UserId,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let mut filter = TimelogFilter { user: Some(user), ..filter(arguments)? };
    if !place(context, arguments, &mut filter).await? {
        return Ok(empty());
    }
    listed(context, filter, arguments).await
}

fn empty() -> Value {
    Connection::empty().field("totalSpentTime", 0_i64).into()
}

/// Fills in the project or group that is asked for; `false` where the caller sees none.
async fn place(
    context: &Context,
    arguments: &Arguments,
    filter: &mut TimelogFilter,
) -> Result<bool, Failure> {
    let actor = context.actor();
    if let Some(id) = arguments.maybe_gid("projectId", &["Project"])? {
        let located = context.forge.db.read(move |tx| locate_project(tx, actor, &IdOrPath::Id(id)));
        let Some((project, _)) = visible(located.await)? else { return Ok(false) };
        filter.project = Some(project.0.id);
    }
    if let Some(id) = arguments.maybe_gid("groupId", &["Group"])? {
        let located = context.forge.db.read(move |tx| locate_group(tx, actor, &IdOrPath::Id(id)));
        let Some((group, _)) = visible(located.await)? else { return Ok(false) };
        filter.group = Some(group.0.full_path.clone());
    }
    Ok(true)
}

const BOTH_STARTS: &str = "Provide either a start date or time, but not both";
const BOTH_ENDS: &str = "Provide either an end date or time, but not both";
const BACKWARDS: &str = "Start argument must be before End argument";

fn filter(arguments: &Arguments) -> Result<TimelogFilter, Failure> {
    let (start, from) = (moment(arguments, "startTime")?, moment(arguments, "startDate")?);
    let (end, until) = (last_moment(arguments, "endTime")?, moment(arguments, "endDate")?);
    if start.is_some() && from.is_some() {
        return Err(Failure::message(BOTH_STARTS));
    }
    if end.is_some() && until.is_some() {
        return Err(Failure::message(BOTH_ENDS));
    }
    let day = |at: Ts| Ts::from_date(at.date());
    let last = |at: Ts| day(at).plus(::time::Duration::DAY - ::time::Duration::MICROSECOND);
    let spent_after = start.or(from.map(day));
    let spent_before = end.or(until.map(last));
    if spent_after.zip(spent_before).is_some_and(|(after, before)| after > before) {
        return Err(Failure::message(BACKWARDS));
    }
    Ok(TimelogFilter { spent_after, spent_before, ..TimelogFilter::default() })
}

async fn listed(
    context: &Context,
    filter: TimelogFilter,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let (page, actor) = (WindowedPage::new(arguments.page()?, CursorOrder::Id)?, context.actor());
    let (name, asked, counts) =
        (arguments.maybe_text("username"), page.clone(), arguments.counts());
    let sums = arguments.selects("totalSpentTime");
    let found = context.forge.db.read(move |tx| {
        let user = name.as_deref().map(|name| person_or_nobody(tx, name)).transpose()?;
        let filter = TimelogFilter { user: user.or(filter.user), ..filter };
        let rows = asked.read(counts, |window, part| {
            timelog::list(tx, &OrgHierarchy, actor, &filter, window, part)
        })?;
        let total = match sums {
            true => timelog::total(tx, &OrgHierarchy, actor, &filter)?,
            false => 0,
        };
        Ok((rows, total))
    });
    let (rows, total) = found.await.map_err(failure_of)?;
    let position = |one: &Timelog| RowPosition::of_id(one.id);
    let connection = page.connection(rows, position, |one| entry(Arc::new(one)));
    Ok(connection.field("totalSpentTime", total).into())
}

fn register_mutations(registry: &mut Registry<Context>) {
    registry.mutation("timelogCreate", |input, context| async move {
        context.signed_in()?;
        let (class, id) = input.any_gid("issuableId")?;
        let kind = kind_of(&class).ok_or(Failure::NotFoundOrForbidden)?;
        let id = id.parse().map_err(|_cause| Failure::NotFoundOrForbidden)?;
        let (item, _) = scope::readable_item(&context, ItemId { kind, id }).await?;
        let at = moment(&input, "spentAt")?;
        let (duration, summary) = (input.text("timeSpent")?, input.maybe_text("summary"));
        match done(create(&context, &item, duration, (at, summary)).await?)? {
            Ok(made) => Ok(Payload::new().field("timelog", entry(Arc::new(made)))),
            Err(errors) => Ok(Payload::errors(errors)),
        }
    });
    registry.mutation("timelogDelete", |input, context| async move {
        context.signed_in()?;
        let id = input.gid("id", &["Timelog"])?;
        let found =
            context.forge.db.read(move |tx| tx.find_timelog(id)).await.map_err(failure_of)?;
        let found = found.ok_or(Failure::NotFoundOrForbidden)?;
        let (item, who) = scope::readable_item(&context, found.item()).await?;
        let gone = found.clone();
        let removed = context.forge.db.write(move |tx| timelog::remove(tx, &who, &item, &found));
        match done(removed.await)? {
            Ok(()) => Ok(Payload::new().field("timelog", entry(Arc::new(gone)))),
            Err(errors) => Ok(Payload::errors(errors)),
        }
    });
}

async fn create(
    context: &Context,
    item: &Item,
    duration: String,
    when: (Option<Ts>, Option<String>),
) -> Result<Kept<Timelog>, Failure> {
    let project = item.project().ok_or(Failure::NotFoundOrForbidden)?;
    let iid = item.iid;
    Ok(match item.id.kind {
        ItemKind::Issue => {
            let grant = scope::grant_in::<ManageIssues>(context, project).await?;
            let made = move |tx: &mut db::Tx<'_>| actions::log(tx, &grant, iid, &duration, when);
            context.forge.db.write(made).await
        }
        ItemKind::MergeRequest => {
            let grant = scope::grant_in::<ManageMergeRequests>(context, project).await?;
            let made = move |tx: &mut db::Tx<'_>| actions::log(tx, &grant, iid, &duration, when);
            context.forge.db.write(made).await
        }
        ItemKind::Epic => return Err(Failure::NotFoundOrForbidden),
    })
}
