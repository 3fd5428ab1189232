//! The query planner of issue and merge request lists: which filter drives the search and which index is scanned.
//!
//! `docs/lists.md` describes each branch with an example statement.

use std::collections::{HashMap, hash_map::Entry};

use db::{
    Tx,
    listing::{Bind, count_up_to, ids, list_of, value},
};
use kernel::{
    Result,
    ids::ProjectId,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
    values::LARGEST_INTEGER,
};

use super::{
    conditions::{Conditions, IndexedFilter},
    part::Part,
    query::{ListScope, Sorting},
    scan::Scan,
    search::by_rarest,
    search_pages::{gathered, search_page},
};
use crate::ports::ReadableProjects;

/// Which items a list shows.
#[derive(Clone, Debug)]
pub struct Query {
    pub scope: ListScope,
    pub conditions: Conditions,
}

impl Query {
    /// Whether the list is what one filter finds, each item once.
    pub(super) fn is_of(&self, filter: &IndexedFilter) -> bool {
        let Conditions { plain, indexed, words, .. } = &self.conditions;
        !filter.repeats && plain.is_empty() && words.is_empty() && indexed.len() == 1
    }
}

/// A filter with at most this many matches may drive the search: its matches are gathered and sorted.
pub(super) const GATHER_LIMIT: i64 = COUNT_LIMIT;
/// At most this many IDs are listed in a statement.
const LISTED: usize = 2_000;
/// In projects with at most this many items, texts are read instead of asking the search index.
const READ_LIMIT: i64 = 20_000;

/// One page of IDs, with the length of the list up to the limit that lists report.
pub fn page_of(
    tx: &mut Tx<'_>,
    query: &Query,
    sorting: Sorting,
    page: PageRequest,
) -> Result<Page<i64>> {
    let asked = query;
    let Some(query) = &resolve_filters(tx, query)? else {
        return Ok(Page { items: Vec::new(), total: Total::Counted(0) });
    };
    if query.conditions.is_searched() {
        return search_page(tx, asked, query, sorting, page);
    }
    let scan = Scan::driven(query, pick_driving_filter(tx, query)?);
    if let Some(common) = scan.prefers_scan(tx, sorting, page)? {
        let scan = Scan::of(query);
        let found = page.uncounted(scan.select(tx, sorting, page.probe(), page.offset())?);
        return Ok(Page { total: Total::Counted(common), ..found });
    }
    if scan.is_driven() {
        // Every page needs all matches gathered and sorted, so their number is known as well.
        return Ok(page.slice(scan.select(tx, sorting, GATHER_LIMIT, 0)?));
    }
    let found = page.uncounted(scan.select(tx, sorting, page.probe(), page.offset())?);
    let Total::Uncounted { more } = found.total else { return Ok(found) };
    let listed = i64::try_from(found.items.len()).unwrap_or(i64::MAX);
    // The last page shows the length without a count.
    if !more && (listed > 0 || page.page == 1) {
        return Ok(Page { total: Total::Counted(page.offset() + listed), ..found });
    }
    let total = match scan.count(tx)? {
        total if total > COUNT_LIMIT => Total::Uncounted { more },
        total => Total::Counted(total),
    };
    Ok(Page { total, ..found })
}

/// The number of items, without a limit.
pub fn count_all(tx: &mut Tx<'_>, query: &Query) -> Result<i64> {
    aggregate(tx, query, "COUNT(*)")
}

/// The sum of a column of all items.
pub fn sum_all(tx: &mut Tx<'_>, query: &Query, column: &'static str) -> Result<i64> {
    sum_of(tx, query, &summand(column))
}

/// A column as it is summed: what is larger than any may be counts as the largest, so that sums stay within 64 bits.
pub(super) fn summand(column: &str) -> String {
    format!("CASE WHEN i.{column} > {LARGEST_INTEGER} THEN {LARGEST_INTEGER} ELSE i.{column} END")
}

/// The sum of what is computed of the columns of `i`, over all items.
pub fn sum_of(tx: &mut Tx<'_>, query: &Query, expression: &str) -> Result<i64> {
    aggregate(tx, query, &format!("CAST(COALESCE(SUM({expression}), 0) AS BIGINT)"))
}

fn aggregate(tx: &mut Tx<'_>, query: &Query, what: &str) -> Result<i64> {
    let Some(query) = &resolve_filters(tx, query)? else { return Ok(0) };
    let mut binds = Vec::new();
    let from = match query.conditions.is_searched() {
        true => gathered(tx, query, &mut binds)?,
        false => Scan::driven(query, pick_driving_filter(tx, query)?).by_project(&mut binds),
    };
    let sql = format!("SELECT {what} AS id FROM {from}");
    Ok(ids(tx, &sql, &binds)?.first().copied().unwrap_or_default())
}

/// The query with its words turned into conditions, and with labels and milestones of a project replaced by their IDs,
/// for which both databases make better plans. `None` when no item can match.
fn resolve_filters(tx: &mut Tx<'_>, query: &Query) -> Result<Option<Query>> {
    resolve_with(tx, query, &mut LabelIds::new())
}

/// The labels of names that items of projects can have, as far as they were looked up.
pub(super) type LabelIds = HashMap<(ProjectId, String), Vec<i64>>;

/// As [`resolve_filters`], with the labels that earlier queries asked for.
pub(super) fn resolve_with(
    tx: &mut Tx<'_>,
    query: &Query,
    known: &mut LabelIds,
) -> Result<Option<Query>> {
    let mut query = query.clone();
    let (kind, table) = (query.conditions.kind, query.conditions.table());
    let are_few = match &query.scope {
        ListScope::Project(project) if !query.conditions.words.is_empty() => {
            most_in(tx, table, *project)? <= READ_LIMIT
        }
        _ => false,
    };
    for words in &query.conditions.words {
        let looked_for = by_rarest(tx, table, words, are_few)?;
        query.conditions.plain.push(looked_for);
    }
    let project = match &query.scope {
        ListScope::Projects(ReadableProjects { few: Some(few), .. }) if few.is_empty() => {
            return Ok(None);
        }
        ListScope::Project(project) => *project,
        ListScope::Projects(_) | ListScope::Groups(_) => return Ok(Some(query)),
    };
    for filter in &mut query.conditions.indexed {
        if let Some(wanted) = &filter.milestones {
            let milestones = milestones_in(tx, project, wanted)?;
            match milestones.len() {
                0 => return Ok(None),
                LISTED.. => {}
                _ => *filter = IndexedFilter::of_milestones(table, &milestones),
            }
            continue;
        }
        let Some(label) = filter.label.clone() else { continue };
        let labels = labels_in(tx, project, label, known)?;
        match labels.len() {
            0 => return Ok(None),
            LISTED.. => {}
            _ => *filter = IndexedFilter::of_labels(kind, labels),
        }
    }
    Ok(Some(query))
}

/// The labels of a name that items of a project can have.
fn labels_in<'k>(
    tx: &mut Tx<'_>,
    project: ProjectId,
    name: String,
    known: &'k mut LabelIds,
) -> Result<&'k Vec<i64>> {
    match known.entry((project, name)) {
        Entry::Occupied(found) => Ok(found.into_mut()),
        Entry::Vacant(unknown) => {
            let named = format!(
                "SELECT l.id FROM labels l WHERE l.name = $1 AND (l.project_id = {} OR l.namespace_id IS NOT NULL) LIMIT {LISTED}",
                value(project)
            );
            let labels = ids(tx, &named, &[Bind::Word(unknown.key().1.clone())])?;
            Ok(unknown.insert(labels))
        }
    }
}

/// The requested milestones that items of a project can have.
fn milestones_in(tx: &mut Tx<'_>, project: ProjectId, wanted: &Part) -> Result<Vec<i64>> {
    let mut binds = Vec::new();
    let sql = format!(
        "SELECT m.id AS id FROM ({}) AS wanted CROSS JOIN milestones m WHERE m.id = wanted.id \
         AND (m.project_id = {} OR m.project_id IS NULL) LIMIT {LISTED}",
        wanted.render(&mut binds),
        value(project)
    );
    ids(tx, &sql, &binds)
}

/// The indexed filter that a search starts from.
pub(super) struct DrivingFilter {
    pub(super) position: usize,
    /// Number of its matches.
    pub(super) found: i64,
    /// Whether `found` already counts the whole list, all other filters included.
    pub(super) is_all: bool,
}

/// The filter with the fewest matches, when there are at most [`GATHER_LIMIT`] of them.
fn pick_driving_filter(tx: &mut Tx<'_>, query: &Query) -> Result<Option<DrivingFilter>> {
    let mut best: Option<DrivingFilter> = None;
    for (position, filter) in query.conditions.indexed.iter().enumerate() {
        let mut binds = Vec::new();
        let set = filter.within(&query.scope, &mut binds);
        let alone = query.conditions.indexed.len() == 1;
        let is_all = query.is_of(filter);
        let (found, is_all) = match &query.scope {
            // Counted with all conditions, so that the total is known at once.
            ListScope::Project(project) if alone && !is_all && filter.project.is_some() => {
                (count_from(tx, query, position, *project)?, true)
            }
            _ => {
                (count_up_to(tx, &format!("({set}) AS chosen"), &binds, GATHER_LIMIT + 1)?, is_all)
            }
        };
        if found <= GATHER_LIMIT && best.as_ref().is_none_or(|best| found < best.found) {
            best = Some(DrivingFilter { position, found, is_all });
        }
    }
    Ok(best)
}

/// Number of items of a project that match one filter and all others, up to one more than the limit.
pub(super) fn count_from(
    tx: &mut Tx<'_>,
    query: &Query,
    position: usize,
    project: ProjectId,
) -> Result<i64> {
    let conditions = &query.conditions;
    let Some(filter) = conditions.indexed.get(position) else { return Ok(0) };
    let mut binds = Vec::new();
    let set = filter.within(&query.scope, &mut binds);
    let others = conditions.indexed.iter().enumerate().filter(|(at, _)| *at != position);
    let others = others.map(|(_, filter)| &filter.check).chain(&conditions.plain);
    let others: Vec<String> =
        others.map(|part| format!(" AND {}", part.render(&mut binds))).collect();
    let from = format!(
        "(SELECT {}i.id FROM ({set}) AS chosen CROSS JOIN {} i \
         WHERE i.id = chosen.item_id AND i.project_id = {}{}) AS wanted",
        if filter.repeats { "DISTINCT " } else { "" },
        conditions.table(),
        value(project),
        others.concat(),
    );
    count_up_to(tx, &from, &binds, GATHER_LIMIT + 1)
}

/// Number of matches of a filter in projects that the caller may read, up to one more than the limit.
pub(super) fn count_among(
    tx: &mut Tx<'_>,
    filter: &IndexedFilter,
    column: &str,
    readable: &ReadableProjects,
) -> Result<i64> {
    let mut binds = Vec::new();
    let set = filter.set.render(&mut binds);
    let among = match &readable.few {
        Some(few) => format!("{column} IN ({})", list_of(few)),
        None => readable.all.contains(column).into(),
    };
    count_up_to(tx, &format!("({set} AND {among}) AS chosen"), &binds, GATHER_LIMIT + 1)
}

/// An upper bound of the number of items of a project: its highest IID.
pub(super) fn most_in(tx: &mut Tx<'_>, table: &str, project: ProjectId) -> Result<i64> {
    let sql = format!(
        "SELECT COALESCE(MAX(iid), 0) AS id FROM {table} WHERE project_id = {}",
        value(project)
    );
    Ok(ids(tx, &sql, &[])?.first().copied().unwrap_or_default())
}
