//! Lists whose conditions are written as SQL, since finding a page among very many rows in time depends on which index
//! is walked. First the ids of the page are found, and how many there are as far as lists tell it.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use diesel::{prelude::*, sql_types::BigInt};
use kernel::{
    Result, Ts,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};
use time::Duration;

use crate::{AnyBackend, Tx, each_backend, error, statement::Statement};

/// A value that a condition speaks of.
#[derive(Clone, Debug)]
pub enum Bind {
    Number(i64),
    Word(String),
}

/// Conditions, all of which must hold, and the values that they speak of.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    sql: Vec<String>,
    pub binds: Vec<Bind>,
}

impl Conditions {
    pub fn plain(&mut self, condition: impl Into<String>) {
        self.sql.push(condition.into());
    }

    /// Adds a condition in which `{}` stands for the value.
    pub fn with(&mut self, condition: &str, value: Bind) {
        let place = self.bind(value);
        self.sql.push(condition.replace("{}", &place));
    }

    pub fn number(&mut self, condition: &str, value: i64) {
        self.with(condition, Bind::Number(value));
    }

    pub fn word(&mut self, condition: &str, value: impl Into<String>) {
        self.with(condition, Bind::Word(value.into()));
    }

    /// Takes a value along; the answer is how conditions name it.
    pub fn bind(&mut self, value: Bind) -> String {
        self.binds.push(value);
        format!("${}", self.binds.len())
    }

    pub fn text(&self) -> String {
        self.sql.join(" AND ")
    }
}

#[derive(QueryableByName)]
pub(crate) struct IdRow {
    #[diesel(sql_type = BigInt)]
    pub(crate) id: i64,
}

/// A row of a statement, on either database.
pub trait Row: QueryableByName<AnyBackend> + 'static {}
impl<T: QueryableByName<AnyBackend> + 'static> Row for T {}

/// Runs a query that is written as text.
pub fn rows<T: Row>(tx: &mut Tx<'_>, sql: &str, binds: &[Bind]) -> Result<Vec<T>> {
    let statement = Statement::new(sql, binds);
    each_backend!(tx, |conn| statement.load(conn).map_err(error("Record")))
}

/// Runs a query whose one column is called `id`.
pub fn ids(tx: &mut Tx<'_>, sql: &str, binds: &[Bind]) -> Result<Vec<i64>> {
    let found: Vec<IdRow> = rows(tx, sql, binds)?;
    Ok(found.into_iter().map(|row| row.id).collect())
}

#[derive(QueryableByName)]
struct CountedRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    total: i64,
}

/// A page of all that a query gives whose one column is called `id`, and how many these are, where they are at most `few`;
/// none where there are more, for which it is not asked again at once. `order` stands after `found`, which they are called
/// in it.
///
/// # Errors
/// When the database cannot be read.
pub fn page_of_few(
    tx: &mut Tx<'_>,
    query: &str,
    binds: &[Bind],
    few: i64,
    order: &str,
    page: PageRequest,
) -> Result<Option<Page<i64>>> {
    let all = format!("({query} LIMIT {}) AS found", few.saturating_add(1));
    let key = format!("{all} {binds:?}");
    if LONG.knows(&key, tx.now) {
        return Ok(None);
    }
    let sql = format!(
        "SELECT found.id AS id, COUNT(*) OVER () AS total FROM {all}{order} LIMIT {} OFFSET {}",
        page.per_page,
        page.offset()
    );
    let found: Vec<CountedRow> = rows(tx, &sql, binds)?;
    let total = match found.first() {
        Some(row) => row.total,
        None if page.page == 1 => 0,
        // Past the last page COUNT(*) OVER() has no row that carries the total.
        None => {
            let sql = format!("SELECT COUNT(*) AS id FROM {all}");
            ids(tx, &sql, binds)?.first().copied().unwrap_or_default()
        }
    };
    if total > few {
        LONG.note(key, tx.now);
        return Ok(None);
    }
    let items = found.into_iter().map(|row| row.id).collect();
    Ok(Some(Page { items, total: Total::Counted(total) }))
}

/// A number in the text of a statement that is yet sent beside it, so that the text is the same for every number.
pub fn value(number: impl std::fmt::Display) -> String {
    format!("$({number})")
}

/// Lists of up to so many numbers have a text for each length.
const IN_PLACE: usize = 16;

/// Numbers as a list for `IN`; of none, one that is nobody's id.
pub fn list_of(ids: &[i64]) -> String {
    match ids {
        [] => "0".to_owned(),
        [..] if ids.len() <= IN_PLACE => joined(ids.iter().map(value)),
        [..] => joined(ids.iter().map(ToString::to_string)),
    }
}

/// Numbers as a JSON array.
pub fn json_of(ids: &[i64]) -> String {
    format!("[{}]", joined(ids.iter().map(ToString::to_string)))
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

/// The statement that a page is taken from.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The id's column, as in `g.id`.
    pub id: &'static str,
    /// Everything after `FROM`, with the conditions.
    pub from: String,
    pub binds: Vec<Bind>,
    pub order: String,
}

impl Selection {
    pub fn ids(&self, tx: &mut Tx<'_>, most: i64, skip: i64) -> Result<Vec<i64>> {
        let Self { id, from, binds, order } = self;
        let sql =
            format!("SELECT {id} AS id FROM {from} ORDER BY {order} LIMIT {most} OFFSET {skip}");
        ids(tx, &sql, binds)
    }
}

/// One page, and how long the whole list is, which `count` tells where the page itself does not.
pub fn page_of_ids(
    tx: &mut Tx<'_>,
    selection: &Selection,
    page: PageRequest,
    count: impl FnOnce(&mut Tx<'_>) -> Result<i64>,
) -> Result<Page<i64>> {
    let found = page.uncounted(selection.ids(tx, page.probe(), page.offset())?);
    let Total::Uncounted { more } = found.total else { return Ok(found) };
    let listed = i64::try_from(found.items.len()).unwrap_or(i64::MAX);
    // The last page tells the length by itself.
    if !more && (listed > 0 || page.page == 1) {
        return Ok(Page { total: Total::Counted(page.offset() + listed), ..found });
    }
    let total = match count(tx)? {
        total if total > COUNT_LIMIT => Total::Uncounted { more },
        total => Total::Counted(total),
    };
    Ok(Page { total, ..found })
}

/// How many rows there are, at most one more than lists tell.
pub fn count(tx: &mut Tx<'_>, from: &str, binds: &[Bind]) -> Result<i64> {
    count_up_to(tx, from, binds, COUNT_LIMIT + 1)
}

/// How many rows there are, at most `most`.
pub fn count_up_to(tx: &mut Tx<'_>, from: &str, binds: &[Bind], most: i64) -> Result<i64> {
    let sql = format!("SELECT COUNT(*) AS id FROM (SELECT 1 FROM {from} LIMIT {most}) AS counted");
    let key = format!("{sql} {binds:?}");
    if LONG.knows(&key, tx.now) {
        return Ok(most);
    }
    let found = ids(tx, &sql, binds)?.first().copied().unwrap_or_default();
    if found == most {
        LONG.note(key, tx.now);
    }
    Ok(found)
}

/// About so many rows are met before a page is full.
const PAGE: i64 = 32;

/// Whether so many rows match that walking an order finds a page of them sooner than putting all of them in order.
/// `matching` says which after `FROM`, among those of `table`.
///
/// # Errors
/// When the database cannot be read.
pub fn is_walked(tx: &mut Tx<'_>, table: &str, matching: &str, binds: &[Bind]) -> Result<bool> {
    let last = ids(tx, &format!("SELECT COALESCE(MAX(id), 0) AS id FROM {table}"), &[])?;
    // Where `n` of `rows` match, walking to a page looks at `rows / n` for each of its own; the other way looks at `n`.
    let enough = last.first().copied().unwrap_or_default().saturating_mul(PAGE).isqrt();
    let sql = format!("SELECT id FROM {matching} LIMIT 1 OFFSET {enough}");
    Ok(!ids(tx, &sql, binds)?.is_empty())
}

/// Lists that were too long to be counted a moment ago still are: their length is not told, so nobody sees a
/// difference, and counting so far is most of the work of showing a page.
struct LongLists(Mutex<HashMap<String, Ts>>);

static LONG: LazyLock<LongLists> = LazyLock::new(|| LongLists(Mutex::default()));

impl LongLists {
    const LIFETIME: Duration = Duration::seconds(10);
    const MOST: usize = 4096;

    fn knows(&self, key: &str, now: Ts) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).is_some_and(|seen| *seen <= now && now < seen.plus(Self::LIFETIME))
    }

    fn note(&self, key: String, now: Ts) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= Self::MOST {
            known.clear();
        }
        known.insert(key, now);
    }
}
