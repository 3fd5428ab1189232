//! Carrying an issue or an epic from one list of a board to another.

use db::{Tx, each_backend, error, schema::issues};
use diesel::prelude::*;
use kernel::{
    Error, Grant, Result,
    ids::{IssueId, LabelId, UserId},
    page::PageRequest,
};

use super::{
    lists::BoardWithLists,
    model::{BoardList, ListKind},
};
use crate::{
    Home,
    epic::{
        Epic, EpicName,
        actions::{self as epics, EpicChange},
    },
    issue::{
        APART, Issue, IssueState, IssueStep, IssueStore as _,
        actions::{self, IssueChange},
        list::{IssueFilter, IssueQuery, IssueSet, list},
        order::{Neighbors, place},
    },
    item::{
        ItemKind, ItemStore as _,
        labels::LabelChange,
        list::{Direction, Order, Sorting},
    },
    label::LabelStore as _,
    policy::{ManageGroupEpics, ManageIssues},
    ports::{Forge, GroupHierarchy, Projects},
};

/// So many issues of a list are read at most to find a place in it.
const MOST_BEFORE: i64 = 1_000;

/// The target of an issue's move on a board.
#[derive(Clone, Debug)]
pub struct IssueMove {
    /// The lists that it leaves and enters.
    pub lists: Option<(i64, i64)>,
    pub place: ListPlace,
    pub epic: Option<Option<EpicName>>,
}

/// A position among the issues of a list.
#[derive(Clone, Copy, Debug)]
pub enum ListPlace {
    /// Wherever its place in the order of its project leads.
    Unchanged,
    Between(Neighbors),
    /// Behind so many others of the list that it enters.
    At(i64),
    End,
}

/// Carries an issue: what put it into the list that it leaves goes, and what puts it into the other one comes.
///
/// # Errors
/// `NotFound` for an issue that is not there, and for lists of other boards; `BadRequest` where nothing can stand.
pub fn move_issue<F: Forge, P: Projects + GroupHierarchy>(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageIssues>,
    around: (&F, &P),
    whole: &BoardWithLists,
    iid: i64,
    to: &IssueMove,
) -> Result<Issue> {
    let issue = actions::read(tx, grant.who(), grant.project(), iid)?;
    let mut change = match to.lists {
        Some((from, to)) => {
            let (from, to) = (found(whole, from)?, found(whole, to)?);
            change_between(tx, &issue, from, to, whole)?
        }
        None => IssueChange::default(),
    };
    change.epic = to.epic;
    let between = neighbors(tx, grant, around, whole, &issue, to)?;
    let issue = actions::change(tx, grant.user()?, around.0, issue, &change)?;
    match between {
        None => Ok(issue),
        Some(between) => put(tx, grant, around, &issue, between)?
            .ok_or_else(|| Error::invalid("base", "The issue cannot be placed there")),
    }
}

fn found(whole: &BoardWithLists, id: i64) -> Result<&BoardList> {
    whole.list(id).ok_or_else(|| Error::not_found("List"))
}

fn names(tx: &mut Tx<'_>, ids: &[LabelId]) -> Result<Vec<String>> {
    Ok(tx.labels_by_id(ids)?.into_iter().map(|label| label.name).collect())
}

/// The labels that go and come. What is closed, or in no list any more, has none of the board's.
fn labels_between(
    tx: &mut Tx<'_>,
    from: &BoardList,
    to: &BoardList,
    whole: &BoardWithLists,
) -> Result<LabelChange> {
    let gone: Vec<LabelId> = match to.kind {
        ListKind::Backlog | ListKind::Closed => {
            whole.lists.iter().filter_map(|list| list.label_id).collect()
        }
        ListKind::Label | ListKind::Assignee | ListKind::Milestone | ListKind::Iteration => {
            from.label_id.filter(|label| to.label_id != Some(*label)).into_iter().collect()
        }
    };
    let come: Vec<LabelId> = to.label_id.into_iter().collect();
    Ok(LabelChange { all: None, add: names(tx, &come)?, remove: names(tx, &gone)? })
}

fn step_between(state: IssueState, from: &BoardList, to: &BoardList) -> Option<IssueStep> {
    match (from.kind, to.kind, state) {
        (_, ListKind::Closed, IssueState::Opened) => Some(IssueStep::Close),
        (ListKind::Closed, ListKind::Closed, _) => None,
        (ListKind::Closed, _, IssueState::Closed) => Some(IssueStep::Reopen),
        _ => None,
    }
}

fn change_between(
    tx: &mut Tx<'_>,
    issue: &Issue,
    from: &BoardList,
    to: &BoardList,
    whole: &BoardWithLists,
) -> Result<IssueChange> {
    let mut change = IssueChange {
        labels: labels_between(tx, from, to, whole)?,
        step: step_between(issue.state, from, to),
        ..IssueChange::default()
    };
    if from.user_id.is_some() || to.user_id.is_some() {
        change.assignees = people_between(tx, issue, from, to)?;
    }
    let leaves_all = to.kind == ListKind::Backlog;
    if to.milestone_id.is_some() || (leaves_all && from.milestone_id.is_some()) {
        change.milestone = Some(to.milestone_id);
    }
    if to.iteration_id.is_some() || (leaves_all && from.iteration_id.is_some()) {
        change.iteration = Some(to.iteration_id);
    }
    Ok(change)
}

/// Who looks after the issue then; nothing where that stays. What is closed keeps its people.
fn people_between(
    tx: &mut Tx<'_>,
    issue: &Issue,
    from: &BoardList,
    to: &BoardList,
) -> Result<Option<Vec<UserId>>> {
    if to.kind == ListKind::Closed {
        return Ok(None);
    }
    let mut people =
        tx.assignees_of(ItemKind::Issue, &[issue.id.0])?.remove(&issue.id.0).unwrap_or_default();
    let before = people.clone();
    people.retain(|person| from.user_id != Some(*person));
    people.extend(to.user_id.filter(|person| !people.contains(person)));
    Ok((people != before).then_some(people))
}

/// The issues between which it is to stand; nothing where its place stays, or the list is empty.
fn neighbors<F: Forge, P: Projects + GroupHierarchy>(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageIssues>,
    around: (&F, &P),
    whole: &BoardWithLists,
    issue: &Issue,
    to: &IssueMove,
) -> Result<Option<Neighbors>> {
    let (descends, behind) = match to.place {
        ListPlace::Unchanged => return Ok(None),
        ListPlace::Between(between) => return Ok(Some(between)),
        ListPlace::At(position) => (false, position.max(0)),
        ListPlace::End => (true, 0),
    };
    let Some((_, list)) = to.lists else { return Ok(None) };
    let list = found(whole, list)?;
    let (condition, state) = whole.condition(list);
    let filter =
        IssueFilter { board: Some(condition), state: Some(state), ..IssueFilter::default() };
    // The issue itself may be one of those that stand before.
    let page = PageRequest { page: 1, per_page: behind.saturating_add(2).min(MOST_BEFORE) };
    let direction = if descends { Direction::Descending } else { Direction::Ascending };
    let sorting = Sorting { by: Order::Column("relative_position"), direction };
    let group;
    let among = match whole.board.home() {
        Home::Project(project) => IssueSet::Project(project, grant.who()),
        Home::Group(home) => {
            let path = around.0.group_paths(tx, &[home])?.remove(&home);
            group = path.ok_or_else(|| Error::not_found("Board"))?;
            IssueSet::Group(&group)
        }
    };
    let asked = IssueQuery { actor: grant.actor(), among, archived: false, filter: &filter };
    let mut rows = self::list(tx, around.1, &asked, sorting, page)?.items;
    rows.retain(|row| row.id != issue.id);
    if descends {
        return Ok(rows.first().map(|last| Neighbors { first: Some(last.id), second: None }));
    }
    let place = usize::try_from(behind).unwrap_or(usize::MAX).min(rows.len());
    let first = place.checked_sub(1).and_then(|before| rows.get(before)).map(|row| row.id);
    let second = rows.get(place).map(|row| row.id);
    Ok((first.is_some() || second.is_some()).then_some(Neighbors { first, second }))
}

/// Puts an issue between others that the caller may read. On boards of groups these may be issues of other projects,
/// whose places in the order of their own lists stay; then it gets as near as there is room.
fn put<F: Forge, P: Projects + GroupHierarchy>(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageIssues>,
    around: (&F, &P),
    issue: &Issue,
    between: Neighbors,
) -> Result<Option<Issue>> {
    let ids: Vec<i64> =
        [between.first, between.second].into_iter().flatten().map(|id| id.0).collect();
    let filter = IssueFilter { ids: Some(ids.clone()), ..IssueFilter::default() };
    let (actor, among) = (grant.actor(), IssueSet::Everywhere);
    let asked = IssueQuery { actor, among, archived: true, filter: &filter };
    let sorting = Sorting { by: Order::Id, direction: Direction::Ascending };
    let rows =
        self::list(tx, around.1, &asked, sorting, PageRequest { page: 1, per_page: 2 })?.items;
    if rows.iter().all(|row| row.project_id == issue.project_id) {
        return place(tx, issue, between);
    }
    let position = |id: Option<IssueId>| {
        let row = rows.iter().find(|row| Some(row.id) == id);
        row.map(|row| row.relative_position)
    };
    let (first, second) = (position(between.first), position(between.second));
    if (between.first.is_some() && first.is_none())
        || (between.second.is_some() && second.is_none())
    {
        return Ok(None);
    }
    let position = match (first, second) {
        (Some(first), Some(second)) => first + (second - first).max(0) / 2,
        (Some(first), None) => first + APART,
        (None, Some(second)) => second - APART,
        (None, None) => return Ok(None),
    };
    let row = (issues::relative_position.eq(position), issues::updated_at.eq(tx.now));
    let row = diesel::update(issues::table.find(issue.id)).set(row);
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Issue")))?;
    tx.find_issue_by_id(issue.id)
}

/// Carries an epic from one list of a board of epics to another.
///
/// # Errors
/// `NotFound` for an epic that is not there, and for lists of other boards.
pub fn move_epic(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    forge: &impl Forge,
    whole: &BoardWithLists,
    epic: &Epic,
    (from, to): (i64, i64),
) -> Result<Epic> {
    let (from, to) = (found(whole, from)?, found(whole, to)?);
    let change = EpicChange {
        labels: labels_between(tx, from, to, whole)?,
        step: step_between(epic.state, from, to),
        ..EpicChange::default()
    };
    epics::update(tx, grant, forge, epic.iid, change)
}
