//! The facts that transactions announced, for those who tell them on: each of these has a cursor.
//!
//! PostgreSQL gives ids before transactions commit, so a fact can become visible behind others with higher ids. Facts
//! are therefore read in the order of their transactions' numbers, and only below the oldest transaction that is still
//! under way on the server, in whatever database: nothing can appear there any more. On SQLite there is one writer, and
//! ids are in the order of commits.

use diesel::{
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use kernel::{Error, Result, Ts, ids::ProjectId};

use crate::{
    Conn, Tx, each_backend, error,
    listing::{Bind, rows},
    schema::event_cursors,
};

/// The position of an event in commit order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The number of its transaction; 0 on SQLite.
    pub xid: i64,
    pub id: i64,
}

/// A fact as it was announced.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct LoggedEvent {
    #[diesel(sql_type = BigInt)]
    pub id: i64,
    #[diesel(sql_type = BigInt)]
    xid: i64,
    #[diesel(sql_type = Text)]
    pub kind: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    pub project_id: Option<ProjectId>,
    #[diesel(sql_type = Text)]
    pub payload: String,
    #[diesel(sql_type = BigInt)]
    pub created_at: Ts,
}

impl LoggedEvent {
    pub fn position(&self) -> Position {
        Position { xid: self.xid, id: self.id }
    }
}

/// The position of an outbox reader.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = event_cursors, check_for_backend(crate::AnyBackend))]
pub struct EventCursor {
    pub name: String,
    xid: i64,
    /// The last fact that it was given; 0 before the first one.
    pub event_id: i64,
    /// When that fact was announced.
    pub event_at: Option<Ts>,
    /// Since when facts are gone that it was not given: whoever reads it has to compare everything once.
    pub gap_since: Option<Ts>,
    pub moved_at: Ts,
}

impl EventCursor {
    pub fn position(&self) -> Position {
        Position { xid: self.xid, id: self.event_id }
    }
}

/// The retention of events.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// What was announced before goes once every cursor has passed it.
    pub read_before: Ts,
    /// What was announced before goes in any case.
    pub any_before: Ts,
    /// More facts than this are not kept, whoever waits for them.
    pub most: i64,
}

#[derive(QueryableByName)]
struct PlaceRow {
    #[diesel(sql_type = BigInt)]
    xid: i64,
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    at: Option<Ts>,
}

impl PlaceRow {
    fn position(&self) -> Position {
        Position { xid: self.xid, id: self.id }
    }
}

const COLUMNS: &str = "id, xid, kind, project_id, payload, created_at";

/// Which facts nothing can come before any more.
fn is_final(tx: &Tx<'_>) -> &'static str {
    match tx.conn {
        Conn::Sqlite(_) => "1 = 1",
        Conn::Postgres(_) => "xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint",
    }
}

/// The facts behind a position in the order of commits, at most so many.
///
/// # Errors
/// When the database cannot be read.
pub fn after(tx: &mut Tx<'_>, position: Position, most: i64) -> Result<Vec<LoggedEvent>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM outbox WHERE (xid, id) > ($1, $2) AND {} ORDER BY xid, id LIMIT $3",
        is_final(tx)
    );
    let binds = [Bind::Number(position.xid), Bind::Number(position.id), Bind::Number(most)];
    rows(tx, &sql, &binds)
}

/// The newest fact. One that is older may still be missing in front of it.
///
/// # Errors
/// When the database cannot be read.
pub fn last(tx: &mut Tx<'_>) -> Result<Option<LoggedEvent>> {
    last_of(tx, "1 = 1")
}

/// The position behind the last fact that nothing can come before any more.
///
/// # Errors
/// When the database cannot be read.
pub fn end(tx: &mut Tx<'_>) -> Result<Position> {
    let is_final = is_final(tx);
    Ok(last_of(tx, is_final)?.as_ref().map(LoggedEvent::position).unwrap_or_default())
}

fn last_of(tx: &mut Tx<'_>, which: &str) -> Result<Option<LoggedEvent>> {
    let sql =
        format!("SELECT {COLUMNS} FROM outbox WHERE {which} ORDER BY xid DESC, id DESC LIMIT 1");
    Ok(rows(tx, &sql, &[])?.pop())
}

/// The cursors by name.
///
/// # Errors
/// When the database cannot be read.
pub fn cursors(tx: &mut Tx<'_>) -> Result<Vec<EventCursor>> {
    let all = event_cursors::table.order(event_cursors::name);
    each_backend!(tx, |conn| all
        .select(EventCursor::as_select())
        .load(conn)
        .map_err(error("Event")))
}

/// One cursor; nothing where nobody opened it.
///
/// # Errors
/// When the database cannot be read.
pub fn cursor(tx: &mut Tx<'_>, name: &str) -> Result<Option<EventCursor>> {
    let row = event_cursors::table.find(name);
    each_backend!(tx, |conn| row
        .select(EventCursor::as_select())
        .first(conn)
        .optional()
        .map_err(error("Event")))
}

/// Makes a cursor that is given what is announced from now on, and what was announced while the oldest transaction
/// under way was. One that is there stays where it is.
///
/// # Errors
/// When the database cannot be written.
pub fn open_cursor(tx: &mut Tx<'_>, name: &str) -> Result<()> {
    let is_final = is_final(tx);
    let last = last_of(tx, is_final)?;
    let position = last.as_ref().map(LoggedEvent::position).unwrap_or_default();
    let row = (
        event_cursors::name.eq(name),
        event_cursors::xid.eq(position.xid),
        event_cursors::event_id.eq(position.id),
        event_cursors::event_at.eq(last.map(|last| last.created_at)),
        event_cursors::moved_at.eq(tx.now),
    );
    let insert = diesel::insert_into(event_cursors::table).values(row);
    each_backend!(tx, |conn| insert
        .on_conflict(event_cursors::name)
        .do_nothing()
        .execute(conn)
        .map_err(error("Event")))?;
    Ok(())
}

/// Removes a cursor: no fact is kept for it any more.
///
/// # Errors
/// When the database cannot be written.
pub fn close_cursor(tx: &mut Tx<'_>, name: &str) -> Result<()> {
    let row = event_cursors::table.find(name);
    each_backend!(tx, |conn| diesel::delete(row).execute(conn).map_err(error("Event")))?;
    Ok(())
}

/// Gives a cursor its next facts, at most so many, and moves it behind them. What is done with them belongs into the
/// same transaction: then each is dealt with once. Nobody else takes from the cursor before the transaction ends.
///
/// # Errors
/// `NotFound` where nobody opened the cursor.
pub fn take(tx: &mut Tx<'_>, name: &str, most: i64) -> Result<Vec<LoggedEvent>> {
    let Some(cursor) = held(tx, name)? else { return Err(Error::not_found("Cursor")) };
    let found = after(tx, cursor.position(), most)?;
    if let Some(last) = found.last() {
        put(tx, name, last)?;
    }
    Ok(found)
}

/// Moves a cursor forward to a fact that its reader reports to have dealt with. One that is further already stays
/// there, and so does one whose fact is gone.
///
/// # Errors
/// `NotFound` where nobody opened the cursor.
pub fn advance(tx: &mut Tx<'_>, name: &str, event_id: i64) -> Result<()> {
    let Some(cursor) = held(tx, name)? else { return Err(Error::not_found("Cursor")) };
    let sql = format!("SELECT {COLUMNS} FROM outbox WHERE id = $1 AND {}", is_final(tx));
    let found: Vec<LoggedEvent> = rows(tx, &sql, &[Bind::Number(event_id)])?;
    match found.first() {
        Some(reached) if reached.position() > cursor.position() => put(tx, name, reached),
        _ => Ok(()),
    }
}

/// Notes that whoever reads the cursor has compared everything: that facts had gone before is made good.
///
/// # Errors
/// When the database cannot be written.
pub fn close_gap(tx: &mut Tx<'_>, name: &str) -> Result<()> {
    let row = event_cursors::table.find(name);
    each_backend!(tx, |conn| diesel::update(row)
        .set(event_cursors::gap_since.eq(None::<Ts>))
        .execute(conn)
        .map_err(error("Event")))?;
    Ok(())
}

/// A cursor that nobody else moves before the transaction ends.
fn held(tx: &mut Tx<'_>, name: &str) -> Result<Option<EventCursor>> {
    if let Conn::Postgres(conn) = &mut tx.conn {
        let row = event_cursors::table.find(name).select(EventCursor::as_select());
        return row.for_update().first(&mut **conn).optional().map_err(error("Event"));
    }
    cursor(tx, name)
}

fn put(tx: &mut Tx<'_>, name: &str, behind: &LoggedEvent) -> Result<()> {
    let row = event_cursors::table.find(name);
    let place = (
        event_cursors::xid.eq(behind.xid),
        event_cursors::event_id.eq(behind.id),
        event_cursors::event_at.eq(behind.created_at),
        event_cursors::moved_at.eq(tx.now),
    );
    each_backend!(tx, |conn| diesel::update(row).set(place).execute(conn).map_err(error("Event")))?;
    Ok(())
}

/// Forgets facts, at most so many, the oldest first. The last one of all stays, so that it can be told where the log
/// ends. A cursor that had not passed what goes is moved behind it, and says that it has a gap. The answer is how many
/// went.
///
/// # Errors
/// When the database cannot be written.
pub fn trim(tx: &mut Tx<'_>, keep: Retention, at_once: i64) -> Result<usize> {
    let slowest = slowest(tx)?;
    let overflow = overflow(tx, keep.most)?;
    let sql = "SELECT xid, id, created_at AS at FROM outbox ORDER BY xid, id LIMIT $1";
    let mut oldest: Vec<PlaceRow> = rows(tx, sql, &[Bind::Number(at_once)])?;
    if i64::try_from(oldest.len()).is_ok_and(|found| found < at_once) {
        oldest.pop();
    }
    let goes = |row: &&PlaceRow| {
        let (place, at) = (row.position(), row.at.unwrap_or_default());
        let was_read = slowest.is_none_or(|slowest| place <= slowest);
        let is_too_many = overflow.is_some_and(|last| place <= last);
        (at < keep.read_before && was_read) || at < keep.any_before || is_too_many
    };
    let Some(cut) = oldest.iter().rev().find(goes) else { return Ok(0) };
    leave_gaps(tx, cut)?;
    let sql = "DELETE FROM outbox WHERE (xid, id) <= ($1, $2)";
    let gone = diesel::sql_query(sql).bind::<BigInt, _>(cut.xid).bind::<BigInt, _>(cut.id);
    each_backend!(tx, |conn| gone.execute(conn).map_err(error("Event")))
}

/// Where the cursor stands that is furthest behind.
fn slowest(tx: &mut Tx<'_>) -> Result<Option<Position>> {
    let sql = "SELECT xid, event_id AS id, event_at AS at FROM event_cursors ORDER BY xid, event_id LIMIT 1";
    let found: Vec<PlaceRow> = rows(tx, sql, &[])?;
    Ok(found.first().map(PlaceRow::position))
}

/// The last fact that goes because so many are not kept.
fn overflow(tx: &mut Tx<'_>, most: i64) -> Result<Option<Position>> {
    let sql =
        "SELECT xid, id, created_at AS at FROM outbox ORDER BY xid DESC, id DESC LIMIT 1 OFFSET $1";
    let found: Vec<PlaceRow> = rows(tx, sql, &[Bind::Number(most)])?;
    Ok(found.first().map(PlaceRow::position))
}

fn leave_gaps(tx: &mut Tx<'_>, cut: &PlaceRow) -> Result<()> {
    let sql = "UPDATE event_cursors SET xid = $1, event_id = $2, event_at = $3, gap_since = COALESCE(gap_since, $4) \
               WHERE (xid, event_id) < ($5, $6)";
    let behind = diesel::sql_query(sql)
        .bind::<BigInt, _>(cut.xid)
        .bind::<BigInt, _>(cut.id)
        .bind::<Nullable<BigInt>, _>(cut.at)
        .bind::<BigInt, _>(tx.now)
        .bind::<BigInt, _>(cut.xid)
        .bind::<BigInt, _>(cut.id);
    each_backend!(tx, |conn| behind.execute(conn).map_err(error("Event")))?;
    Ok(())
}

/// Whether numbers of transactions come from another PostgreSQL server, as after a restored dump: they are higher than
/// any that this one has given.
///
/// # Errors
/// When the database cannot be read.
pub fn is_foreign(tx: &mut Tx<'_>) -> Result<bool> {
    const FUTURE: &str = "xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
    if matches!(tx.conn, Conn::Sqlite(_)) {
        return Ok(false);
    }
    let sql = format!(
        "SELECT xid, id, created_at AS at FROM outbox WHERE {FUTURE} UNION ALL \
         SELECT xid, event_id, moved_at FROM event_cursors WHERE {FUTURE} LIMIT 1"
    );
    Ok(!rows::<PlaceRow>(tx, &sql, &[])?.is_empty())
}

/// Lets everything that is there precede what this server will write. A cursor may be given a fact again, and misses
/// none.
///
/// # Errors
/// When the database cannot be written.
pub fn adopt(tx: &mut Tx<'_>) -> Result<()> {
    let steps = [
        // Before the first fact that it was not given, by id; behind all where it was given everything.
        "UPDATE event_cursors SET event_id = COALESCE(\
           (SELECT MIN(outbox.id) - 1 FROM outbox \
            WHERE (outbox.xid, outbox.id) > (event_cursors.xid, event_cursors.event_id)), \
           (SELECT MAX(outbox.id) FROM outbox), event_id)",
        "UPDATE event_cursors SET xid = 0",
        "UPDATE outbox SET xid = 0",
    ];
    for step in steps {
        each_backend!(tx, |conn| diesel::sql_query(step).execute(conn).map_err(error("Event")))?;
    }
    Ok(())
}
