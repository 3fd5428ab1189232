//! Several lists at once: their first rows by one statement, and their lengths and sums by another, however many lists
//! there are.

use db::{
    Tx,
    listing::{self, Bind},
};
use diesel::{QueryableByName, sql_types::BigInt};
use kernel::Result;

use super::{
    plan::{DrivingFilter, GATHER_LIMIT, LabelIds, Query, resolve_with, summand},
    query::Sorting,
    scan::Scan,
    search_pages::gathered,
};

/// So many lists are read by one statement; databases limit how many queries a union has.
const AT_ONCE: usize = 100;

/// How many items a list has, and the sum of a column of theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListFigures {
    pub count: i64,
    pub sum: i64,
}

/// The number of rows to load from a list: its first ones, or its last ones in orders that have positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadPart {
    pub sorting: Sorting,
    pub most: i64,
    pub from_end: bool,
}

/// The first or the last rows of a list.
#[derive(Clone, Debug)]
pub struct ListHead {
    pub query: Query,
    pub part: HeadPart,
}

#[derive(QueryableByName)]
struct FiguresRow {
    #[diesel(sql_type = BigInt)]
    place: i64,
    #[diesel(sql_type = BigInt)]
    total: i64,
    #[diesel(sql_type = BigInt)]
    sum: i64,
}

#[derive(QueryableByName)]
struct HeadRow {
    #[diesel(sql_type = BigInt)]
    place: i64,
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// The lengths of lists, and the sums of a column, in the order of the queries.
pub fn figures_of_all(
    tx: &mut Tx<'_>,
    queries: &[Query],
    column: &'static str,
) -> Result<Vec<ListFigures>> {
    let mut all = vec![ListFigures::default(); queries.len()];
    let (places, scans) = resolved(tx, queries.iter())?;
    for (places, scans) in places.chunks(AT_ONCE).zip(scans.chunks(AT_ONCE)) {
        let driving = driving_filters(tx, scans)?;
        let (mut parts, mut binds) = (Vec::new(), Vec::new());
        for ((place, query), driving) in places.iter().zip(scans).zip(driving) {
            let from = match query.conditions.is_searched() {
                true => gathered(tx, query, &mut binds)?,
                false => Scan::driven(query, driving).by_project(&mut binds),
            };
            let summand = summand(column);
            parts.push(format!(
                "SELECT CAST({place} AS BIGINT) AS place, COUNT(*) AS total, \
                 CAST(COALESCE(SUM({summand}), 0) AS BIGINT) AS sum FROM {from}"
            ));
        }
        for row in union::<FiguresRow>(tx, &parts, &binds, "")? {
            if let Some(figures) = at(&mut all, row.place) {
                *figures = ListFigures { count: row.total, sum: row.sum };
            }
        }
    }
    Ok(all)
}

/// The ids of the first or last rows of lists, in the order of the lists.
pub fn heads_of_all(tx: &mut Tx<'_>, heads: &[ListHead]) -> Result<Vec<Vec<i64>>> {
    let mut all = vec![Vec::new(); heads.len()];
    let (places, scans) = resolved(tx, heads.iter().map(|head| &head.query))?;
    for (places, scans) in places.chunks(AT_ONCE).zip(scans.chunks(AT_ONCE)) {
        let driving = driving_filters(tx, scans)?;
        let (mut parts, mut binds) = (Vec::new(), Vec::new());
        for ((place, query), driving) in places.iter().zip(scans).zip(driving) {
            let Some(head) = heads.get(*place) else { continue };
            let scan = Scan::driven(query, driving);
            let HeadPart { sorting, most, from_end } = head.part;
            let last = match from_end {
                true => scan.reversed(sorting, most, &mut binds),
                false => None,
            };
            let rows =
                last.unwrap_or_else(|| scan.ordered(tx, sorting, (most, 0), None, &mut binds));
            parts.push(format!(
                "SELECT CAST({place} AS BIGINT) AS place, part.id AS id, ROW_NUMBER() OVER () AS number FROM ({rows}) AS part"
            ));
        }
        for row in union::<HeadRow>(tx, &parts, &binds, " ORDER BY 1, 3")? {
            if let Some(ids) = at(&mut all, row.place) {
                ids.push(row.id);
            }
        }
    }
    for (ids, head) in all.iter_mut().zip(heads) {
        if head.part.from_end {
            ids.reverse();
        }
    }
    Ok(all)
}

fn at<T>(all: &mut [T], place: i64) -> Option<&mut T> {
    all.get_mut(usize::try_from(place).ok()?)
}

/// The queries that can have rows, and their places among all.
fn resolved<'q>(
    tx: &mut Tx<'_>,
    queries: impl Iterator<Item = &'q Query>,
) -> Result<(Vec<usize>, Vec<Query>)> {
    let (mut places, mut found, mut labels) = (Vec::new(), Vec::new(), LabelIds::new());
    for (place, query) in queries.enumerate() {
        if let Some(query) = resolve_with(tx, query, &mut labels)? {
            places.push(place);
            found.push(query);
        }
    }
    Ok((places, found))
}

/// Of each query the filter with the fewest matches, when there are at most [`GATHER_LIMIT`] of them; all are counted by
/// one statement.
fn driving_filters(tx: &mut Tx<'_>, queries: &[Query]) -> Result<Vec<Option<DrivingFilter>>> {
    let (mut parts, mut binds) = (Vec::new(), Vec::new());
    let mut filters = Vec::new();
    for (place, query) in queries.iter().enumerate() {
        for (position, filter) in query.conditions.indexed.iter().enumerate() {
            let set = filter.within(&query.scope, &mut binds);
            let number = filters.len();
            parts.push(format!(
                "SELECT CAST({number} AS BIGINT) AS place, COUNT(*) AS id FROM (SELECT 1 FROM ({set}) AS chosen LIMIT {}) AS counted",
                GATHER_LIMIT + 1
            ));
            filters.push((place, position));
        }
    }
    let mut best: Vec<Option<DrivingFilter>> = queries.iter().map(|_| None).collect();
    for row in union::<HeadRow>(tx, &parts, &binds, "")? {
        let filter = usize::try_from(row.place).ok().and_then(|number| filters.get(number));
        let Some((place, position)) = filter else { continue };
        let Some(best) = best.get_mut(*place) else { continue };
        let found = row.id;
        if found <= GATHER_LIMIT && best.as_ref().is_none_or(|best| found < best.found) {
            *best = Some(DrivingFilter { position: *position, found, is_all: false });
        }
    }
    Ok(best)
}

/// The rows of all parts.
fn union<R: listing::Row>(
    tx: &mut Tx<'_>,
    parts: &[String],
    binds: &[Bind],
    order: &str,
) -> Result<Vec<R>> {
    match parts {
        [] => Ok(Vec::new()),
        parts => listing::rows(tx, &format!("{}{order}", parts.join(" UNION ALL ")), binds),
    }
}
