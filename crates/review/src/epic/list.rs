//! Lists of epics: what can be asked of them.

use std::collections::HashMap;

use db::{Fragment, Tx};
use kernel::{
    Grant, Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
    page::{Page, PageRequest},
};

use super::{Epic, EpicStore as _, condition};
use crate::{
    Home,
    board::condition::BoardCondition,
    issue::IssueState,
    item::{
        ItemKind,
        list::{
            Choice, Conditions, HeadPart, ListEdge, ListHead, ListScope, Query, Search, Sorting,
            figures_of_all, heads_of_all, page_of,
        },
    },
    policy::ReadGroupEpics,
    ports::GroupHierarchy,
};

/// Which groups around the named one are looked into.
#[derive(Clone, Copy, Debug, Default)]
pub struct HierarchyScope {
    pub ancestors: bool,
    pub descendants: bool,
}

/// Which epics are wanted. Filters act only when they are set.
#[derive(Clone, Debug, Default)]
pub struct EpicFilter {
    pub around: HierarchyScope,
    pub iids: Option<Vec<i64>>,
    pub state: Option<IssueState>,
    pub author: Option<UserId>,
    pub confidential: Option<bool>,
    pub labels: Option<Choice<Vec<String>>>,
    pub search: Option<Search>,
    pub created_after: Option<Ts>,
    pub created_before: Option<Ts>,
    pub updated_after: Option<Ts>,
    pub updated_before: Option<Ts>,
    /// Whose epics are left out, and those with which labels.
    pub not_author: Option<UserId>,
    pub not_labels: Vec<String>,
    /// What a list of a board asks.
    pub board: Option<BoardCondition>,
    pub with_issues: Option<IssueHome>,
}

/// The projects in which epics have issues.
#[derive(Clone, Copy, Debug)]
pub enum IssueHome {
    Anywhere,
    In(ProjectId),
}

/// A page of the epics of a group, and of groups around it, that somebody may read.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadGroupEpics>,
    places: &impl GroupHierarchy,
    filter: &EpicFilter,
    sorting: Sorting,
    page: PageRequest,
) -> Result<Page<Epic>> {
    list_in(tx, grant, places, filter, &[], sorting, page)
}

/// As [`list`], of the part of the list between these edges.
pub fn list_in(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadGroupEpics>,
    places: &impl GroupHierarchy,
    filter: &EpicFilter,
    edges: &[ListEdge],
    sorting: Sorting,
    page: PageRequest,
) -> Result<Page<Epic>> {
    let groups = groups(tx, grant, places, filter.around)?;
    let readable = condition(tx, places, grant.actor(), "i")?;
    let mut query = query(tx, groups, &readable, filter);
    edges.iter().filter_map(ListEdge::sql).for_each(|edge| query.conditions.plain(edge));
    let found = page_of(tx, &query, sorting, page)?;
    Ok(Page { items: tx.epics_in_order(&found.items)?, total: found.total })
}

/// How many epics each of several lists of a group has, such as those of a board. All look into the same groups.
pub fn counts(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadGroupEpics>,
    places: &impl GroupHierarchy,
    filters: &[EpicFilter],
) -> Result<Vec<i64>> {
    let Some(first) = filters.first() else { return Ok(Vec::new()) };
    let groups = groups(tx, grant, places, first.around)?;
    let readable = condition(tx, places, grant.actor(), "i")?;
    let queries: Vec<Query> =
        filters.iter().map(|filter| query(tx, groups.clone(), &readable, filter)).collect();
    Ok(figures_of_all(tx, &queries, "id")?.into_iter().map(|figures| figures.count).collect())
}

/// A part of a list of epics, between edges.
#[derive(Clone, Debug)]
pub struct EpicListHead {
    pub filter: EpicFilter,
    pub edges: Vec<ListEdge>,
    pub part: HeadPart,
}

/// The first or last epics of each of several lists of a group, such as those of a board. All look into the same groups.
///
/// # Errors
/// When the database cannot be read.
pub fn heads(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadGroupEpics>,
    places: &impl GroupHierarchy,
    lists: &[EpicListHead],
) -> Result<Vec<Vec<Epic>>> {
    let Some(first) = lists.first() else { return Ok(Vec::new()) };
    let groups = groups(tx, grant, places, first.filter.around)?;
    let readable = condition(tx, places, grant.actor(), "i")?;
    let head = |list: &EpicListHead| {
        let mut query = query(tx, groups.clone(), &readable, &list.filter);
        list.edges.iter().filter_map(ListEdge::sql).for_each(|edge| query.conditions.plain(edge));
        ListHead { query, part: list.part }
    };
    let heads: Vec<ListHead> = lists.iter().map(head).collect();
    let ids = heads_of_all(tx, &heads)?;
    let found = tx.epics_in_order(&ids.concat())?;
    let known: HashMap<i64, Epic> = found.into_iter().map(|epic| (epic.id, epic)).collect();
    let rows = |ids: &Vec<i64>| ids.iter().filter_map(|id| known.get(id).cloned()).collect();
    Ok(ids.iter().map(rows).collect())
}

/// The groups that a list looks into.
fn groups(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadGroupEpics>,
    places: &impl GroupHierarchy,
    around: HierarchyScope,
) -> Result<Vec<NamespaceId>> {
    let (group, actor) = (grant.group(), grant.actor());
    let mut groups = vec![group];
    if around.ancestors {
        groups.extend(places.above(tx, Home::Group(group))?);
    }
    if around.descendants {
        groups.extend(places.below(tx, actor, group)?);
    }
    Ok(groups)
}

/// What is asked of the epics of these groups; `readable` says which of them somebody may read.
fn query(tx: &Tx<'_>, groups: Vec<NamespaceId>, readable: &Fragment, filter: &EpicFilter) -> Query {
    let mut conditions = Conditions::of(ItemKind::Epic);
    conditions.plain(readable.to_string());
    add_filters(tx, &mut conditions, filter);
    Query { scope: ListScope::Groups(groups), conditions }
}

fn add_filters(tx: &Tx<'_>, all: &mut Conditions, filter: &EpicFilter) {
    if let Some(iids) = &filter.iids {
        all.numbered(iids);
    }
    if let Some(state) = filter.state {
        all.plain(format!("i.state = '{state}'"));
    }
    if let Some(author) = filter.author {
        all.written_by(author);
    }
    match filter.confidential {
        Some(true) => all.plain("i.confidential"),
        Some(false) => all.plain("NOT i.confidential"),
        None => {}
    }
    if let Some(labels) = &filter.labels {
        all.labelled(labels);
    }
    if let Some(search) = &filter.search {
        all.containing(tx, search);
    }
    all.between("created_at", filter.created_after, filter.created_before);
    all.between("updated_at", filter.updated_after, filter.updated_before);
    if let Some(author) = filter.not_author {
        all.plain(format!("i.author_id <> {author}"));
    }
    all.not_labelled(&filter.not_labels);
    if let Some(board) = &filter.board {
        board.ask(all);
    }
    match filter.with_issues {
        None => {}
        Some(IssueHome::Anywhere) => {
            all.plain("EXISTS (SELECT 1 FROM issues x WHERE x.epic_id = i.id)");
        }
        Some(IssueHome::In(project)) => all.plain(format!(
            "EXISTS (SELECT 1 FROM issues x WHERE x.epic_id = i.id AND x.project_id = {project})"
        )),
    }
}
