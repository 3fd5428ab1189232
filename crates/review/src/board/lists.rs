//! The lists of a board.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use db::{OneOf as _, Tx, each_backend, error, schema::collapsed_board_lists as collapsed};
use diesel::prelude::*;
use kernel::{
    Error, Faults, Result, Ts,
    ids::{LabelId, MilestoneId, UserId},
};

use super::{
    access::BoardItems,
    actions::{ensure_iteration, ensure_milestone, ensure_person, own, read},
    condition::BoardCondition,
    model::{Board, BoardList, ListKind, ListLimits},
    store::{self, BoardStore as _, ListRow},
    visits,
};
use crate::{
    ManageGrant, ReadGrant,
    issue::IssueState,
    item::{ItemKind, labels::usable_names},
    label::Label,
    ports::{GroupHierarchy, People},
};

/// So many lists a board can have beside the two that every one has.
const MOST: usize = 100;
/// No list holds more.
const HIGHEST_LIMIT: i64 = 2_147_483_647;

fn no_list() -> Error {
    Error::not_found("List")
}

/// The attribute by which a new board list selects items.
#[derive(Clone, Copy, Debug)]
pub enum NewList {
    Label(LabelId),
    Assignee(UserId),
    Milestone(MilestoneId),
    Iteration(i64),
    /// What is open and in no other list, or what is closed: every board has these, shown or not.
    Shown(ListKind),
}

/// A board with all of its lists, in their order.
#[derive(Clone, Debug)]
pub struct BoardWithLists {
    pub board: Board,
    /// The labels that all of its items have.
    pub labels: Vec<Label>,
    pub lists: Vec<BoardList>,
}

impl BoardWithLists {
    /// Boards with their lists, in the order of these; read all at once.
    pub fn all(tx: &mut Tx<'_>, boards: Vec<Board>) -> Result<Vec<Self>> {
        let ids: Vec<i64> = boards.iter().map(|board| board.id).collect();
        let mut lists = tx.lists_of_boards(&ids)?;
        let mut labels = tx.labels_of_boards(&ids)?;
        let whole = |board: Board| {
            let labels = labels.remove(&board.id).unwrap_or_default();
            Self { labels, lists: lists.remove(&board.id).unwrap_or_default(), board }
        };
        Ok(boards.into_iter().map(whole).collect())
    }

    /// One board with its lists.
    pub fn one(tx: &mut Tx<'_>, board: Board) -> Result<Self> {
        Self::all(tx, vec![board])?.pop().ok_or_else(no_list)
    }

    pub fn list(&self, id: i64) -> Option<&BoardList> {
        self.lists.iter().find(|list| list.id == id)
    }

    /// The lists that people made.
    pub fn movable(&self) -> impl Iterator<Item = &BoardList> {
        self.lists.iter().filter(|list| list.kind.is_movable())
    }

    /// The lists that are not hidden.
    pub fn shown(&self) -> impl Iterator<Item = &BoardList> {
        let board = &self.board;
        self.lists.iter().filter(|list| match list.kind {
            ListKind::Backlog => !board.hide_backlog_list,
            ListKind::Closed => !board.hide_closed_list,
            ListKind::Label | ListKind::Assignee | ListKind::Milestone | ListKind::Iteration => {
                true
            }
        })
    }

    /// What the items of a list have, and whether they are open or closed.
    pub fn condition(&self, list: &BoardList) -> (BoardCondition, IssueState) {
        let labels: Vec<LabelId> = self.labels.iter().map(|label| label.id).collect();
        let asked = BoardCondition::of_list(&self.board, &labels, list, &self.lists);
        let state = match list.kind {
            ListKind::Closed => IssueState::Closed,
            ListKind::Backlog
            | ListKind::Label
            | ListKind::Assignee
            | ListKind::Milestone
            | ListKind::Iteration => IssueState::Opened,
        };
        (asked, state)
    }
}

/// The lists of a board that people made, in their order.
pub fn list<K: BoardItems>(
    tx: &mut Tx<'_>,
    grant: &impl ReadGrant<K>,
    board: i64,
) -> Result<Vec<BoardList>> {
    let board = read(tx, grant, board)?;
    let whole = BoardWithLists::one(tx, board)?;
    Ok(whole.movable().cloned().collect())
}

/// One of the lists that people made.
///
/// # Errors
/// `NotFound` where the board has none of that number.
pub fn find<K: BoardItems>(
    tx: &mut Tx<'_>,
    grant: &impl ReadGrant<K>,
    board: i64,
    id: i64,
) -> Result<BoardList> {
    let found = list(tx, grant, board)?.into_iter().find(|list| list.id == id);
    found.ok_or_else(no_list)
}

/// Makes a list of a board, behind the others; or shows one of the two that every board has.
///
/// # Errors
/// `NotFound` for a board of another place; `BadRequest` for what issues there cannot have, for what has a list, and
/// where there are too many.
pub fn create<K: BoardItems>(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<K>,
    around: &(impl GroupHierarchy + People),
    board: i64,
    new: NewList,
) -> Result<BoardList> {
    let board = own(tx, grant, board)?;
    let home = board.home();
    let whole = BoardWithLists::one(tx, board)?;
    let row = match new {
        NewList::Shown(kind) => return show(tx, &whole, kind),
        NewList::Label(label) => {
            if usable_names(tx, around, home, &[label])?.is_empty() {
                return Err(Error::invalid("base", "Label not found!"));
            }
            ListRow { kind: ListKind::Label, label: Some(label), ..ListRow::default() }
        }
        NewList::Assignee(user) if K::KIND == ItemKind::Issue => {
            ensure_person(tx, around, home, user)?;
            ListRow { kind: ListKind::Assignee, user: Some(user), ..ListRow::default() }
        }
        NewList::Milestone(milestone) if K::KIND == ItemKind::Issue => {
            ensure_milestone(tx, around, home, milestone)?;
            let milestone = Some(milestone);
            ListRow { kind: ListKind::Milestone, milestone, ..ListRow::default() }
        }
        NewList::Iteration(iteration) if K::KIND == ItemKind::Issue => {
            ensure_iteration(tx, around, grant, iteration)?;
            let iteration = Some(iteration);
            ListRow { kind: ListKind::Iteration, iteration, ..ListRow::default() }
        }
        NewList::Assignee(_) | NewList::Milestone(_) | NewList::Iteration(_) => {
            return Err(Error::invalid("base", "Epics have no such lists"));
        }
    };
    ensure_new(&whole, &row)?;
    let last = whole.movable().count();
    let position = i64::try_from(last).unwrap_or(i64::MAX);
    let kept: Vec<BoardList> = whole.movable().cloned().collect();
    store::save_order(tx, &kept)?;
    let made = store::insert_list(tx, whole.board.id, &ListRow { position, ..row })?;
    visits::note(tx, grant.user()?, whole.board.id)?;
    Ok(made)
}

/// # Errors
/// `BadRequest` for a list that is there, and where there are too many.
fn ensure_new(whole: &BoardWithLists, row: &ListRow) -> Result<()> {
    if whole.movable().count() >= MOST {
        return Err(Error::invalid("base", format!("A board can have at most {MOST} lists")));
    }
    let is_same = |list: &BoardList| {
        (list.kind == row.kind)
            && (list.label_id, list.user_id, list.milestone_id, list.iteration_id)
                == (row.label, row.user, row.milestone, row.iteration)
    };
    match whole.movable().any(is_same) {
        true => Err(Error::invalid(&row.kind.to_string(), "has already been taken")),
        false => Ok(()),
    }
}

/// Shows the list of what is in no other, or of what is closed, where it was hidden.
fn show(tx: &mut Tx<'_>, whole: &BoardWithLists, kind: ListKind) -> Result<BoardList> {
    let found = whole.lists.iter().find(|list| list.kind == kind && !kind.is_movable());
    let found = found.ok_or_else(no_list)?;
    let board = &whole.board;
    let details = store::BoardDetails {
        name: board.name.clone(),
        hide_backlog_list: board.hide_backlog_list && kind != ListKind::Backlog,
        hide_closed_list: board.hide_closed_list && kind != ListKind::Closed,
        display_colors: board.display_colors,
        milestone_id: board.milestone_id,
        iteration_id: board.iteration_id,
        iteration_cadence_id: board.iteration_cadence_id,
        assignee_id: board.assignee_id,
        weight: board.weight,
    };
    store::save(tx, board.id, &details)?;
    Ok(found.clone())
}

/// Puts a list elsewhere among those that people made; numbers behind the last place stand for it.
///
/// # Errors
/// `NotFound` for a list of another board; `BadRequest` for one of the two that have no place.
pub fn reorder<K: BoardItems>(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<K>,
    board: i64,
    id: i64,
    position: i64,
) -> Result<BoardList> {
    let board = own(tx, grant, board)?;
    let whole = BoardWithLists::one(tx, board)?;
    let mut order: Vec<BoardList> = whole.movable().cloned().collect();
    let Some(place) = order.iter().position(|list| list.id == id) else {
        return Err(match whole.list(id) {
            Some(_) => Error::invalid("base", "The list cannot be moved"),
            None => no_list(),
        });
    };
    let list = order.remove(place);
    let to = usize::try_from(position).unwrap_or(0).min(order.len());
    order.insert(to, list);
    store::save_order(tx, &order)?;
    visits::note(tx, grant.user()?, whole.board.id)?;
    let mut moved = order.swap_remove(to);
    moved.position = i64::try_from(to).unwrap_or(i64::MAX);
    Ok(moved)
}

/// Says how much a list should hold.
///
/// # Errors
/// `NotFound` for a list of another board; `BadRequest` for negative numbers.
pub fn set_limits<K: BoardItems>(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<K>,
    board: i64,
    id: i64,
    limits: ListLimits,
) -> Result<BoardList> {
    let board = own(tx, grant, board)?;
    let whole = BoardWithLists::one(tx, board)?;
    let list = whole.list(id).ok_or_else(no_list)?;
    let mut faults = Faults::default();
    faults.range("max_issue_count", limits.max_issue_count, 0..=HIGHEST_LIMIT);
    faults.range("max_issue_weight", limits.max_issue_weight, 0..=HIGHEST_LIMIT);
    faults.into_result()?;
    store::save_limits(tx, list, limits)?;
    visits::note(tx, grant.user()?, whole.board.id)?;
    let kept = tx.board_lists_by_id(&[list.id])?.pop().ok_or_else(no_list)?;
    Ok(BoardList { position: list.position, ..kept })
}

/// Removes a list that somebody made, where it did not change since a moment; what it showed stays.
///
/// # Errors
/// `NotFound` for any other.
pub fn remove<K: BoardItems>(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<K>,
    board: i64,
    id: i64,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let board = own(tx, grant, board)?;
    let whole = BoardWithLists::one(tx, board)?;
    let list = whole.movable().find(|list| list.id == id).ok_or_else(no_list)?;
    list.updated_at.ensure_unchanged_since(unless_newer)?;
    store::delete_list(tx, list.id)
}

/// Folds a list for the caller alone, or opens it again.
///
/// # Errors
/// `NotFound` for a list of another board.
pub fn set_collapsed<K: BoardItems>(
    tx: &mut Tx<'_>,
    grant: &impl ReadGrant<K>,
    board: i64,
    id: i64,
    wanted: bool,
) -> Result<()> {
    let board = read(tx, grant, board)?;
    let whole = BoardWithLists::one(tx, board)?;
    let list = whole.list(id).ok_or_else(no_list)?;
    let user = grant.user()?;
    let old = diesel::delete(collapsed::table.find((user, list.id)));
    each_backend!(tx, |conn| old.execute(conn).map_err(error("List")))?;
    if wanted {
        let row = (collapsed::user_id.eq(user), collapsed::list_id.eq(list.id));
        each_backend!(tx, |conn| diesel::insert_into(collapsed::table)
            .values(row)
            .execute(conn)
            .map_err(error("List")))?;
    }
    Ok(())
}

/// Which of these lists somebody folded.
pub fn collapsed_of(tx: &mut Tx<'_>, user: UserId, lists: &[i64]) -> Result<HashSet<i64>> {
    let rows: Vec<i64> = each_backend!(tx, |conn| collapsed::table
        .filter(collapsed::user_id.eq(user).and(collapsed::list_id.one_of(lists)))
        .select(collapsed::list_id)
        .load(conn)
        .map_err(error("List")))?;
    Ok(rows.into_iter().collect())
}

/// The boards of these lists with all their lists, by the ids of the lists that were asked for.
pub fn boards_of_lists(
    tx: &mut Tx<'_>,
    lists: &[i64],
) -> Result<HashMap<i64, Arc<BoardWithLists>>> {
    let found = tx.board_lists_by_id(lists)?;
    let mut boards: Vec<i64> = found.iter().map(|list| list.board_id).collect();
    boards.sort_unstable();
    boards.dedup();
    let rows = tx.boards_by_id(&boards)?;
    let whole = BoardWithLists::all(tx, rows)?.into_iter();
    let whole: HashMap<i64, _> = whole.map(|one| (one.board.id, Arc::new(one))).collect();
    let of = |list: &BoardList| Some((list.id, whole.get(&list.board_id)?.clone()));
    Ok(found.iter().filter_map(of).collect())
}
