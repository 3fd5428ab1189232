//! Lists of issues: what can be asked of them.

mod due;

use db::{Fragment, Tx, listing::Bind};
use kernel::{
    AccessLevel, Actor, Result, Standing, Ts,
    ids::{NamespaceId, ProjectId, UserId},
    page::{Page, PageRequest},
};

use self::due::due_in;
use super::{HealthStatus, Issue, IssueState, IssueStore as _, IssueType};
use crate::{
    board::condition::BoardCondition,
    epic,
    item::{
        ItemKind,
        list::{
            Choice, Common, Conditions, ListScope, Part, Query, Sorting, confidential_for,
            count_all, midnight, page_of, sum_all,
        },
    },
    iteration::{IterationState, list::lies},
    ports::{GroupHierarchy, Projects},
};

pub use due::Due;

/// Which issues are wanted. Filters act only when they are set.
#[derive(Clone, Debug, Default)]
pub struct IssueFilter {
    /// As of other items.
    pub common: Common,
    /// Only these.
    pub ids: Option<Vec<i64>>,
    pub state: Option<IssueState>,
    pub issue_type: Option<IssueType>,
    /// Any of these; of any type where it is empty.
    pub types: Vec<IssueType>,
    pub closed_after: Option<Ts>,
    pub closed_before: Option<Ts>,
    pub confidential: Option<bool>,
    pub due: Option<Due>,
    /// The day with which a week begins: 0 is Sunday, 6 is Saturday.
    pub first_day_of_week: u8,
    pub closed_by: Option<UserId>,
    pub weight: Option<Choice<i64>>,
    pub epic: Option<Choice<i64>>,
    /// Epics inside the one that is asked for, whose issues count as well.
    pub subepics: Vec<i64>,
    pub iteration: Option<Choice<IterationChoice>>,
    pub health: Option<Choice<HealthStatus>>,
    /// What a list of a board asks.
    pub board: Option<BoardCondition>,
    pub not: NotFilter,
}

/// Which issues are left out.
#[derive(Clone, Debug, Default)]
pub struct NotFilter {
    pub iids: Option<Vec<i64>>,
    pub weight: Option<Choice<i64>>,
    pub epic: Option<Choice<i64>>,
    pub iteration: Option<Choice<IterationChoice>>,
    pub types: Vec<IssueType>,
    pub health: Option<HealthStatus>,
    /// The name of an emoji with which the caller reacted.
    pub reaction: Option<String>,
}

/// Which iterations are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IterationChoice {
    Id(i64),
    /// One of these.
    OneOf(Vec<i64>),
    Titled(String),
    /// Those under way.
    Current,
}

/// The projects that a list covers.
#[derive(Clone, Debug)]
pub enum IssueSet<'a> {
    /// In a project, for somebody who stands so in it.
    Project(ProjectId, &'a Standing),
    /// In a group and those inside it, by its full path.
    Group(&'a str),
    /// In a group's own projects, by its full path and its id.
    OwnOfGroup(&'a str, NamespaceId),
    Everywhere,
}

/// The query of an issue list.
#[derive(Clone, Debug)]
pub struct IssueQuery<'a> {
    pub actor: Actor,
    pub among: IssueSet<'a>,
    /// Also in archived projects; a project is always looked into that was named itself.
    pub archived: bool,
    pub filter: &'a IssueFilter,
}

/// A page of the issues that somebody may read.
pub fn list(
    tx: &mut Tx<'_>,
    projects: &(impl Projects + GroupHierarchy),
    asked: &IssueQuery<'_>,
    sorting: Sorting,
    page: PageRequest,
) -> Result<Page<Issue>> {
    let query = query(tx, projects, asked)?;
    let found = page_of(tx, &query, sorting, page)?;
    Ok(Page { items: tx.issues_in_order(&found.items)?, total: found.total })
}

/// How many there are of the issues that somebody may read.
pub fn count_all_of(
    tx: &mut Tx<'_>,
    projects: &(impl Projects + GroupHierarchy),
    asked: &IssueQuery<'_>,
) -> Result<i64> {
    let query = query(tx, projects, asked)?;
    count_all(tx, &query)
}

/// The sum of the weights of the issues that somebody may read.
pub fn weight(
    tx: &mut Tx<'_>,
    projects: &(impl Projects + GroupHierarchy),
    asked: &IssueQuery<'_>,
) -> Result<i64> {
    let query = query(tx, projects, asked)?;
    sum_all(tx, &query, "weight")
}

/// How many of the issues that somebody may read are open, and how many closed.
pub fn count(
    tx: &mut Tx<'_>,
    projects: &(impl Projects + GroupHierarchy),
    asked: &IssueQuery<'_>,
) -> Result<(i64, i64)> {
    let mut of = |state| {
        let filter = IssueFilter { state: Some(state), ..asked.filter.clone() };
        count_all_of(tx, projects, &IssueQuery { filter: &filter, ..asked.clone() })
    };
    Ok((of(IssueState::Opened)?, of(IssueState::Closed)?))
}

fn query(
    tx: &mut Tx<'_>,
    projects: &(impl Projects + GroupHierarchy),
    asked: &IssueQuery<'_>,
) -> Result<Query> {
    let scope = scope(tx, projects, asked)?;
    query_within(tx, projects, asked, scope)
}

/// The projects in which a list looks.
pub(super) fn scope(
    tx: &mut Tx<'_>,
    projects: &impl Projects,
    asked: &IssueQuery<'_>,
) -> Result<ListScope> {
    let group = match asked.among {
        IssueSet::Project(project, _) => return Ok(ListScope::Project(project)),
        IssueSet::Group(path) | IssueSet::OwnOfGroup(path, _) => Some(path),
        IssueSet::Everywhere => None,
    };
    let (actor, archived) = (asked.actor, asked.archived);
    let found = projects.readable(tx, actor, ItemKind::Issue, group, archived)?;
    Ok(ListScope::Projects(found))
}

/// What is asked of a list that looks there.
pub(super) fn query_within(
    tx: &mut Tx<'_>,
    projects: &(impl Projects + GroupHierarchy),
    asked: &IssueQuery<'_>,
    scope: ListScope,
) -> Result<Query> {
    let (actor, filter) = (asked.actor, asked.filter);
    let mut all = Conditions::of(ItemKind::Issue);
    match asked.among {
        IssueSet::Project(_, who) => {
            if !who.is(AccessLevel::Reporter) {
                all.plain(confidential_for(actor, None));
            }
        }
        IssueSet::OwnOfGroup(_, group) => {
            all.plain(format!("i.project_id IN ({})", projects.own_projects(group).ids()));
        }
        IssueSet::Group(_) | IssueSet::Everywhere => {}
    }
    if matches!(scope, ListScope::Projects(_)) && !actor.admin {
        all.plain(confidential_for(actor, Some(tx.now)));
    }
    filter.common.ask(tx, &mut all, actor.id);
    if let Some(board) = &filter.board {
        board.ask(&mut all);
    }
    add_filters(&mut all, filter, midnight(tx.now));
    if filter.epic.is_some() || filter.not.epic.is_some() {
        in_epic(&mut all, filter, &epic::condition(tx, projects, actor, "e")?);
    }
    if filter.iteration.is_some() || filter.not.iteration.is_some() {
        let seen = projects.sees_group(tx, actor, "t.namespace_id")?;
        in_iteration(&mut all, filter, tx.now, &seen);
    }
    not_wanted(&mut all, &filter.not, actor.id);
    Ok(Query { scope, conditions: all })
}

fn add_filters(all: &mut Conditions, filter: &IssueFilter, today: Ts) {
    if let Some(ids) = &filter.ids {
        all.plain(format!("i.id IN ({})", db::listing::list_of(ids)));
    }
    if let Some(state) = filter.state {
        all.plain(format!("i.state = '{state}'"));
    }
    if let Some(issue_type) = filter.issue_type {
        all.plain(format!("i.issue_type = '{issue_type}'"));
    }
    if !filter.types.is_empty() {
        all.plain(format!("i.issue_type IN ({})", words(&filter.types)));
    }
    all.between("closed_at", filter.closed_after, filter.closed_before);
    match filter.confidential {
        Some(true) => all.plain("i.confidential"),
        Some(false) => all.plain("NOT i.confidential"),
        None => {}
    }
    if let Some(due) = filter.due {
        due_in(all, due, (today, filter.first_day_of_week));
    }
    if let Some(user) = filter.closed_by {
        all.plain(format!("i.closed_by_id = {user}"));
    }
    number(all, "weight", filter.weight.as_ref());
    match filter.health {
        Some(Choice::Nothing) => all.plain("i.health_status IS NULL"),
        Some(Choice::Anything) => all.plain("i.health_status IS NOT NULL"),
        Some(Choice::These(status)) => all.plain(format!("i.health_status = '{status}'")),
        None => {}
    }
}

fn words(types: &[IssueType]) -> String {
    let quoted: Vec<String> = types.iter().map(|one| format!("'{one}'")).collect();
    quoted.join(", ")
}

fn not_wanted(all: &mut Conditions, not: &NotFilter, reader: Option<UserId>) {
    if !not.types.is_empty() {
        all.plain(format!("i.issue_type NOT IN ({})", words(&not.types)));
    }
    if let Some(status) = not.health {
        all.plain(format!("(i.health_status IS NULL OR i.health_status <> '{status}')"));
    }
    if let Some(name) = &not.reaction {
        all.not_reacted(reader, name);
    }
    if let Some(iids) = not.iids.as_ref().filter(|iids| !iids.is_empty()) {
        all.plain(format!("i.iid NOT IN ({})", db::listing::list_of(iids)));
    }
    not_number(all, "weight", not.weight.as_ref());
}

/// An epic that somebody may not read is none; `readable` says which they may, of rows `e`.
fn in_epic(all: &mut Conditions, filter: &IssueFilter, readable: &Fragment) {
    let inside = |which: &str| {
        format!("EXISTS (SELECT 1 FROM epics e WHERE e.id = i.epic_id{which} AND {readable})")
    };
    match &filter.epic {
        Some(Choice::Nothing) => all.plain(format!("NOT {}", inside(""))),
        Some(Choice::Anything) => all.plain(inside("")),
        Some(Choice::These(id)) if filter.subepics.is_empty() => {
            all.column("epic_id", *id);
            all.plain(inside(""));
        }
        Some(Choice::These(id)) => {
            let mut tree = vec![*id];
            tree.extend(&filter.subepics);
            all.plain(format!("i.epic_id IN ({})", db::listing::list_of(&tree)));
            all.plain(inside(""));
        }
        None => {}
    }
    match &filter.not.epic {
        Some(Choice::Nothing) => all.plain(inside("")),
        Some(Choice::Anything) => all.plain(format!("NOT {}", inside(""))),
        Some(Choice::These(id)) => {
            all.plain(format!("NOT {}", inside(&format!(" AND e.id = {id}"))));
        }
        None => {}
    }
}

/// An iteration that somebody may not see is none; `seen` says which they may, of rows `t`.
fn in_iteration(all: &mut Conditions, filter: &IssueFilter, now: Ts, seen: &Fragment) {
    let inside = |not: &str, choice: Option<&IterationChoice>| {
        let (which, binds) = match choice {
            None => (String::new(), Vec::new()),
            Some(IterationChoice::Id(id)) => (format!(" AND t.id = {id}"), Vec::new()),
            Some(IterationChoice::OneOf(ids)) => {
                (format!(" AND t.id IN ({})", db::listing::list_of(ids)), Vec::new())
            }
            Some(IterationChoice::Titled(title)) => {
                (" AND t.title = {}".to_owned(), vec![Bind::Word(title.clone())])
            }
            Some(IterationChoice::Current) => {
                (format!(" AND {}", lies(IterationState::Current, now, "t")), Vec::new())
            }
        };
        let sql = format!(
            "{not}EXISTS (SELECT 1 FROM iterations t WHERE t.id = i.iteration_id{which} AND {seen})"
        );
        Part::with(sql, binds)
    };
    match &filter.iteration {
        Some(Choice::Nothing) => all.part(inside("NOT ", None)),
        Some(Choice::Anything) => all.part(inside("", None)),
        Some(Choice::These(choice)) => {
            if let IterationChoice::Id(id) = choice {
                all.column("iteration_id", *id);
            }
            all.part(inside("", Some(choice)));
        }
        None => {}
    }
    match &filter.not.iteration {
        Some(Choice::Nothing) => all.part(inside("", None)),
        Some(Choice::Anything) => all.part(inside("NOT ", None)),
        Some(Choice::These(choice)) => all.part(inside("NOT ", Some(choice))),
        None => {}
    }
}

fn number(all: &mut Conditions, column: &str, choice: Option<&Choice<i64>>) {
    match choice {
        Some(Choice::Nothing) => all.plain(format!("i.{column} IS NULL")),
        Some(Choice::Anything) => all.plain(format!("i.{column} IS NOT NULL")),
        Some(Choice::These(number)) => all.plain(format!("i.{column} = {number}")),
        None => {}
    }
}

fn not_number(all: &mut Conditions, column: &str, choice: Option<&Choice<i64>>) {
    match choice {
        Some(Choice::Nothing) => all.plain(format!("i.{column} IS NOT NULL")),
        Some(Choice::Anything) => all.plain(format!("i.{column} IS NULL")),
        Some(Choice::These(number)) => {
            all.plain(format!("(i.{column} IS NULL OR i.{column} <> {number})"));
        }
        None => {}
    }
}
