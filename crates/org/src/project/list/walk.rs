//! Walks through projects: in which order, along which index, and how long the list is.

use std::sync::Arc;

use db::{Conn, Tx, stamp::StampedCache};
use kernel::{
    Result,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{Order, OrderBy, Sort, conditions::Conditions};
use crate::{
    access::changes,
    listing::{self, Bind, ids},
};

/// More matches of a search than this are not gathered before they are put in order.
const FEW: i64 = 2000;

static PAGES: StampedCache<Arc<[i64]>> = StampedCache::new();

/// The ids of some projects, in their order.
pub(super) fn select(
    tx: &mut Tx<'_>,
    conditions: &Conditions,
    order: Order,
    most: i64,
    skip: i64,
) -> Result<Vec<i64>> {
    let (join, by) = ordering(tx, order);
    let by_id = by.starts_with("p.id ");
    let (from, binds) = if by_id {
        conditions.by_id()
    } else if matches_many(tx, conditions)? {
        conditions.many_matches(join)
    } else {
        conditions.few_matches(join)
    };
    let by = match conditions.indexed {
        Some(_) => by.replace("p.id", "projects_search.rowid"),
        None => by,
    };
    let by = if from.starts_with("projects_search") {
        by
    } else {
        by.replace("projects_search.rowid", "p.id")
    };
    // PostgreSQL takes an index of numbers for an order by the number, but not for one by a sum.
    let by = match (&tx.conn, conditions.gathered) {
        (Conn::Postgres(_), true) => by.replace("p.id ", "p.id + 0 "),
        _ => by,
    };
    let sql = format!("SELECT p.id AS id FROM {from} ORDER BY {by} LIMIT {most} OFFSET {skip}");
    match conditions.whole_tree() {
        // All of them are gathered for any page, which is the same until one comes or goes.
        Some(tree) if conditions.gathered && by_id => {
            let question = format!("{sql} {binds:?}");
            let page = PAGES.answer(tx, &question, &changes::of_tree(&tree.path), |tx| {
                Ok(ids(tx, &sql, &binds)?.into())
            })?;
            Ok(page.to_vec())
        }
        _ => ids(tx, &sql, &binds),
    }
}

fn matches_many(tx: &mut Tx<'_>, conditions: &Conditions) -> Result<bool> {
    let Some(indexed) = &conditions.indexed else { return Ok(false) };
    let sql = format!(
        "SELECT rowid AS id FROM projects_search WHERE projects_search MATCH $1 LIMIT 1 OFFSET {FEW}"
    );
    Ok(!ids(tx, &sql, &[Bind::Word(indexed.question.clone())])?.is_empty())
}

/// What to join for an order, and the order.
fn ordering(tx: &Tx<'_>, order: Order) -> (&'static str, String) {
    let direction = match order.sort {
        Sort::Ascending => "ASC",
        Sort::Descending => "DESC",
    };
    let by = match order.by {
        // Ids are given in the order in which projects are made.
        OrderBy::Id | OrderBy::CreatedAt | OrderBy::Similarity => {
            return ("", format!("p.id {direction}"));
        }
        OrderBy::PackagesSize => return ("", format!("p.id {direction}")),
        OrderBy::RepositorySize | OrderBy::WikiSize | OrderBy::StorageSize => {
            let join = " JOIN project_statistics s ON s.project_id = p.id";
            let bytes = match order.by {
                OrderBy::WikiSize => "s.wiki_size",
                OrderBy::StorageSize => {
                    "s.repository_size + s.wiki_size + s.lfs_objects_size + s.uploads_size"
                }
                _ => "s.repository_size",
            };
            return (join, format!("{bytes} {direction}, p.id {direction}"));
        }
        OrderBy::Name => tx.reading_order("p.name", direction),
        OrderBy::Path => tx.reading_order("p.path", direction),
        OrderBy::UpdatedAt => format!("p.updated_at {direction}"),
        OrderBy::LastActivityAt => format!("p.last_activity_at {direction}"),
        OrderBy::StarCount => format!("p.star_count {direction}"),
    };
    ("", format!("{by}, p.id {direction}"))
}

pub(super) fn page_of_ids(
    tx: &mut Tx<'_>,
    conditions: &Conditions,
    order: Order,
    page: PageRequest,
) -> Result<Page<i64>> {
    let found = page.uncounted(select(tx, conditions, order, page.probe(), page.offset())?);
    let Total::Uncounted { more } = found.total else { return Ok(found) };
    let listed = i64::try_from(found.items.len()).unwrap_or(i64::MAX);
    // The last page tells the length by itself.
    if !more && (listed > 0 || page.page == 1) {
        return Ok(Page { total: Total::Counted(page.offset() + listed), ..found });
    }
    let total = match conditions.whole_tree() {
        Some(tree) => tree.total,
        None => {
            let (from, binds) = conditions.by_id();
            listing::count(tx, &from, &binds)?
        }
    };
    let total = match total {
        total if total > COUNT_LIMIT => Total::Uncounted { more },
        total => Total::Counted(total),
    };
    Ok(Page { total, ..found })
}
