//! Pages of what has certain words, which PostgreSQL's index finds in no order.

use db::{
    Tx,
    listing::{Bind, ids, page_of_few},
};
use kernel::{
    Result,
    page::{Page, PageRequest},
};

use super::{
    order::{Order, Sorting},
    plan::{FEW, Place, Projects, Query, Walk},
    search::by_reading,
};
use crate::ports::Readable;

/// Among so many of the newest ids the words are looked for by reading.
const READ: i64 = 10_000;
/// No more are met there than these, where what is found is found evenly.
const MET: i64 = 1_000;

/// So many projects are gone through sooner than the project of each item is asked for.
const LISTED: i64 = 2_000;

/// `FROM` and `WHERE` for what has the words that are looked for, and whatever else is wanted.
pub(super) fn gathered(tx: &mut Tx<'_>, query: &Query) -> Result<(String, Vec<Bind>)> {
    let projects = match &query.place {
        Place::Projects(Readable { few: None, .. }) if are_few(tx)? => Projects::ListedFirst,
        _ => Projects::AskedEach,
    };
    let (all, binds) = Walk::with_projects(query, projects).all();
    Ok((format!("{} i WHERE {}", query.conditions.table(), all.join(" AND ")), binds))
}

fn are_few(tx: &mut Tx<'_>) -> Result<bool> {
    let last = ids(tx, "SELECT COALESCE(MAX(id), 0) AS id FROM projects", &[])?;
    Ok(last.first().is_some_and(|last| *last <= LISTED))
}

/// A page of what has the words that are looked for. Finding all of few is much work, which is done once; of many, more
/// than lists tell, nothing is counted.
pub(super) fn searched(
    tx: &mut Tx<'_>,
    asked: &Query,
    query: &Query,
    sorting: Sorting,
    page: PageRequest,
) -> Result<Page<i64>> {
    let (from, binds) = gathered(tx, query)?;
    let all = format!("SELECT i.id AS id FROM {from}");
    let order = sorting.of_found(tx, query.conditions.kind);
    if let Some(found) = page_of_few(tx, &all, &binds, FEW, &order, page)? {
        return Ok(found);
    }
    if let Some(found) = among_newest(tx, asked, sorting, page)? {
        return Ok(page.uncounted(found));
    }
    let walk = Walk::of(query);
    Ok(page.uncounted(walk.plain(tx, sorting, page.probe(), page.offset(), None)?))
}

/// A full page of words that very many have: reading the newest, or the oldest, soon meets as many, where the index
/// would be asked for all of them.
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
    let walk = Walk::of(&query);
    let near = walk.near(sorting.direction, READ);
    let found = walk.plain(tx, sorting, page.probe(), page.offset(), Some(near))?;
    Ok((i64::try_from(found.len()).is_ok_and(|found| found == page.probe())).then_some(found))
}
