//! Reassigns what a removed user did to the ghost user.

use db::{
    Tx, each_backend, error,
    schema::{epics, events, issues, merge_requests, notes, resource_events, timelogs, todos},
};
use diesel::{prelude::*, sql_query, sql_types::BigInt};
use kernel::{
    Result,
    ids::{MergeRequestId, NoteId, UserId},
};

use crate::{
    Event,
    activity::ActivityStore as _,
    emoji,
    epic::{self, Epic},
    issue::{self, Issue},
    item::{ItemId, ItemKind, removal},
    merge_request::{self, MergeRequest, MergeRequestStore as _},
    note::NoteStore as _,
    todo::TodoStore as _,
};

/// What somebody wrote becomes the heir's; without an heir it goes.
pub fn reassign(tx: &mut Tx<'_>, from: UserId, heir: Option<UserId>) -> Result<()> {
    macro_rules! inherit { ($($table:ident.$column:ident = $heir:expr),* $(,)?) => { $(
        let theirs = diesel::update($table::table.filter($table::$column.eq(from)))
            .set($table::$column.eq($heir));
        each_backend!(tx, |conn| theirs.execute(conn).map_err(error("User")))?;
    )* } }
    inherit! {
        issues.closed_by_id = heir,
        merge_requests.closed_by_id = heir,
        merge_requests.merge_user_id = heir,
        issues.last_edited_by_id = heir,
        issues.updated_by_id = heir,
        merge_requests.last_edited_by_id = heir,
        merge_requests.updated_by_id = heir,
        notes.resolved_by_id = heir,
    }
    while reassign_reactions(tx, from, heir)? {}
    let Some(heir) = heir else { return take_away(tx, from) };
    inherit! {
        issues.author_id = heir,
        epics.author_id = heir,
        merge_requests.author_id = heir,
        notes.author_id = heir,
        todos.author_id = heir,
        events.author_id = heir,
        resource_events.user_id = heir,
        timelogs.user_id = heir,
    }
    Ok(())
}

/// Makes some reactions of somebody's the heir's, or takes them away; tells whether there may be more.
pub fn reassign_reactions(tx: &mut Tx<'_>, from: UserId, heir: Option<UserId>) -> Result<bool> {
    emoji::reassign::reassign_some(tx, from, heir, i64::try_from(AT_ONCE).unwrap_or(i64::MAX))
}

/// So many rows change in one transaction, where it is not the last.
const AT_ONCE: usize = 500;

/// Rows of one kind that somebody wrote.
#[derive(Clone, Debug)]
pub struct Part {
    table: &'static str,
    column: &'static str,
    ids: Vec<i64>,
}

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// What somebody wrote, in parts that are small enough for one transaction each.
pub fn parts(tx: &mut Tx<'_>, from: UserId) -> Result<Vec<Part>> {
    let mut all = Vec::new();
    for (table, column) in [
        ("issues", "author_id"),
        ("epics", "author_id"),
        ("merge_requests", "author_id"),
        ("notes", "author_id"),
        ("todos", "author_id"),
        ("events", "author_id"),
        ("resource_events", "user_id"),
        ("timelogs", "user_id"),
    ] {
        let text = format!("SELECT id FROM {table} WHERE {column} = {from} ORDER BY id");
        let found: Vec<IdRow> =
            each_backend!(tx, |conn| sql_query(&text).load(conn).map_err(error("User")))?;
        let ids: Vec<i64> = found.into_iter().map(|row| row.id).collect();
        all.extend(ids.chunks(AT_ONCE).map(|ids| Part { table, column, ids: ids.to_vec() }));
    }
    Ok(all)
}

/// Makes a part the heir's.
pub fn reassign_part(tx: &mut Tx<'_>, part: &Part, from: UserId, heir: UserId) -> Result<()> {
    let Part { table, column, ids } = part;
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let text = format!(
        "UPDATE {table} SET {column} = {heir} WHERE {column} = {from} AND id IN ({})",
        ids.join(", ")
    );
    each_backend!(tx, |conn| sql_query(&text).execute(conn).map_err(error("User")))?;
    Ok(())
}

/// Takes some of what somebody wrote away; tells whether there may be more.
pub fn take_away_some(tx: &mut Tx<'_>, from: UserId) -> Result<bool> {
    let most = i64::try_from(AT_ONCE).unwrap_or(i64::MAX);
    Ok(take_away_issues(tx, from, most)?
        || take_away_merge_requests(tx, from, most)?
        || unsay(tx, from, most)?)
}

fn take_away(tx: &mut Tx<'_>, from: UserId) -> Result<()> {
    take_away_issues(tx, from, i64::MAX)?;
    let planned: Vec<Epic> = each_backend!(tx, |conn| epics::table
        .filter(epics::author_id.eq(from))
        .select(Epic::as_select())
        .load(conn)
        .map_err(error("Epic")))?;
    for epic in planned {
        epic::delete(tx, &epic)?;
    }
    take_away_merge_requests(tx, from, i64::MAX)?;
    unsay(tx, from, i64::MAX)?;
    unspend(tx, from)?;
    macro_rules! forget { ($($table:ident.$column:ident),* $(,)?) => { $(
        let theirs = diesel::delete($table::table.filter($table::$column.eq(from)));
        each_backend!(tx, |conn| theirs.execute(conn).map_err(error("User")))?;
    )* } }
    forget! { todos.author_id, events.author_id, resource_events.user_id }
    Ok(())
}

/// The time that somebody spent goes, and is not counted any more.
fn unspend(tx: &mut Tx<'_>, from: UserId) -> Result<()> {
    for (table, kind) in [("issues", ItemKind::Issue), ("merge_requests", ItemKind::MergeRequest)] {
        let theirs = format!("FROM timelogs t WHERE t.user_id = {from} AND t.item_kind = '{kind}'");
        let text = format!(
            "UPDATE {table} SET total_time_spent = total_time_spent - \
             (SELECT sum(t.time_spent) {theirs} AND t.item_id = {table}.id) \
             WHERE id IN (SELECT t.item_id {theirs})"
        );
        each_backend!(tx, |conn| sql_query(&text).execute(conn).map_err(error("Time")))?;
    }
    let theirs = diesel::delete(timelogs::table.filter(timelogs::user_id.eq(from)));
    each_backend!(tx, |conn| theirs.execute(conn).map_err(error("Time")))?;
    Ok(())
}

/// Whether as many were found as were looked for.
fn is_full<T>(found: &[T], most: i64) -> bool {
    i64::try_from(found.len()).is_ok_and(|found| found >= most)
}

fn take_away_issues(tx: &mut Tx<'_>, from: UserId, most: i64) -> Result<bool> {
    let written: Vec<Issue> = each_backend!(tx, |conn| issues::table
        .filter(issues::author_id.eq(from))
        .limit(most)
        .select(Issue::as_select())
        .load(conn)
        .map_err(error("Issue")))?;
    let is_full = is_full(&written, most);
    for issue in written {
        if issue::delete(tx, issue.id)? {
            tx.emit(Event::IssueRemoved { issue: (&issue).into(), user: from })?;
        }
    }
    Ok(is_full)
}

fn take_away_merge_requests(tx: &mut Tx<'_>, from: UserId, most: i64) -> Result<bool> {
    let proposed: Vec<MergeRequest> = each_backend!(tx, |conn| merge_requests::table
        .filter(merge_requests::author_id.eq(from))
        .limit(most)
        .select(MergeRequest::as_select())
        .load(conn)
        .map_err(error("Merge request")))?;
    let is_full = is_full(&proposed, most);
    for row in proposed {
        removal::forget(tx, row.id.into())?;
        if !tx.delete_merge_request(row.id)? {
            continue;
        }
        let (merge_request, project, iid): (MergeRequestId, _, _) =
            (row.id, row.project_id, row.iid);
        let gone = merge_request::Event::Removed { merge_request, project, iid, user: from };
        tx.emit(gone)?;
    }
    Ok(is_full)
}

/// Notes on what others wrote go, and are not counted any more.
fn unsay(tx: &mut Tx<'_>, from: UserId, most: i64) -> Result<bool> {
    let said: Vec<(NoteId, ItemKind, i64, bool, bool)> = each_backend!(tx, |conn| notes::table
        .filter(notes::author_id.eq(from))
        .limit(most)
        .select((notes::id, notes::item_kind, notes::item_id, notes::is_system, notes::internal,))
        .load(conn)
        .map_err(error("Note")))?;
    let is_full = is_full(&said, most);
    for (id, kind, item, is_system, internal) in said {
        emoji::forget_note(tx, id)?;
        tx.delete_activity_of_note(id)?;
        tx.delete_todos_of_note(id)?;
        let is_gone = tx.delete_note(id)?;
        let item = ItemId { kind, id: item };
        if is_gone && !is_system {
            tx.add_to_notes_count(item, -i64::from(!internal))?;
            tx.count_unresolved_threads(item)?;
        }
    }
    Ok(is_full)
}
