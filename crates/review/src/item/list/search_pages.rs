//! Pages of items that match search words. PostgreSQL's trigram index returns them unordered.

use db::{
    Tx,
    listing::{Bind, page_of_few},
};
use kernel::{
    Result,
    page::{Page, PageRequest},
};

use super::{
    plan::{GATHER_LIMIT, Query},
    query::{ListScope, Order, Sorting},
    scan::{ProjectCheck, Scan},
    search::by_reading,
};
use crate::ports::ReadableProjects;

/// The number of newest IDs whose texts are read before the search index is asked.
const READ: i64 = 10_000;
/// Reading is tried only for pages up to this row.
const MET: i64 = 1_000;

/// Up to this many projects, listing those in scope first is cheaper than checking each item's project.
const LISTED: i64 = 2_000;

/// `FROM` and `WHERE` for items that match the words and all other filters.
pub(super) fn gathered(tx: &mut Tx<'_>, query: &Query, binds: &mut Vec<Bind>) -> Result<String> {
    let projects = match &query.scope {
        ListScope::Projects(ReadableProjects { all, few: None })
            if all.highest_id(tx)? <= LISTED =>
        {
            ProjectCheck::ListFirst
        }
        _ => ProjectCheck::PerRow,
    };
    let all = Scan::with_projects(query, projects).filters_in_scope(binds);
    Ok(format!("{} i WHERE {}", query.conditions.table(), all.join(" AND ")))
}

/// A page of items that match the words. Up to the gather limit all matches are found, counted and sorted in one
/// statement; beyond it nothing is counted.
pub(super) fn search_page(
    tx: &mut Tx<'_>,
    asked: &Query,
    query: &Query,
    sorting: Sorting,
    page: PageRequest,
) -> Result<Page<i64>> {
    let mut binds = Vec::new();
    let from = gathered(tx, query, &mut binds)?;
    let all = format!("SELECT i.id AS id FROM {from}");
    let order = sorting.of_found(tx, query.conditions.kind);
    if let Some(found) = page_of_few(tx, &all, &binds, GATHER_LIMIT, &order, page)? {
        return Ok(found);
    }
    if let Some(found) = among_newest(tx, asked, sorting, page)? {
        return Ok(page.uncounted(found));
    }
    let scan = Scan::of(query);
    Ok(page.uncounted(scan.plain(tx, sorting, page.probe(), page.offset(), None)?))
}

/// A full page of frequent words: reading the newest (or oldest) texts soon fills it, while the index would have to
/// return every match.
fn among_newest(
    tx: &mut Tx<'_>,
    query: &Query,
    sorting: Sorting,
    page: PageRequest,
) -> Result<Option<Vec<i64>>> {
    if sorting.by != Order::Id || page.offset() + page.probe() > MET {
        return Ok(None);
    }
    let mut query = query.clone();
    let words = std::mem::take(&mut query.conditions.words);
    query.conditions.plain.extend(words.iter().map(by_reading));
    let scan = Scan::of(&query);
    let window = scan.id_window(sorting.direction, READ);
    let found = scan.plain(tx, sorting, page.probe(), page.offset(), Some(window))?;
    Ok((i64::try_from(found.len()).is_ok_and(|found| found == page.probe())).then_some(found))
}
