//! Boards and their lists in the database.

use std::collections::HashMap;

use db::{
    CountOf, OneOf as _, Tx, each_backend, error, lower,
    schema::{board_labels, board_lists, boards, labels},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{LabelId, MilestoneId, UserId},
    page::{Page, PageRequest, Total},
};

use super::model::{Board, BoardList, ListKind, ListLimits};
use crate::{Home, item::ItemKind, label::Label};

/// The boards of a kind that belong to a project or group.
macro_rules! of_home {
    ($home:expr, $kind:expr) => {
        boards::table.filter(boards::item_kind.eq($kind)).filter(
            boards::project_id.eq($home.project()).or(boards::namespace_id.eq($home.group())),
        )
    };
}

pub trait BoardStore {
    /// A page of the boards of a project or group, in the order of their names.
    fn boards(&mut self, home: Home, kind: ItemKind, page: PageRequest) -> Result<Page<Board>>;
    fn count_boards(&mut self, home: Home, kind: ItemKind) -> Result<i64>;
    fn find_board(&mut self, home: Home, kind: ItemKind, id: i64) -> Result<Option<Board>>;
    /// Boards of whatever project or group, in no order.
    fn boards_by_id(&mut self, ids: &[i64]) -> Result<Vec<Board>>;
    /// The lists of these boards in their order: what is in no other list, what people made, what is closed.
    fn lists_of_boards(&mut self, boards: &[i64]) -> Result<HashMap<i64, Vec<BoardList>>>;
    /// Lists of whatever board, in no order; their positions are as stored.
    fn board_lists_by_id(&mut self, ids: &[i64]) -> Result<Vec<BoardList>>;
    /// The labels that all issues of these boards have, in the order of their names.
    fn labels_of_boards(&mut self, boards: &[i64]) -> Result<HashMap<i64, Vec<Label>>>;
}

impl BoardStore for Tx<'_> {
    fn boards(&mut self, home: Home, kind: ItemKind, page: PageRequest) -> Result<Page<Board>> {
        let items = each_backend!(self, |conn| of_home!(home, kind)
            .order((lower(boards::name), boards::name, boards::id))
            .limit(page.per_page)
            .offset(page.offset())
            .select(Board::as_select())
            .load(conn)
            .map_err(error("Board")))?;
        Ok(Page { items, total: Total::Counted(self.count_boards(home, kind)?) })
    }

    fn count_boards(&mut self, home: Home, kind: ItemKind) -> Result<i64> {
        each_backend!(self, |conn| CountOf(of_home!(home, kind).select(boards::id))
            .get_result(conn)
            .map_err(error("Board")))
    }

    fn find_board(&mut self, home: Home, kind: ItemKind, id: i64) -> Result<Option<Board>> {
        each_backend!(self, |conn| of_home!(home, kind)
            .filter(boards::id.eq(id))
            .select(Board::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Board")))
    }

    fn boards_by_id(&mut self, ids: &[i64]) -> Result<Vec<Board>> {
        each_backend!(self, |conn| boards::table
            .filter(boards::id.one_of(ids))
            .select(Board::as_select())
            .load(conn)
            .map_err(error("Board")))
    }

    fn lists_of_boards(&mut self, of: &[i64]) -> Result<HashMap<i64, Vec<BoardList>>> {
        let rows: Vec<BoardList> = each_backend!(self, |conn| board_lists::table
            .filter(board_lists::board_id.one_of(of))
            .order((board_lists::position, board_lists::id))
            .select(BoardList::as_select())
            .load(conn)
            .map_err(error("List")))?;
        let mut all: HashMap<i64, Vec<BoardList>> = HashMap::new();
        for row in rows {
            all.entry(row.board_id).or_default().push(row);
        }
        for lists in all.values_mut() {
            in_order(lists);
        }
        Ok(all)
    }

    fn board_lists_by_id(&mut self, ids: &[i64]) -> Result<Vec<BoardList>> {
        each_backend!(self, |conn| board_lists::table
            .filter(board_lists::id.one_of(ids))
            .select(BoardList::as_select())
            .load(conn)
            .map_err(error("List")))
    }

    fn labels_of_boards(&mut self, of: &[i64]) -> Result<HashMap<i64, Vec<Label>>> {
        let pairs: Vec<(i64, LabelId)> = each_backend!(self, |conn| board_labels::table
            .filter(board_labels::board_id.one_of(of))
            .select((board_labels::board_id, board_labels::label_id))
            .load(conn)
            .map_err(error("Label")))?;
        let ids: Vec<LabelId> = pairs.iter().map(|(_, label)| *label).collect();
        let rows: Vec<Label> = each_backend!(self, |conn| labels::table
            .filter(labels::id.one_of(&ids))
            .order((labels::name, labels::id))
            .select(Label::as_select())
            .load(conn)
            .map_err(error("Label")))?;
        let mut all: HashMap<i64, Vec<Label>> = HashMap::new();
        for label in rows {
            for (board, _) in pairs.iter().filter(|(_, id)| *id == label.id) {
                all.entry(*board).or_default().push(label.clone());
            }
        }
        Ok(all)
    }
}

/// Puts lists into the order in which they are shown, and numbers those that people made. Lists went with their labels
/// meanwhile, so stored positions can have gaps.
fn in_order(lists: &mut [BoardList]) {
    let side = |list: &BoardList| match list.kind {
        ListKind::Backlog => 0,
        ListKind::Label | ListKind::Assignee | ListKind::Milestone | ListKind::Iteration => 1,
        ListKind::Closed => 2,
    };
    lists.sort_by_key(|list| (side(list), list.position, list.id));
    let movable = lists.iter_mut().filter(|list| list.kind.is_movable());
    for (position, list) in (0_i64..).zip(movable) {
        list.position = position;
    }
}

/// Columns of a board to write.
pub(super) struct BoardRow {
    pub(super) home: Home,
    pub(super) kind: ItemKind,
    pub(super) board: BoardDetails,
}

/// Columns of a board that can be changed.
#[derive(Clone, Debug, AsChangeset, Insertable)]
#[diesel(table_name = db::schema::boards, treat_none_as_null = true)]
pub(super) struct BoardDetails {
    pub(super) name: String,
    pub(super) hide_backlog_list: bool,
    pub(super) hide_closed_list: bool,
    pub(super) display_colors: bool,
    pub(super) milestone_id: Option<MilestoneId>,
    pub(super) iteration_id: Option<i64>,
    pub(super) iteration_cadence_id: Option<i64>,
    pub(super) assignee_id: Option<UserId>,
    pub(super) weight: Option<i64>,
}

/// Makes a board with the two lists that every one has.
pub(super) fn insert(tx: &mut Tx<'_>, row: &BoardRow) -> Result<Board> {
    let values = (
        boards::item_kind.eq(row.kind),
        boards::project_id.eq(row.home.project()),
        boards::namespace_id.eq(row.home.group()),
        boards::created_at.eq(tx.now),
        boards::updated_at.eq(tx.now),
        &row.board,
    );
    let board: Board = each_backend!(tx, |conn| diesel::insert_into(boards::table)
        .values(values)
        .returning(Board::as_returning())
        .get_result(conn)
        .map_err(error("Board")))?;
    for kind in [ListKind::Backlog, ListKind::Closed] {
        insert_list(tx, board.id, &ListRow { kind, ..ListRow::default() })?;
    }
    Ok(board)
}

pub(super) fn save(tx: &mut Tx<'_>, id: i64, details: &BoardDetails) -> Result<Board> {
    let row = (details, boards::updated_at.eq(tx.now));
    each_backend!(tx, |conn| diesel::update(boards::table.find(id))
        .set(row)
        .returning(Board::as_returning())
        .get_result(conn)
        .map_err(error("Board")))
}

pub(super) fn save_labels(tx: &mut Tx<'_>, board: i64, to: &[Label]) -> Result<()> {
    let old = board_labels::table.filter(board_labels::board_id.eq(board));
    each_backend!(tx, |conn| diesel::delete(old).execute(conn).map_err(error("Label")))?;
    let rows: Vec<_> = to
        .iter()
        .map(|label| (board_labels::board_id.eq(board), board_labels::label_id.eq(label.id)))
        .collect();
    for row in rows {
        each_backend!(tx, |conn| diesel::insert_into(board_labels::table)
            .values(row)
            .execute(conn)
            .map_err(error("Label")))?;
    }
    Ok(())
}

pub(super) fn delete(tx: &mut Tx<'_>, id: i64) -> Result<()> {
    let row = diesel::delete(boards::table.find(id));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Board")))?;
    Ok(())
}

/// A list as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListRow {
    pub(super) kind: ListKind,
    pub(super) label: Option<LabelId>,
    pub(super) user: Option<UserId>,
    pub(super) milestone: Option<MilestoneId>,
    pub(super) iteration: Option<i64>,
    pub(super) position: i64,
}

impl Default for ListRow {
    fn default() -> Self {
        Self {
            kind: ListKind::Backlog,
            label: None,
            user: None,
            milestone: None,
            iteration: None,
            position: 0,
        }
    }
}

pub(super) fn insert_list(tx: &mut Tx<'_>, board: i64, row: &ListRow) -> Result<BoardList> {
    let values = (
        board_lists::board_id.eq(board),
        board_lists::kind.eq(row.kind),
        board_lists::label_id.eq(row.label),
        board_lists::user_id.eq(row.user),
        board_lists::milestone_id.eq(row.milestone),
        board_lists::iteration_id.eq(row.iteration),
        board_lists::position.eq(row.position),
        board_lists::max_issue_count.eq(0_i64),
        board_lists::max_issue_weight.eq(0_i64),
        board_lists::created_at.eq(tx.now),
        board_lists::updated_at.eq(tx.now),
    );
    each_backend!(tx, |conn| diesel::insert_into(board_lists::table)
        .values(values)
        .returning(BoardList::as_returning())
        .get_result(conn)
        .map_err(error("List")))
}

/// Keeps the order of lists: each stands where it is in the slice.
pub(super) fn save_order(tx: &mut Tx<'_>, lists: &[BoardList]) -> Result<()> {
    for (position, list) in (0_i64..).zip(lists) {
        let row = diesel::update(board_lists::table.find(list.id))
            .set((board_lists::position.eq(position), board_lists::updated_at.eq(tx.now)));
        each_backend!(tx, |conn| row.execute(conn).map_err(error("List")))?;
    }
    Ok(())
}

pub(super) fn save_limits(tx: &mut Tx<'_>, list: &BoardList, to: ListLimits) -> Result<()> {
    let row = (
        board_lists::max_issue_count.eq(to.max_issue_count.unwrap_or(list.max_issue_count)),
        board_lists::max_issue_weight.eq(to.max_issue_weight.unwrap_or(list.max_issue_weight)),
        board_lists::limit_metric.eq(to.limit_metric.unwrap_or(list.limit_metric)),
        board_lists::updated_at.eq(tx.now),
    );
    let row = diesel::update(board_lists::table.find(list.id)).set(row);
    each_backend!(tx, |conn| row.execute(conn).map_err(error("List")))?;
    Ok(())
}

pub(super) fn delete_list(tx: &mut Tx<'_>, id: i64) -> Result<()> {
    let row = diesel::delete(board_lists::table.find(id));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("List")))?;
    Ok(())
}
