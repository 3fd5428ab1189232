//! Boards of the epics of groups, and their lists.

use std::sync::Arc;

use graphql::{Arguments, Connection, Failure, Registry, Value};
use review::{
    board::EpicBoards,
    item::{
        ItemKind,
        list::{Direction, Order, Sorting},
    },
    policy::ReadGroupEpics,
};

use super::{
    epic_loader::{CountedList, EpicKey, EpicListLoaders},
    fields::{address, labels_of, listed, lists_of},
    filter::ListedEpics,
    list::{collapsed, label, position, title},
    record::{BoardHome, BoardRecord, EpicBoardRecord, EpicListRecord, board_of_id, board_of_list},
};
use crate::{
    context::Context,
    failure::visible,
    groups::GroupRecord,
    review::{
        epic::{EpicRecord, add_fields, epic},
        item_pages::ItemPage,
    },
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
            Ok(path_of(&context.forge.urls, &address(&context, &one.0)).into())
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
    let page = ItemPage::new(arguments.page()?, NEWEST)?;
    let filters = arguments.object("filters");
    let wanted = ListedEpics::read(&one.0, filters.as_ref());
    let given = format!("{:?}", filters.as_ref().or(one.0.wanted.as_ref()));
    // The order of ids has positions.
    let Some(head) = page.head() else { return Ok(Connection::empty().into()) };
    let question = EpicKey { one, wanted, given, head };
    let found = EpicListLoaders::of(context).heads.load(question).await?.unwrap_or_default();
    let position = |one: &EpicRecord, sorting| one.row.list_position(sorting);
    let value = |one| epic(Arc::new(one));
    Ok(page.connection_of_head(found.to_vec(), position, value).into())
}

/// How many epics a list has; those of all lists of the query are counted together.
async fn count(context: &Context, one: Arc<EpicListRecord>) -> Result<Value, Failure> {
    let found = EpicListLoaders::of(context).counts.load(CountedList(one)).await?;
    Ok(found.unwrap_or_default().into())
}
