//! Boards of the epics of groups, and their lists.

use std::{
    collections::HashMap,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use db::Tx;
use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::{Result as Kept, ids::NamespaceId};
use review::{
    board::EpicBoards,
    epic::list::{counts as epic_counts, list_in as list_epics},
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
    loaders::BatchLoader,
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
    let page = ItemPage::new(arguments.page()?, NEWEST)?;
    let wanted = ListedEpics::read(&one.0, arguments.object("filters").as_ref());
    let BoardHome::Group(group) = &one.0.board.place else { return Ok(Connection::empty().into()) };
    let Some(grant) = visible(group.grant::<ReadGroupEpics>())? else {
        return Ok(Connection::empty().into());
    };
    let (actor, urls, window) = (context.actor(), context.app.urls.clone(), page.clone());
    let found = context.app.db.read(move |tx| {
        let filter = wanted.filter(tx, &one.0.board, &one.0)?;
        let rows = window.read(|part| {
            let edges = part.bounds;
            list_epics(tx, &grant, &OrgHierarchy, &filter, &edges, part.sorting, part.page)
        })?;
        rows.try_map_all(|rows| EpicRecord::all(tx, &urls, actor, rows))
    });
    let found = found.await.map_err(failure_of)?;
    let position = |one: &EpicRecord, sorting| one.row.list_position(sorting);
    Ok(page.connection(found, position, |one| epic(Arc::new(one))).into())
}

/// How many epics a list has; those of all lists of the query are counted together.
async fn count(context: &Context, one: Arc<EpicListRecord>) -> Result<Value, Failure> {
    let found = EpicCountLoader::of(context).0.load(CountedList(one)).await?;
    Ok(found.unwrap_or_default().into())
}

/// A list whose epics are counted.
#[derive(Clone)]
struct CountedList(Arc<EpicListRecord>);

impl PartialEq for CountedList {
    fn eq(&self, other: &Self) -> bool {
        self.0.0.list.id == other.0.0.list.id
    }
}

impl Eq for CountedList {}

impl Hash for CountedList {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.0.list.id.hash(state);
    }
}

impl fmt::Debug for CountedList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "epics of list {}", self.0.0.list.id)
    }
}

/// Counts the epics of lists.
struct EpicCountLoader(BatchLoader<CountedList, i64>);

impl EpicCountLoader {
    fn of(context: &Context) -> Arc<Self> {
        context.loaders.of(|db| Self(BatchLoader::new(db, counts)))
    }
}

/// The lengths of lists, those of each group's lists at once.
fn counts(tx: &mut Tx<'_>, keys: &[CountedList]) -> Kept<HashMap<CountedList, i64>> {
    let mut by_group: HashMap<NamespaceId, Vec<&CountedList>> = HashMap::new();
    for key in keys {
        if let BoardHome::Group(group) = &key.0.0.board.place {
            by_group.entry(group.id()).or_default().push(key);
        }
    }
    let mut all = HashMap::new();
    for lists in by_group.into_values() {
        let Some(BoardHome::Group(group)) = lists.first().map(|one| &one.0.0.board.place) else {
            continue;
        };
        // Whoever may not read epics there counts none.
        let Ok(grant) = group.grant::<ReadGroupEpics>() else { continue };
        let mut filters = Vec::with_capacity(lists.len());
        for CountedList(one) in &lists {
            let wanted = ListedEpics::read(&one.0, None);
            filters.push(wanted.filter(tx, &one.0.board, &one.0)?);
        }
        let found = epic_counts(tx, &grant, &OrgHierarchy, &filters)?;
        all.extend(lists.into_iter().cloned().zip(found));
    }
    Ok(all)
}
