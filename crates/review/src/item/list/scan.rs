//! The statements that find a page of a list: from a filter, or in the order of the list.

use db::{
    Tx,
    listing::{Bind, count_up_to, ids, list_of, value},
};
use kernel::{
    Result,
    page::{COUNT_LIMIT, PageRequest},
};

use super::{
    plan::{DrivingFilter, Query, count_among, count_from, most_in},
    query::{Direction, ListScope, Order, Sorting},
};
use crate::ports::ReadableProjects;

/// Fewer matches than this are gathered without comparing the cost of a scan.
const COUNT_FIRST_LIMIT: i64 = 25;
/// Pages up to this row are merged from one sorted part per project.
const MERGE_LIMIT: i64 = 1000;
/// The range of newest IDs that is tried for a full page before all IDs are scanned.
const ID_WINDOW: i64 = 30_000;

pub(super) struct Scan<'a> {
    query: &'a Query,
    driving: Option<DrivingFilter>,
    projects: ProjectCheck,
}

/// The way in which a statement checks that the project of an item is in scope.
#[derive(Clone, Copy)]
pub(super) enum ProjectCheck {
    /// `EXISTS`, which the database may turn into a join.
    Join,
    /// A fenced `EXISTS` per row: PostgreSQL chooses a bad join when it underestimates the number of items.
    PerRow,
    /// The list of all projects in scope first; for installations with few projects.
    ListFirst,
}

impl<'a> Scan<'a> {
    /// A scan in list order, without a driving filter.
    pub(super) fn of(query: &'a Query) -> Self {
        Self { query, driving: None, projects: ProjectCheck::Join }
    }

    /// As [`of`](Self::of), from a filter.
    pub(super) fn driven(query: &'a Query, driving: Option<DrivingFilter>) -> Self {
        Self { driving, ..Self::of(query) }
    }

    /// As [`of`](Self::of), with this check of projects.
    pub(super) fn with_projects(query: &'a Query, projects: ProjectCheck) -> Self {
        Self { projects, ..Self::of(query) }
    }

    /// Whether the search starts from a filter.
    pub(super) fn is_driven(&self) -> bool {
        self.driving.is_some()
    }

    fn table(&self) -> &'static str {
        self.query.conditions.table()
    }

    /// The length of the list, when matches are so frequent that scanning in list order reaches the page sooner than
    /// gathering and sorting all of them.
    pub(super) fn prefers_scan(
        &self,
        tx: &mut Tx<'_>,
        sorting: Sorting,
        page: PageRequest,
    ) -> Result<Option<i64>> {
        let Some(driving) = &self.driving else { return Ok(None) };
        let filter = self.query.conditions.indexed.get(driving.position);
        let Some((filter, column)) = filter.and_then(|filter| Some((filter, filter.project?)))
        else {
            return Ok(None);
        };
        if driving.found < COUNT_FIRST_LIMIT {
            return Ok(None);
        }
        // In many projects items have an index in the order of their IDs alone.
        let is_of_ids = sorting.by == Order::Id && self.query.is_of(filter);
        if !is_of_ids && !matches!(self.query.scope, ListScope::Project(_)) {
            return Ok(None);
        }
        let walked = (page.offset() + page.probe()).saturating_mul(self.most_in_scope(tx)?);
        // No list is longer than what its filter finds, so that there is nothing to count for.
        if walked >= driving.found.saturating_mul(driving.found) {
            return Ok(None);
        }
        let wanted = match &self.query.scope {
            ListScope::Project(_) if driving.is_all => driving.found,
            ListScope::Project(project) => count_from(tx, self.query, driving.position, *project)?,
            ListScope::Projects(readable) => count_among(tx, filter, column, readable)?,
            ListScope::Groups(_) => return Ok(None),
        };
        Ok((wanted > 0 && walked < wanted.saturating_mul(driving.found)).then_some(wanted))
    }

    /// An upper bound of the number of items in the scope.
    fn most_in_scope(&self, tx: &mut Tx<'_>) -> Result<i64> {
        match &self.query.scope {
            ListScope::Project(project) => most_in(tx, self.table(), *project),
            ListScope::Projects(_) | ListScope::Groups(_) => {
                let sql = format!("SELECT COALESCE(MAX(id), 0) AS id FROM {}", self.table());
                Ok(ids(tx, &sql, &[])?.first().copied().unwrap_or_default())
            }
        }
    }

    /// All filters without the scope; their values are bound after those that are there already.
    fn filters(&self, binds: &mut Vec<Bind>) -> Vec<String> {
        let mut all = Vec::new();
        for (position, filter) in self.query.conditions.indexed.iter().enumerate() {
            all.push(match &self.driving {
                Some(driving) if driving.position == position => {
                    format!("i.id IN ({})", filter.within(&self.query.scope, binds))
                }
                _ => filter.check.render(binds),
            });
        }
        all.extend(self.query.conditions.plain.iter().map(|part| part.render(binds)));
        all
    }

    /// All filters with the scope as a condition on each row.
    pub(super) fn filters_in_scope(&self, binds: &mut Vec<Bind>) -> Vec<String> {
        let mut all = self.filters(binds);
        // The unary plus keeps SQLite from using the index on the project instead of the driving filter.
        let plus = if self.driving.is_some() { "+" } else { "" };
        all.push(match &self.query.scope {
            ListScope::Project(project) => format!("{plus}i.project_id = {}", value(project)),
            ListScope::Projects(ReadableProjects { few: Some(few), .. }) => {
                format!("{plus}i.project_id IN ({})", list_of(few))
            }
            ListScope::Projects(ReadableProjects { all: readable, few: None }) => {
                let check = match self.projects {
                    ProjectCheck::ListFirst => readable.lists("i.project_id"),
                    ProjectCheck::PerRow => readable.contains_for_each("i.project_id"),
                    ProjectCheck::Join => readable.contains("i.project_id"),
                };
                check.into()
            }
            ListScope::Groups(groups) => {
                let groups: Vec<i64> = groups.iter().map(|group| group.0).collect();
                format!("{plus}i.namespace_id IN ({})", list_of(&groups))
            }
        });
        all
    }

    pub(super) fn select(
        &self,
        tx: &mut Tx<'_>,
        sorting: Sorting,
        most: i64,
        skip: i64,
    ) -> Result<Vec<i64>> {
        if let (Order::Id, None, ListScope::Projects(readable)) =
            (sorting.by, &self.driving, &self.query.scope)
        {
            return match &readable.few {
                Some(few) if most + skip <= MERGE_LIMIT => {
                    self.merged(tx, few, sorting, most, skip)
                }
                Some(_) => self.plain(tx, sorting, most, skip, None),
                None => {
                    let window = self.id_window(sorting.direction, ID_WINDOW);
                    let found = self.plain(tx, sorting, most, skip, Some(window))?;
                    // A page that is not full may continue beyond the window.
                    match i64::try_from(found.len()).unwrap_or(i64::MAX) < most {
                        true => self.plain(tx, sorting, most, skip, None),
                        false => Ok(found),
                    }
                }
            };
        }
        self.plain(tx, sorting, most, skip, None)
    }

    /// A condition for the newest IDs, or the oldest.
    pub(super) fn id_window(&self, direction: Direction, window: i64) -> String {
        let table = self.table();
        match direction {
            Direction::Descending => {
                format!("i.id > (SELECT MAX(y.id) FROM {table} y) - {window}")
            }
            Direction::Ascending => {
                format!("i.id < (SELECT MIN(y.id) FROM {table} y) + {window}")
            }
        }
    }

    pub(super) fn plain(
        &self,
        tx: &mut Tx<'_>,
        sorting: Sorting,
        most: i64,
        skip: i64,
        extra: Option<String>,
    ) -> Result<Vec<i64>> {
        let mut binds = Vec::new();
        let sql = self.ordered(tx, sorting, (most, skip), extra, &mut binds);
        ids(tx, &sql, &binds)
    }

    /// The query for the ids of `most` rows after `skip` others.
    pub(super) fn ordered(
        &self,
        tx: &Tx<'_>,
        sorting: Sorting,
        (most, skip): (i64, i64),
        extra: Option<String>,
        binds: &mut Vec<Bind>,
    ) -> String {
        let mut all = self.filters_in_scope(binds);
        all.extend(extra);
        format!(
            "SELECT i.id AS id FROM {} i{} WHERE {} ORDER BY {} LIMIT {most} OFFSET {skip}",
            self.table(),
            sorting.join(),
            all.join(" AND "),
            sorting.sql(tx, self.query.conditions.kind),
        )
    }

    /// The last rows in an order, the last one first; nothing in orders that have no positions.
    pub(super) fn reversed(
        &self,
        sorting: Sorting,
        most: i64,
        binds: &mut Vec<Bind>,
    ) -> Option<String> {
        let order = sorting.reversed_sql()?;
        let all = self.filters_in_scope(binds).join(" AND ");
        let table = self.table();
        Some(format!("SELECT i.id AS id FROM {table} i WHERE {all} ORDER BY {order} LIMIT {most}"))
    }

    /// The first rows of each project, merged.
    fn merged(
        &self,
        tx: &mut Tx<'_>,
        projects: &[i64],
        sorting: Sorting,
        most: i64,
        skip: i64,
    ) -> Result<Vec<i64>> {
        let mut binds = Vec::new();
        let all = self.filters(&mut binds);
        let order = sorting.sql(tx, self.query.conditions.kind);
        let first = most + skip;
        let parts = projects.iter().map(|project| {
            let mut all = all.clone();
            all.push(format!("i.project_id = {}", value(project)));
            format!(
                "SELECT part.id FROM (SELECT i.id AS id FROM {} i WHERE {} ORDER BY {order} LIMIT {first}) AS part",
                self.table(),
                all.join(" AND "),
            )
        });
        let parts = parts.collect::<Vec<_>>().join(" UNION ALL ");
        let sql = format!(
            "SELECT i.id AS id FROM ({parts}) AS i ORDER BY {order} LIMIT {most} OFFSET {skip}"
        );
        ids(tx, &sql, &binds)
    }

    /// `FROM` and `WHERE` of a count: no order, from projects to their items.
    pub(super) fn by_project(&self, binds: &mut Vec<Bind>) -> String {
        if let (None, ListScope::Projects(ReadableProjects { all: readable, few: None })) =
            (&self.driving, &self.query.scope)
        {
            let mut all = self.filters(binds);
            let items = format!("{} i", self.table());
            let (from, belongs) = readable.each_with(&items, "i.project_id");
            all.insert(0, belongs);
            return format!("{from} WHERE {}", all.join(" AND "));
        }
        format!("{} i WHERE {}", self.table(), self.filters_in_scope(binds).join(" AND "))
    }

    pub(super) fn count(&self, tx: &mut Tx<'_>) -> Result<i64> {
        let mut binds = Vec::new();
        let from = self.by_project(&mut binds);
        count_up_to(tx, &from, &binds, COUNT_LIMIT + 1)
    }
}
