//! Lists of epics: what can be asked of them.

use db::Tx;
use kernel::{
    Grant, Result, Ts,
    ids::{ProjectId, UserId},
    page::{Page, PageRequest},
};

use super::{Epic, EpicStore as _, condition};
use crate::{
    Home,
    board::condition::BoardCondition,
    issue::IssueState,
    item::{
        ItemKind,
        list::{Choice, Conditions, ListScope, Query, Search, Sorting, page_of},
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

/// Where epics have issues.
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
    let (group, actor) = (grant.group(), grant.actor());
    let mut groups = vec![group];
    if filter.around.ancestors {
        groups.extend(places.above(tx, Home::Group(group))?);
    }
    if filter.around.descendants {
        groups.extend(places.below(tx, actor, group)?);
    }
    let mut conditions = Conditions::of(ItemKind::Epic);
    conditions.plain(condition(tx, places, actor, "i")?);
    wanted(tx, &mut conditions, filter);
    let query = Query { scope: ListScope::Groups(groups), conditions };
    let found = page_of(tx, &query, sorting, page)?;
    Ok(Page { items: tx.epics_in_order(&found.items)?, total: found.total })
}

fn wanted(tx: &Tx<'_>, all: &mut Conditions, filter: &EpicFilter) {
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
