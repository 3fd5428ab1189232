//! Boards of the epics of groups, and their lists.

use std::sync::Arc;

use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::page::{PageRequest, Total};
use review::{
    board::EpicBoards,
    epic::list::list as list_epics,
    item::{
        ItemKind,
        list::{Direction, Order, Sorting},
    },
    policy::ReadGroupEpics,
};

use super::{
    fields::{address, labels_of, listed, lists_of},
    filter::ListedEpics,
    list::{collapsed, label, position, title},
    record::{BoardHome, BoardRecord, EpicBoardRecord, EpicListRecord, board_of_id, board_of_list},
};
use crate::graphql::{
    context::Context,
    failure::{failure_of, visible},
    groups::GroupRecord,
    numbered_list::NumberedList,
    review::epic::{EpicRecord, add_fields, epic},
    values::path_of,
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.query().lookup("epicBoardList", |_, arguments, context| async move {
        let id = arguments.gid("id", &["Boards::EpicList"])?;
        let found = board_of_list(&context, ItemKind::Epic, id).await?;
        let wanted = arguments.object("epicFilters");
        let list = |board: BoardRecord| Some(board.list(board.whole.list(id)?, wanted.clone()));
        Ok(found.and_then(list).into())
    });
    registry
        .object::<GroupRecord>("Group")
        .lookup("epicBoard", |group: Arc<GroupRecord>, arguments, context| async move {
            let id = arguments.gid("id", &["Boards::EpicBoard"])?;
            let found = board_of_id(&context, ItemKind::Epic, id).await?;
            let is_there = |one: &BoardRecord| match &one.place {
                BoardHome::Group(other) => other.id() == group.id(),
                BoardHome::Project(_) => false,
            };
            Ok(found.filter(is_there).map(BoardRecord::value).into())
        })
        .lookup("epicBoards", |group, arguments, context| async move {
            let grant = visible(group.grant::<ReadGroupEpics>())?;
            listed::<EpicBoards, _>(&context, &BoardHome::Group(group), grant, &arguments).await
        });
    register_board(registry);
    register_list(registry);
    registry.composed(&["BoardEpicUserPreferences"]);
    add_fields(registry.object("BoardEpic")).none(&["userPreferences"]);
}

fn register_board(registry: &mut Registry<Context>) {
    registry
        .object::<EpicBoardRecord>("EpicBoard")
        .plain("id", |one| Value::gid("Boards::EpicBoard", one.0.board().id))
        .plain("name", |one| one.0.board().name.as_str().into())
        .plain("displayColors", |one| one.0.board().display_colors.into())
        .plain("hideBacklogList", |one| one.0.board().hide_backlog_list.into())
        .plain("hideClosedList", |one| one.0.board().hide_closed_list.into())
        .lookup("labels", |one: Arc<EpicBoardRecord>, arguments, _| async move {
            labels_of(&one.0, &arguments)
        })
        .lookup("lists", |one, arguments, _| async move {
            lists_of(&one.0, &arguments, "Boards::EpicList", "epicFilters")
        })
        .lookup("webUrl", |one, _, context| async move { Ok(address(&context, &one.0).into()) })
        .lookup("webPath", |one, _, context| async move {
            Ok(path_of(&context.app.urls, &address(&context, &one.0)).into())
        });
}

fn register_list(registry: &mut Registry<Context>) {
    registry
        .object::<EpicListRecord>("EpicList")
        .plain("id", |one| Value::gid("Boards::EpicList", one.0.list.id))
        .plain("listType", |one| one.0.list.kind.to_string().into())
        .plain("position", |one| position(&one.0))
        .lookup("label", |one: Arc<EpicListRecord>, _, context| async move {
            label(&context, &one.0).await
        })
        .lookup("collapsed", |one, _, context| async move { collapsed(&context, &one.0).await })
        .lookup("title", |one, _, context| async move { title(&context, &one.0).await })
        .lookup(
            "epics",
            |one, arguments, context| async move { epics(&context, one, &arguments).await },
        )
        .lookup("epicsCount", |one, _, context| async move { count(&context, one).await });
}

/// As they were made, the newest first.
const NEWEST: Sorting = Sorting { by: Order::Id, direction: Direction::Descending };

async fn epics(
    context: &Context,
    one: Arc<EpicListRecord>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let wanted = ListedEpics::read(&one.0, arguments.object("filters").as_ref());
    let BoardHome::Group(group) = &one.0.board.place else { return Ok(Connection::empty().into()) };
    let Some(grant) = visible(group.grant::<ReadGroupEpics>())? else {
        return Ok(Connection::empty().into());
    };
    let (actor, urls, window) = (context.actor(), context.app.urls.clone(), page.clone());
    let found = context.app.db.read(move |tx| {
        let filter = wanted.filter(tx, &one.0.board, &one.0)?;
        let rows = NumberedList::read(&window, |request: PageRequest| {
            list_epics(tx, &grant, &OrgHierarchy, &filter, NEWEST, request)
        })?;
        rows.try_map_all(|rows| EpicRecord::all(tx, &urls, actor, rows))
    });
    let found = found.await.map_err(failure_of)?;
    Ok(found.connection(&page, |one| epic(Arc::new(one))).into())
}

/// How many epics a list has, counted up to the limit of lists.
async fn count(context: &Context, one: Arc<EpicListRecord>) -> Result<Value, Failure> {
    let wanted = ListedEpics::read(&one.0, None);
    let BoardHome::Group(group) = &one.0.board.place else { return Ok(0.into()) };
    let Some(grant) = visible(group.grant::<ReadGroupEpics>())? else { return Ok(0.into()) };
    let found = context.app.db.read(move |tx| {
        let filter = wanted.filter(tx, &one.0.board, &one.0)?;
        let page = PageRequest { page: 1, per_page: 1 };
        Ok(list_epics(tx, &grant, &OrgHierarchy, &filter, NEWEST, page)?.total)
    });
    Ok(match found.await.map_err(failure_of)? {
        Total::Counted(total) => total.into(),
        Total::Uncounted { .. } => (kernel::page::COUNT_LIMIT + 1).into(),
    })
}
