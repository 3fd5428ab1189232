//! Boards of issues, of projects and of groups.

use std::sync::Arc;

use db::Tx;
use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::{Grant, Result as Kept, page::PageRequest};
use review::{
    ReadGrant,
    board::{Board, BoardItems, Boards, actions, visits},
    epic::list::{EpicFilter, HierarchyScope, IssueHome, list_in as list_epics},
    item::{
        ItemKind,
        list::{Direction, Order, Sorting},
    },
    policy::{ReadGroupEpics, ViewBoards, ViewGroupBoards},
};

use super::record::{BoardHome, BoardLoaders, BoardRecord, board_of_id};
use crate::{
    context::Context,
    failure::{failure_of, visible},
    groups::{self, GroupRecord},
    iterations, labels, milestones,
    numbered_list::NumberedList,
    people,
    projects::ProjectRecord,
    review::{epic::EpicRecord, item_pages::ItemPage},
    values::{path_of, time},
};

/// So many boards are the recent ones.
const RECENT: usize = 4;

pub(super) fn register(registry: &mut Registry<Context>) {
    registry
        .object::<ProjectRecord>("Project")
        .lookup("board", |project: Arc<ProjectRecord>, arguments, context| async move {
            one(&context, &BoardHome::Project(project), arguments.gid("id", &["Board"])?).await
        })
        .lookup("boards", |project, arguments, context| async move {
            let grant = visible(project.grant::<ViewBoards>())?;
            listed::<Boards, _>(&context, &BoardHome::Project(project), grant, &arguments).await
        })
        .lookup("recentIssueBoards", |project, arguments, context| async move {
            let grant = visible(project.grant::<ViewBoards>())?;
            recent(&context, &BoardHome::Project(project), grant, &arguments).await
        });
    registry
        .object::<GroupRecord>("Group")
        .lookup("board", |group: Arc<GroupRecord>, arguments, context| async move {
            one(&context, &BoardHome::Group(group), arguments.gid("id", &["Board"])?).await
        })
        .lookup("boards", |group, arguments, context| async move {
            let grant = visible(group.grant::<ViewGroupBoards>())?;
            listed::<Boards, _>(&context, &BoardHome::Group(group), grant, &arguments).await
        })
        .lookup("recentIssueBoards", |group, arguments, context| async move {
            let grant = visible(group.grant::<ViewGroupBoards>())?;
            recent(&context, &BoardHome::Group(group), grant, &arguments).await
        });
    register_board(registry);
    register_scope(registry);
}

fn register_board(registry: &mut Registry<Context>) {
    registry
        .object::<BoardRecord>("Board")
        .plain("id", |one| Value::gid("Board", one.board().id))
        .plain("name", |one| one.board().name.as_str().into())
        .plain("hideBacklogList", |one| one.board().hide_backlog_list.into())
        .plain("hideClosedList", |one| one.board().hide_closed_list.into())
        .plain("createdAt", |one| time(one.board().created_at))
        .plain("updatedAt", |one| time(one.board().updated_at))
        .plain("weight", |one| one.board().weight.into())
        .lookup("lists", |one: Arc<BoardRecord>, arguments, _| async move {
            lists_of(&one, &arguments, "List", "issueFilters")
        })
        .lookup("epics", |one, arguments, context| async move {
            epics(&context, &one, &arguments).await
        })
        .lookup("webUrl", |one, _, context| async move { Ok(address(&context, &one).into()) })
        .lookup("webPath", |one, _, context| async move {
            Ok(path_of(&context.forge.urls, &address(&context, &one)).into())
        });
}

/// What all issues of a board have.
fn register_scope(registry: &mut Registry<Context>) {
    registry
        .object::<BoardRecord>("Board")
        .lookup("assignee", |one: Arc<BoardRecord>, _, context| async move {
            match one.board().assignee_id {
                Some(user) => people::of_id(&context, user).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("iteration", |one, _, context| async move {
            match one.board().iteration_id {
                Some(iteration) => iterations::of_id(&context, iteration).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("iterationCadence", |one, _, context| async move {
            let Some(id) = one.board().iteration_cadence_id else { return Ok(Value::Null) };
            let found = BoardLoaders::of(&context).cadences.load(id).await?;
            Ok(found.as_deref().map(iterations::cadence).into())
        })
        .lookup("labels", |one, arguments, _| async move { labels_of(&one, &arguments) })
        .lookup("milestone", |one, _, context| async move {
            match one.board().milestone_id {
                Some(milestone) => milestones::of_id(&context, milestone).await,
                None => Ok(Value::Null),
            }
        });
}

pub(super) fn address(context: &Context, one: &BoardRecord) -> String {
    let pages = match one.board().item_kind {
        ItemKind::Epic => "epic_boards",
        ItemKind::Issue | ItemKind::MergeRequest => "boards",
    };
    format!("{}/-/{pages}/{}", one.place.address(context), one.board().id)
}

pub(super) fn labels_of(one: &BoardRecord, arguments: &Arguments) -> Result<Value, Failure> {
    let worn = one.whole.labels.iter().cloned().map(labels::label);
    Ok(Connection::of_list(&arguments.page()?, worn.collect()).into())
}

/// The lists of a board that are not hidden, or one of them.
pub(super) fn lists_of(
    one: &BoardRecord,
    arguments: &Arguments,
    class: &str,
    filters: &str,
) -> Result<Value, Failure> {
    let wanted = arguments.object(filters);
    let id = arguments.maybe_gid("id", &[class])?;
    let shown = one.whole.shown().filter(|list| id.is_none_or(|id| list.id == id));
    let shown = shown.map(|list| one.list(list, wanted.clone())).collect();
    Ok(Connection::of_list(&arguments.page()?, shown).into())
}

/// A board of a project or group, where the caller sees it.
async fn one(context: &Context, place: &BoardHome, id: i64) -> Result<Value, Failure> {
    let found = board_of_id(context, ItemKind::Issue, id).await?;
    let is_there = |one: &BoardRecord| match (&one.place, place) {
        (BoardHome::Project(one), BoardHome::Project(other)) => one.id() == other.id(),
        (BoardHome::Group(one), BoardHome::Group(other)) => one.id() == other.id(),
        _ => false,
    };
    Ok(found.filter(is_there).map(BoardRecord::value).into())
}

/// Boards of a kind, in the order of their names; one of them where an id is given.
pub(super) async fn listed<K, G>(
    context: &Context,
    place: &BoardHome,
    grant: Option<G>,
    arguments: &Arguments,
) -> Result<Value, Failure>
where
    K: BoardItems,
    G: ReadGrant<K> + Clone + Send + 'static,
{
    let page = arguments.page()?;
    let Some(grant) = grant else { return Ok(Connection::empty().into()) };
    if let Some(id) = arguments.maybe_gid("id", &["Board", "Boards::EpicBoard"])? {
        let place = place.clone();
        let found = context.forge.db.read(move |tx| {
            let board = actions::read(tx, &grant, id)?;
            records(tx, &place, vec![board])
        });
        let found = visible(found.await)?.unwrap_or_default();
        let found = found.into_iter().map(BoardRecord::value).collect();
        return Ok(Connection::of_list(&page, found).into());
    }
    let (window, place) = (page.clone(), place.clone());
    let found = context.forge.db.read(move |tx| {
        let rows =
            NumberedList::read(&window, |request: PageRequest| actions::list(tx, &grant, request))?;
        rows.try_map_all(|rows| records(tx, &place, rows))
    });
    let found = found.await.map_err(failure_of)?;
    Ok(found.connection(&page, BoardRecord::value).into())
}

fn records(tx: &mut Tx<'_>, place: &BoardHome, rows: Vec<Board>) -> Kept<Vec<BoardRecord>> {
    BoardRecord::all(tx, place, rows)
}

/// The boards with which the caller worked last.
async fn recent(
    context: &Context,
    place: &BoardHome,
    grant: Option<impl ReadGrant<Boards> + Clone + Send + 'static>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let Some(grant) = grant else { return Ok(Connection::empty().into()) };
    let place = place.clone();
    let found = context.forge.db.read(move |tx| {
        let rows = visits::recent(tx, &grant, RECENT)?;
        records(tx, &place, rows)
    });
    let found = found.await.map_err(failure_of)?.into_iter().map(BoardRecord::value);
    Ok(Connection::of_list(&page, found.collect()).into())
}

/// As they were made, the newest first.
const NEWEST: Sorting = Sorting { by: Order::Id, direction: Direction::Descending };

/// The epics of the issues of a board: those of its group, or its project's, and of the groups above and below.
async fn epics(
    context: &Context,
    one: &BoardRecord,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = ItemPage::new(arguments.page()?, NEWEST)?;
    let (group, with_issues) = match &one.place {
        BoardHome::Group(group) => (Some(group.clone()), IssueHome::Anywhere),
        BoardHome::Project(project) => {
            let namespace = project.project.namespace_id;
            (groups::record_of(context, namespace).await?, IssueHome::In(project.id()))
        }
    };
    let grant = match group {
        Some(group) => visible(group.grant::<ReadGroupEpics>())?,
        None => None,
    };
    let Some(grant): Option<Grant<ReadGroupEpics>> = grant else {
        return Ok(Connection::empty().into());
    };
    let filter = EpicFilter {
        around: HierarchyScope { ancestors: true, descendants: true },
        with_issues: Some(with_issues),
        ..EpicFilter::default()
    };
    let (actor, urls, window) = (context.actor(), context.forge.urls.clone(), page.clone());
    let found = context.forge.db.read(move |tx| {
        let rows = window.read(|part| {
            let edges = part.bounds;
            list_epics(tx, &grant, &OrgHierarchy, &filter, &edges, part.sorting, part.page)
        })?;
        rows.try_map_all(|rows| EpicRecord::all(tx, &urls, actor, rows))
    });
    let found = found.await.map_err(failure_of)?;
    let position = |one: &EpicRecord, sorting| one.row.list_position(sorting);
    let value = |epic| Value::object("BoardEpic", Arc::new(epic));
    Ok(page.connection(found, position, value).into())
}
