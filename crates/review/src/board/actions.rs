//! Making, changing and removing boards.

use db::Tx;
use kernel::{
    Error, Faults, Result, Ts,
    ids::{LabelId, MilestoneId, UserId},
    page::{Page, PageRequest},
};

use super::{
    access::BoardItems,
    model::Board,
    store::{self, BoardDetails, BoardRow, BoardStore as _},
    visits,
};
use crate::{
    Home, ManageGrant, ReadGrant, ScopedCaller,
    item::{
        ItemKind,
        labels::{LabelChange, UnknownLabels, chosen, usable_names},
    },
    iteration::{IterationStore as _, list::readable},
    milestone::MilestoneStore as _,
    ports::{GroupHierarchy, People},
};

const LONGEST_NAME: usize = 255;
const DEFAULT_NAME: &str = "Development";
/// So many boards of a kind a project or group can have.
const MOST: i64 = 1_000;

fn no_board() -> Error {
    Error::not_found("Board")
}

/// Fields of a board to change; `None` keeps a value, or leaves it empty in a new board.
#[derive(Clone, Debug, Default)]
pub struct BoardChange {
    pub name: Option<String>,
    pub hide_backlog_list: Option<bool>,
    pub hide_closed_list: Option<bool>,
    pub display_colors: Option<bool>,
    pub labels: Option<BoardLabels>,
    pub milestone: Option<Option<MilestoneId>>,
    pub iteration: Option<Option<i64>>,
    pub iteration_cadence: Option<Option<i64>>,
    pub assignee: Option<Option<UserId>>,
    pub weight: Option<Option<i64>>,
}

/// The labels that all issues of a board have.
#[derive(Clone, Debug)]
pub enum BoardLabels {
    /// Names that no label has become labels.
    Named(Vec<String>),
    Ids(Vec<LabelId>),
}

/// A page of the boards of a project or group.
pub fn list<K: BoardItems>(
    tx: &mut Tx<'_>,
    grant: &impl ReadGrant<K>,
    page: PageRequest,
) -> Result<Page<Board>> {
    tx.boards(grant.home(), K::KIND, page)
}

/// A board of the project or group itself.
///
/// # Errors
/// `NotFound` for any other.
pub fn read<K: BoardItems>(tx: &mut Tx<'_>, grant: &impl ReadGrant<K>, id: i64) -> Result<Board> {
    tx.find_board(grant.home(), K::KIND, id)?.ok_or_else(no_board)
}

/// As [`read`], to change it.
pub(super) fn own<K: BoardItems>(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<K>,
    id: i64,
) -> Result<Board> {
    tx.find_board(grant.home(), K::KIND, id)?.ok_or_else(no_board)
}

/// Makes a board of a project or group.
///
/// # Errors
/// `BadRequest` for a name that is none, for what issues there cannot have, and where there are too many.
pub fn create<K: BoardItems>(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<K>,
    around: &(impl GroupHierarchy + People),
    asked: &BoardChange,
) -> Result<Board> {
    if tx.count_boards(grant.home(), K::KIND)? >= MOST {
        return Err(Error::invalid("base", format!("There can be at most {MOST} boards")));
    }
    let empty = BoardDetails {
        name: DEFAULT_NAME.to_owned(),
        hide_backlog_list: false,
        hide_closed_list: false,
        display_colors: false,
        milestone_id: None,
        iteration_id: None,
        iteration_cadence_id: None,
        assignee_id: None,
        weight: None,
    };
    let board = changed(tx, grant, around, K::KIND, empty, asked)?;
    let board = store::insert(tx, &BoardRow { home: grant.home(), kind: K::KIND, board })?;
    relabel(tx, grant, around, &board, asked)?;
    visits::note(tx, grant.user()?, board.id)?;
    Ok(board)
}

/// Changes a board of the project or group itself.
///
/// # Errors
/// `NotFound` for any other; `BadRequest` as for [`create`].
pub fn update<K: BoardItems>(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<K>,
    around: &(impl GroupHierarchy + People),
    id: i64,
    asked: &BoardChange,
) -> Result<Board> {
    let board = own(tx, grant, id)?;
    let old = BoardDetails {
        name: board.name.clone(),
        hide_backlog_list: board.hide_backlog_list,
        hide_closed_list: board.hide_closed_list,
        display_colors: board.display_colors,
        milestone_id: board.milestone_id,
        iteration_id: board.iteration_id,
        iteration_cadence_id: board.iteration_cadence_id,
        assignee_id: board.assignee_id,
        weight: board.weight,
    };
    let details = changed(tx, grant, around, K::KIND, old, asked)?;
    let board = store::save(tx, board.id, &details)?;
    relabel(tx, grant, around, &board, asked)?;
    visits::note(tx, grant.user()?, board.id)?;
    Ok(board)
}

/// Removes a board of the project or group itself, where it did not change since a moment; what it showed stays.
///
/// # Errors
/// `NotFound` for any other.
pub fn remove<K: BoardItems>(
    tx: &mut Tx<'_>,
    grant: &impl ManageGrant<K>,
    id: i64,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let board = own(tx, grant, id)?;
    board.updated_at.ensure_unchanged_since(unless_newer)?;
    store::delete(tx, board.id)
}

fn changed(
    tx: &mut Tx<'_>,
    caller: &impl ScopedCaller,
    around: &(impl GroupHierarchy + People),
    kind: ItemKind,
    old: BoardDetails,
    asked: &BoardChange,
) -> Result<BoardDetails> {
    let name = asked.name.as_ref().map_or(old.name, |name| name.trim().to_owned());
    let weight = asked.weight.unwrap_or(old.weight);
    let mut faults = Faults::default();
    if name.is_empty() {
        faults.add("name", "can't be blank");
    }
    faults.at_most("name", Some(&name), LONGEST_NAME);
    faults.range("weight", weight, 0..=i64::from(i32::MAX));
    faults.into_result()?;
    let home = caller.home();
    if let Some(Some(id)) = asked.milestone.filter(|_| kind == ItemKind::Issue) {
        ensure_milestone(tx, around, home, id)?;
    }
    if let Some(Some(id)) = asked.iteration {
        ensure_iteration(tx, around, caller, id)?;
    }
    if let Some(Some(id)) = asked.iteration_cadence {
        ensure_cadence(tx, around, home, id)?;
    }
    if let Some(Some(id)) = asked.assignee {
        ensure_person(tx, around, home, id)?;
    }
    Ok(BoardDetails {
        name,
        hide_backlog_list: asked.hide_backlog_list.unwrap_or(old.hide_backlog_list),
        hide_closed_list: asked.hide_closed_list.unwrap_or(old.hide_closed_list),
        display_colors: asked.display_colors.unwrap_or(old.display_colors),
        milestone_id: asked.milestone.unwrap_or(old.milestone_id),
        iteration_id: asked.iteration.unwrap_or(old.iteration_id),
        iteration_cadence_id: asked.iteration_cadence.unwrap_or(old.iteration_cadence_id),
        assignee_id: asked.assignee.unwrap_or(old.assignee_id),
        weight,
    })
}

/// Gives a board its labels.
fn relabel(
    tx: &mut Tx<'_>,
    caller: &impl ScopedCaller,
    places: &impl GroupHierarchy,
    board: &Board,
    asked: &BoardChange,
) -> Result<()> {
    let names = match &asked.labels {
        None => return Ok(()),
        Some(BoardLabels::Named(names)) => names.clone(),
        Some(BoardLabels::Ids(ids)) => usable_names(tx, places, board.home(), ids)?,
    };
    let change = LabelChange { all: Some(names), ..LabelChange::default() };
    let unknown = UnknownLabels::Make(caller.user()?);
    let labels = chosen(tx, places, board.home(), &[], &change, unknown)?;
    store::save_labels(tx, board.id, &labels)
}

/// What nobody knows of, or issues there cannot have.
fn unknown(what: &str) -> Error {
    Error::invalid("base", format!("{what} not found!"))
}

/// Whether issues of a place can have a milestone: one of its own, or of a group above it.
///
/// # Errors
/// `BadRequest` where they cannot.
pub(super) fn ensure_milestone(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    home: Home,
    id: MilestoneId,
) -> Result<()> {
    let found = tx.milestones_by_id(&[id])?.pop().ok_or_else(|| unknown("Milestone"))?;
    let is_own = match home {
        Home::Project(project) => found.project_id == Some(project),
        Home::Group(group) => found.namespace_id == Some(group),
    };
    let is_above = match found.namespace_id {
        Some(group) => places.above(tx, home)?.contains(&group),
        None => false,
    };
    if is_own || is_above { Ok(()) } else { Err(unknown("Milestone")) }
}

/// As [`ensure_milestone`], of an iteration that the caller sees.
pub(super) fn ensure_iteration(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    caller: &impl ScopedCaller,
    id: i64,
) -> Result<()> {
    let home = caller.home();
    let found = readable(tx, places, caller.actor(), &[id])?.pop();
    let found = found.ok_or_else(|| unknown("Iteration"))?;
    let is_own = home.group() == Some(found.namespace_id);
    let fits = is_own || places.above(tx, home)?.contains(&found.namespace_id);
    if fits { Ok(()) } else { Err(unknown("Iteration")) }
}

fn ensure_cadence(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    home: Home,
    id: i64,
) -> Result<()> {
    let found = tx.cadence(id)?.ok_or_else(|| unknown("Iteration cadence"))?;
    let is_own = home.group() == Some(found.namespace_id);
    let fits = is_own || places.above(tx, home)?.contains(&found.namespace_id);
    if fits { Ok(()) } else { Err(unknown("Iteration cadence")) }
}

/// Whether somebody can look after what is in a place.
///
/// # Errors
/// `BadRequest` where they do not see it.
pub(super) fn ensure_person(
    tx: &mut Tx<'_>,
    people: &impl People,
    home: Home,
    id: UserId,
) -> Result<()> {
    let found = people.standings_at(tx, home, &[id])?.pop();
    match found.is_some_and(|who| who.visible) {
        true => Ok(()),
        false => Err(unknown("User")),
    }
}
