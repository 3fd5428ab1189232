//! Boards and lists, as the caller sees them.

use std::{collections::HashMap, sync::Arc};

use db::Tx;
use graphql::{Arguments, Failure, Value};
use kernel::{
    Ability as _, Result as Kept,
    ids::{LabelId, NamespaceId, ProjectId},
};
use review::{
    Home,
    board::{
        Board, BoardList, BoardStore as _,
        lists::{BoardWithLists, boards_of_lists, collapsed_of},
    },
    item::ItemKind,
    iteration::{Cadence, IterationStore as _},
    label::{Label, LabelStore as _},
    policy::{ReadGroupEpics, ViewBoards, ViewGroupBoards},
};

use crate::{
    context::Context,
    failure::failure_of,
    groups::{self, GroupRecord},
    loaders::BatchLoader,
    projects::{self, ProjectRecord},
};

/// The project or group of a board.
#[derive(Clone)]
pub(super) enum BoardHome {
    Project(Arc<ProjectRecord>),
    Group(Arc<GroupRecord>),
}

impl BoardHome {
    /// Whether the caller sees boards of a kind there.
    fn shows(&self, kind: ItemKind) -> bool {
        match (self, kind) {
            (Self::Project(project), ItemKind::Issue) => {
                project.who.visible && ViewBoards::allows(&project.who)
            }
            (Self::Group(group), ItemKind::Issue) => group.grant::<ViewGroupBoards>().is_ok(),
            (Self::Group(group), ItemKind::Epic) => group.grant::<ReadGroupEpics>().is_ok(),
            (_, ItemKind::MergeRequest) | (Self::Project(_), ItemKind::Epic) => false,
        }
    }

    /// The address of its pages.
    pub(super) fn address(&self, context: &Context) -> String {
        match self {
            Self::Project(project) => project.web_url().to_owned(),
            Self::Group(group) => {
                context.forge.urls.at(&format!("groups/{}", group.facts.full_path))
            }
        }
    }
}

/// A board of a place that the caller sees.
#[derive(Clone)]
pub(super) struct BoardRecord {
    pub(super) whole: Arc<BoardWithLists>,
    pub(super) place: BoardHome,
}

/// A board of epics.
pub(super) struct EpicBoardRecord(pub(super) BoardRecord);

/// A list of a board.
pub(super) struct ListRecord {
    pub(super) board: BoardRecord,
    pub(super) list: BoardList,
    /// Which of its items are wanted, where that was said of all lists.
    pub(super) wanted: Option<Arguments>,
}

/// A list of a board of epics.
pub(super) struct EpicListRecord(pub(super) ListRecord);

impl BoardRecord {
    /// Boards with what belongs to them, read all at once.
    pub(super) fn all(tx: &mut Tx<'_>, place: &BoardHome, boards: Vec<Board>) -> Kept<Vec<Self>> {
        let whole = BoardWithLists::all(tx, boards)?.into_iter();
        Ok(whole.map(|whole| Self { whole: Arc::new(whole), place: place.clone() }).collect())
    }

    pub(super) fn board(&self) -> &Board {
        &self.whole.board
    }

    pub(super) fn value(self) -> Value {
        match self.board().item_kind {
            ItemKind::Epic => Value::object("EpicBoard", Arc::new(EpicBoardRecord(self))),
            ItemKind::Issue | ItemKind::MergeRequest => Value::object("Board", Arc::new(self)),
        }
    }

    /// One of its lists.
    pub(super) fn list(&self, list: &BoardList, wanted: Option<Arguments>) -> Value {
        let record = ListRecord { board: self.clone(), list: list.clone(), wanted };
        match self.board().item_kind {
            ItemKind::Epic => Value::object("EpicList", Arc::new(EpicListRecord(record))),
            ItemKind::Issue | ItemKind::MergeRequest => {
                Value::object("BoardList", Arc::new(record))
            }
        }
    }
}

/// Where a board is, where the caller sees boards of its kind there.
///
/// # Errors
/// When the database failed.
async fn place_of(context: &Context, board: &Board) -> Result<Option<BoardHome>, Failure> {
    let place = match board.home() {
        Home::Project(project) => {
            projects::record_of(context, ProjectId(project.0)).await?.map(BoardHome::Project)
        }
        Home::Group(group) => {
            groups::record_of(context, NamespaceId(group.0)).await?.map(BoardHome::Group)
        }
    };
    Ok(place.filter(|place| place.shows(board.item_kind)))
}

/// A board of a kind by id, where the caller sees it. It is read anew: mutations change it.
///
/// # Errors
/// When the database failed.
pub(super) async fn board_of_id(
    context: &Context,
    kind: ItemKind,
    id: i64,
) -> Result<Option<BoardRecord>, Failure> {
    let found = context.forge.db.read(move |tx| match tx.boards_by_id(&[id])?.pop() {
        Some(board) => BoardWithLists::one(tx, board).map(Some),
        None => Ok(None),
    });
    let found = found.await.map_err(failure_of)?;
    let Some(whole) = found.filter(|whole| whole.board.item_kind == kind) else { return Ok(None) };
    let place = place_of(context, &whole.board).await?;
    Ok(place.map(|place| BoardRecord { whole: Arc::new(whole), place }))
}

/// The board of a list by the list's id, where the caller sees it.
///
/// # Errors
/// When the database failed.
pub(super) async fn board_of_list(
    context: &Context,
    kind: ItemKind,
    list: i64,
) -> Result<Option<BoardRecord>, Failure> {
    let found = context.forge.db.read(move |tx| Ok(boards_of_lists(tx, &[list])?.remove(&list)));
    let found = found.await.map_err(failure_of)?;
    let Some(whole) = found.filter(|whole| whole.board.item_kind == kind) else { return Ok(None) };
    let place = place_of(context, &whole.board).await?;
    Ok(place.map(|place| BoardRecord { whole, place }))
}

/// Loaders of boards and lists.
pub(super) struct BoardLoaders {
    pub(super) labels: BatchLoader<LabelId, Arc<Label>>,
    pub(super) cadences: BatchLoader<i64, Arc<Cadence>>,
    /// Whether the caller folded a list.
    pub(super) collapsed: BatchLoader<i64, bool>,
}

impl BoardLoaders {
    pub(super) fn of(context: &Context) -> Arc<Self> {
        let user = context.actor().id;
        context.loaders.of(|db| Self {
            labels: BatchLoader::new(db, |tx, ids: &[LabelId]| {
                let found = tx.labels_by_id(ids)?.into_iter();
                let found: HashMap<LabelId, Arc<Label>> =
                    found.map(|label| (label.id, Arc::new(label))).collect();
                Ok(found)
            }),
            cadences: BatchLoader::new(db, |tx, ids: &[i64]| {
                let found = tx.cadences_by_id(ids)?.into_iter();
                Ok(found.map(|cadence| (cadence.id, Arc::new(cadence))).collect())
            }),
            collapsed: BatchLoader::new(db, move |tx, ids: &[i64]| {
                let Some(user) = user else { return Ok(HashMap::new()) };
                let folded = collapsed_of(tx, user, ids)?;
                Ok(folded.into_iter().map(|list| (list, true)).collect())
            }),
        })
    }
}
