//! Refs as the database has them, read beside the server.

use std::{collections::BTreeMap, time::UNIX_EPOCH};

use anyhow::Result;
use diesel::{
    QueryableByName, RunQueryDsl, sql_query,
    sql_types::{BigInt, Nullable, Text},
};

use super::ledger::Ref;
use crate::migrate::Connection;

#[derive(QueryableByName)]
struct Event {
    #[diesel(sql_type = BigInt)]
    project_id: i64,
    #[diesel(sql_type = Text)]
    ref_name: String,
    #[diesel(sql_type = Nullable<Text>)]
    before_sha: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    after_sha: Option<String>,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// Where the push events say that each ref stands, and what they contradict themselves in.
pub(super) struct EventFacts {
    pub(super) refs: BTreeMap<Ref, String>,
    pub(super) gaps: Vec<String>,
    /// Moves of refs that were begun before the last start, and are written down as not yet done.
    pub(super) unfinished: i64,
}

/// Microseconds since 1970, as rows tell time.
pub(super) fn now() -> Result<i64> {
    Ok(UNIX_EPOCH.elapsed()?.as_micros().try_into()?)
}

/// `started` is when the server that runs now was started. What it does itself stays in the journal until it writes the
/// next time.
pub(super) fn read(connection: &mut Connection, started: i64) -> Result<EventFacts> {
    let events: Vec<Event> = load(
        connection,
        "SELECT project_id, ref_name, before_sha, after_sha FROM push_events ORDER BY id",
    )?;
    let query = format!("SELECT count(*) AS count FROM ref_journal WHERE created_at < {started}");
    let unfinished: Vec<Count> = load(connection, &query)?;
    let mut refs: BTreeMap<Ref, String> = BTreeMap::new();
    let mut gaps = Vec::new();
    for event in events {
        let key = (event.project_id, event.ref_name);
        if refs.get(&key) != event.before_sha.as_ref() {
            let known = refs.get(&key);
            gaps.push(format!(
                "{key:?}: an event begins at {:?}, the one before ended at {known:?}",
                event.before_sha
            ));
        }
        match event.after_sha {
            Some(sha) => refs.insert(key, sha),
            None => refs.remove(&key),
        };
    }
    Ok(EventFacts { refs, gaps, unfinished: unfinished.first().map_or(0, |row| row.count) })
}

/// A merge request, as its row tells it.
#[derive(QueryableByName)]
pub(super) struct MergeRequestRow {
    #[diesel(sql_type = BigInt)]
    pub(super) project_id: i64,
    #[diesel(sql_type = BigInt)]
    pub(super) iid: i64,
    #[diesel(sql_type = Text)]
    pub(super) state: String,
    #[diesel(sql_type = Text)]
    pub(super) target_branch: String,
    #[diesel(sql_type = Nullable<Text>)]
    pub(super) head_sha: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    pub(super) merge_commit_sha: Option<String>,
}

pub(super) fn merge_requests(connection: &mut Connection) -> Result<Vec<MergeRequestRow>> {
    let query = "SELECT project_id, iid, state, target_branch, head_sha, merge_commit_sha \
                 FROM merge_requests ORDER BY id";
    load(connection, query)
}

/// Work that could be done now and has not been.
pub(super) fn due(connection: &mut Connection) -> Result<i64> {
    let query = format!("SELECT count(*) AS count FROM work WHERE run_at <= {}", now()?);
    let rows: Vec<Count> = load(connection, &query)?;
    Ok(rows.first().map_or(0, |row| row.count))
}

/// Work that was queued for the next two minutes and has not been done.
pub(super) fn waiting(connection: &mut Connection) -> Result<i64> {
    let query = "SELECT count(*) AS count FROM work WHERE run_at <= created_at + 120000000";
    let rows: Vec<Count> = load(connection, query)?;
    Ok(rows.first().map_or(0, |row| row.count))
}

pub(super) fn load<T>(connection: &mut Connection, query: &str) -> Result<Vec<T>>
where
    T: 'static + QueryableByName<diesel::sqlite::Sqlite> + QueryableByName<diesel::pg::Pg>,
{
    Ok(match connection {
        Connection::Sqlite(connection) => sql_query(query).load(connection)?,
        Connection::Postgres(connection) => sql_query(query).load(connection)?,
    })
}
