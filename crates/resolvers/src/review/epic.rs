//! Epics.

use std::{collections::HashMap, sync::Arc};

use db::Tx;
use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Connection, Failure, Fields, Registry, Value};
use kernel::{Ability as _, AccessLevel, Actor, Result, Standing, page::PageRequest};
use org::user::names::person;
use review::{
    emoji::AwardTarget,
    epic::{
        EpicStore as _,
        list::{EpicFilter, HierarchyScope, counts as epic_counts, list, list_in},
        readable, readable_content,
    },
    issue::IssueState,
    item::list::{Direction, Fields as SearchFields, Order, Search, Sorting},
    policy::{DeleteGroupEpics, DiscussEpics, ManageGroupEpics, ReadEpicNotes, ReadGroupEpics},
};

use super::{
    epic_issues,
    issue::EpicIssueRecord,
    item_filter::{ensure_short, iids, labels, last_moment, moment, named},
    item_pages::ItemPage,
    items,
    loaders::ReviewLoaders,
    records::IssueRecord,
};
pub use super::{
    item_values::{epic, epic_of_id as of_id},
    records::EpicRecord,
};
use crate::{
    context::Context,
    failure::{failure_of, visible},
    groups::{self, GroupRecord},
    loaders::BatchLoader,
    milestones::day,
    people,
    values::{markdown, maybe_time, path_of, time},
};

/// Loaders of epic children and issues.
struct EpicLoaders {
    /// Epics that the caller may read, as people ordered them.
    children: BatchLoader<i64, Arc<Vec<i64>>>,
    /// Whether there are child epics, and whether there are issues, that the caller may read.
    holds: BatchLoader<i64, (bool, bool)>,
}

impl EpicLoaders {
    fn of(context: &Context) -> Arc<Self> {
        let actor = context.actor();
        context.loaders.of(|db| Self {
            children: BatchLoader::new(db, move |tx, parents| children(tx, actor, parents)),
            holds: BatchLoader::new(db, move |tx, ids: &[i64]| {
                let content = readable_content(tx, &OrgHierarchy, actor, ids)?;
                let (epics, issues) = (&content.with_epics, &content.with_issues);
                let held = |id: &i64| (*id, (epics.contains(id), issues.contains(id)));
                Ok(ids.iter().map(held).collect())
            }),
        })
    }
}

fn children(tx: &mut Tx<'_>, actor: Actor, parents: &[i64]) -> Result<HashMap<i64, Arc<Vec<i64>>>> {
    let inside = tx.epics_inside(parents)?;
    let ids: Vec<i64> = inside.iter().map(|child| child.id).collect();
    let seen = readable(tx, &OrgHierarchy, actor, &ids)?;
    let mut all: HashMap<i64, Vec<i64>> = HashMap::new();
    for child in inside.iter().filter(|child| seen.iter().any(|one| one.id == child.id)) {
        if let Some(parent) = child.parent_id {
            all.entry(parent).or_default().push(child.id);
        }
    }
    Ok(all.into_iter().map(|(parent, ids)| (parent, Arc::new(ids))).collect())
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["EpicPermissions"]);
    registry
        .object::<GroupRecord>("Group")
        .lookup("epic", |group: Arc<GroupRecord>, arguments, context| async move {
            if iids(&arguments).is_none() {
                return Ok(Value::Null);
            }
            let own = EpicFilter { iids: iids(&arguments), ..EpicFilter::default() };
            first(&context, &group, own).await
        })
        .lookup("epics", |group: Arc<GroupRecord>, arguments, context| async move {
            listed(&context, &group, &arguments).await
        });
    add_fields(registry.object("Epic"));
}

pub(crate) type EpicFields<'r> = Fields<'r, Context, EpicRecord>;

/// The fields of epics, wherever they are shown.
pub(crate) fn add_fields(fields: EpicFields<'_>) -> EpicFields<'_> {
    item_fields(tree_fields(plain_fields(fields)))
}

fn plain_fields(fields: EpicFields<'_>) -> EpicFields<'_> {
    fields
        .plain("id", |one| Value::gid("Epic", one.row.id))
        .plain("iid", |one| one.row.iid.to_string().into())
        .plain("title", |one| one.row.title.as_str().into())
        .plain("titleHtml", |one| markup::inline(&one.row.title).into())
        .plain("description", |one| one.row.description.as_deref().into())
        .lookup("descriptionHtml", |one, _, context| async move {
            markdown(&context.forge, one.row.description.as_deref(), None).await
        })
        .plain("state", |one| one.row.state.to_string().into())
        .plain("confidential", |one| one.row.confidential.into())
        .plain("color", |one| one.row.color.as_str().into())
        .plain("textColor", |one| one.shown.text_color.into())
        .plain("createdAt", |one| time(one.row.created_at))
        .plain("updatedAt", |one| time(one.row.updated_at))
        .plain("closedAt", |one| maybe_time(one.row.closed_at))
        .plain("startDate", |one| day(one.shown.start_date.as_deref()))
        .plain("startDateFixed", |one| day(one.shown.start_date_fixed.as_deref()))
        .plain("startDateFromMilestones", |one| {
            day(one.shown.start_date_from_milestones.as_deref())
        })
        .plain("startDateIsFixed", |one| one.row.start_date_is_fixed.into())
        .plain("dueDate", |one| day(one.shown.due_date.as_deref()))
        .plain("dueDateFixed", |one| day(one.shown.due_date_fixed.as_deref()))
        .plain("dueDateFromMilestones", |one| day(one.shown.due_date_from_milestones.as_deref()))
        .plain("dueDateIsFixed", |one| one.row.due_date_is_fixed.into())
        .plain("upvotes", |one| one.row.upvotes.into())
        .plain("downvotes", |one| one.row.downvotes.into())
        .plain("hasParent", |one| one.shown.parent_id.is_some().into())
        .plain("relativePosition", |one| {
            one.row.parent_position.and_then(|place| i32::try_from(place).ok()).into()
        })
        .plain("author", |one| one.shown.author.clone().map(people::user).into())
        .plain("webUrl", |one| one.shown.web_url.as_str().into())
        .lookup("webPath", |one, _, context| async move {
            Ok(path_of(&context.forge.urls, &one.shown.web_url).into())
        })
        .lookup("reference", |one, arguments, _| async move {
            let shown = &one.shown.references;
            let text = if arguments.flag("full") { &shown.full } else { &shown.short };
            Ok(text.as_str().into())
        })
}

fn tree_fields(fields: EpicFields<'_>) -> EpicFields<'_> {
    fields
        .lookup("group", |one, _, context| async move {
            groups::of_id(&context, one.row.namespace_id).await
        })
        .lookup("parent", |one, _, context| async move {
            match one.row.parent_id {
                Some(parent) => of_id(&context, parent).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("ancestors", |one, arguments, context| async move {
            let mut above = Vec::new();
            let mut next = one.row.parent_id;
            while let Some(id) = next.filter(|_| above.len() < MOST_ANCESTORS) {
                let Some(found) = ReviewLoaders::of(&context).epics.load(id).await? else { break };
                next = found.row.parent_id;
                above.push(epic(found));
            }
            Ok(Connection::of_list(&arguments.page()?, above).into())
        })
        .lookup("children", |one, arguments, context| async move {
            let ids = EpicLoaders::of(&context).children.load(one.row.id).await?;
            let loaders = ReviewLoaders::of(&context);
            let ids = ids.unwrap_or_default();
            let loads = ids.iter().map(|id| loaders.epics.load(*id));
            let mut found = Vec::new();
            for child in futures_util::future::join_all(loads).await {
                found.extend(child?.map(epic));
            }
            Ok(Connection::of_list(&arguments.page()?, found).into())
        })
        .lookup("hasChildren", |one, _, context| async move {
            let held = EpicLoaders::of(&context).holds.load(one.row.id).await?;
            Ok(held.is_some_and(|(epics, _)| epics).into())
        })
        .lookup("hasIssues", |one, _, context| async move {
            let held = EpicLoaders::of(&context).holds.load(one.row.id).await?;
            Ok(held.is_some_and(|(_, issues)| issues).into())
        })
        .lookup("issues", |one, arguments, context| async move {
            epic_issues::issues(&context, &one, &arguments).await
        })
}

/// Epics are inside of each other so deep at most.
const MOST_ANCESTORS: usize = 20;

fn item_fields(fields: EpicFields<'_>) -> EpicFields<'_> {
    fields
        .lookup("labels", |one, arguments, context| async move {
            let found = context.loaders.labels_of_epic.load(one.row.id).await?;
            items::labels(&arguments.page()?, found)
        })
        .lookup("subscribed", |one, _, context| async move {
            items::subscribed(&context, one.key()).await
        })
        .cost("subscribed", 5)
        .lookup("participants", |one, arguments, context| async move {
            items::participants(&context, one.key(), &arguments.page()?).await
        })
        .cost("participants", 5)
        .lookup("notes", |one, arguments, context| async move {
            super::notes::notes_of(&context, one.key(), &arguments.page()?).await
        })
        .lookup("discussions", |one, arguments, context| async move {
            super::notes::discussions_of(&context, one.key(), &arguments.page()?).await
        })
        .lookup("userDiscussionsCount", |one, _, context| async move {
            super::notes::count_discussions(&context, one.key()).await
        })
        .lookup("userNotesCount", |one, _, context| async move {
            super::notes::count_comments(&context, one.key()).await
        })
        .lookup("awardEmoji", |one, arguments, context| async move {
            let target = AwardTarget::from(one.key().item());
            super::awards::of(&context, target, &arguments.page()?).await
        })
        .lookup("currentUserTodos", |one, arguments, context| async move {
            super::todos::about(&context, one.key(), &arguments).await
        })
        .lookup(
            "userPermissions",
            |one, _, context| async move { permissions(&context, &one).await },
        )
}

async fn permissions(context: &Context, one: &EpicRecord) -> Result<Value, Failure> {
    let signed_in = context.actor().id.is_some();
    let who = super::notes::standing_at(context, one.key()).await?;
    let may = |ability: fn(&Standing) -> bool| who.as_ref().is_some_and(ability);
    let manages = signed_in && may(ManageGroupEpics::allows);
    let speaks = signed_in && may(DiscussEpics::allows);
    let reads = may(ReadGroupEpics::allows)
        && (!one.row.confidential || may(|who| who.is(AccessLevel::Reporter)));
    Ok(Value::fields(
        "EpicPermissions",
        [
            ("adminEpic", manages.into()),
            ("awardEmoji", speaks.into()),
            ("createEpic", manages.into()),
            ("createNote", (speaks && may(ReadEpicNotes::allows)).into()),
            ("destroyEpic", (signed_in && may(DeleteGroupEpics::allows)).into()),
            ("readEpic", reads.into()),
            ("readEpicIid", reads.into()),
            ("updateEpic", manages.into()),
        ],
    ))
}

async fn first(
    context: &Context,
    group: &GroupRecord,
    filter: EpicFilter,
) -> Result<Value, Failure> {
    let Some(grant) = visible(group.grant::<ReadGroupEpics>())? else { return Ok(Value::Null) };
    let (actor, urls) = (context.actor(), context.forge.urls.clone());
    let found = context.forge.db.read(move |tx| {
        let page = PageRequest { page: 1, per_page: 1 };
        let sorting = Sorting { by: Order::Id, direction: Direction::Descending };
        let rows = list(tx, &grant, &OrgHierarchy, &filter, sorting, page)?.items;
        EpicRecord::all(tx, &urls, actor, rows)
    });
    Ok(found.await.map_err(failure_of)?.pop().map(|one| epic(Arc::new(one))).into())
}

/// Which epics are asked for, but for the people that are named.
fn epic_filter(arguments: &Arguments, not: Option<&Arguments>) -> Result<EpicFilter, Failure> {
    for given in [Some(arguments), not].into_iter().flatten() {
        ensure_short(given, &["iids", "labelName"])?;
    }
    Ok(EpicFilter {
        around: HierarchyScope {
            ancestors: arguments.flag("includeAncestorGroups"),
            descendants: arguments.maybe_bool("includeDescendantGroups").unwrap_or(true),
        },
        iids: iids(arguments).filter(|iids| !iids.is_empty()),
        state: match arguments.maybe_enum("state").as_deref() {
            Some("opened") => Some(IssueState::Opened),
            Some("closed") => Some(IssueState::Closed),
            _ => None,
        },
        confidential: arguments.maybe_bool("confidential"),
        labels: labels(arguments, "labelName"),
        search: arguments
            .maybe_text("search")
            .map(|text| Search { text, fields: SearchFields::Both }),
        created_after: moment(arguments, "createdAfter")?,
        created_before: last_moment(arguments, "createdBefore")?,
        updated_after: moment(arguments, "updatedAfter")?,
        updated_before: last_moment(arguments, "updatedBefore")?,
        not_labels: not.map(|not| not.texts("labelName")).unwrap_or_default(),
        ..EpicFilter::default()
    })
}

async fn listed(
    context: &Context,
    group: &GroupRecord,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let Some(grant) = visible(group.grant::<ReadGroupEpics>())? else {
        return Ok(Connection::empty().into());
    };
    let not = arguments.object("not");
    let filter = epic_filter(arguments, not.as_ref())?;
    let author = arguments.maybe_text("authorUsername");
    let not_author = not.and_then(|not| not.maybe_text("authorUsername"));
    let sorting = sorting(arguments.maybe_enum("sort").as_deref().unwrap_or("CREATED_DESC"));
    let page = ItemPage::new(arguments.page()?, sorting)?;
    let (actor, urls, window) = (context.actor(), context.forge.urls.clone(), page.clone());
    let counts = arguments.counts();
    let found = context.forge.db.read(move |tx| {
        let author = named(tx, author.as_ref())?;
        let not_author = match &not_author {
            Some(name) => person(tx, name)?,
            None => None,
        };
        let filter = EpicFilter { author, not_author, ..filter };
        let rows = window.read(|part| {
            let edges = part.bounds;
            list_in(tx, &grant, &OrgHierarchy, &filter, &edges, part.sorting, part.page)
        })?;
        let total = match counts {
            true => epic_counts(tx, &grant, &OrgHierarchy, &[filter])?.pop(),
            false => None,
        };
        Ok((rows.try_map_all(|rows| EpicRecord::all(tx, &urls, actor, rows))?, total))
    });
    let (found, total) = found.await.map_err(failure_of)?;
    let position = |one: &EpicRecord, sorting| one.row.list_position(sorting);
    let connection = page.connection(found, position, |one| epic(Arc::new(one)));
    Ok(match total {
        Some(total) => connection.count(total),
        None => connection,
    }
    .into())
}

fn sorting(name: &str) -> Sorting {
    let (what, direction) = match name.strip_suffix("_ASC") {
        Some(what) => (what, Direction::Ascending),
        None => (name.strip_suffix("_DESC").unwrap_or(name), Direction::Descending),
    };
    let by = match what {
        "UPDATED" => Order::Column("updated_at"),
        "TITLE" => Order::Title,
        _ => Order::Column("created_at"),
    };
    Sorting { by, direction }
}

/// An issue of an epic, as a value.
pub fn epic_issue(issue: Arc<IssueRecord>, epic_path: String) -> Value {
    Value::object("EpicIssue", Arc::new(EpicIssueRecord { issue, epic_path }))
}
