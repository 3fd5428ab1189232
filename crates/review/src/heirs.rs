//! What becomes of what somebody did here, when the person goes.

use db::{
    Tx, each_backend, error,
    schema::{epics, events, issues, merge_requests, notes, resource_events, todos},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{MergeRequestId, NoteId, UserId},
};

use crate::{
    Event,
    activity::ActivityStore as _,
    emoji,
    epic::{self, Epic},
    issue::Issue,
    item::{ItemId, removal},
    merge_request::{self, MergeRequest, MergeRequestStore as _},
    note::NoteStore as _,
    todo::TodoStore as _,
};

/// What somebody wrote becomes the heir's; without an heir it goes.
pub fn hand_over(tx: &mut Tx<'_>, from: UserId, heir: Option<UserId>) -> Result<()> {
    macro_rules! inherit { ($($table:ident.$column:ident = $heir:expr),* $(,)?) => { $(
        let theirs = diesel::update($table::table.filter($table::$column.eq(from)))
            .set($table::$column.eq($heir));
        each_backend!(tx, |conn| theirs.execute(conn).map_err(error("User")))?;
    )* } }
    inherit! {
        issues.closed_by_id = heir,
        merge_requests.closed_by_id = heir,
        merge_requests.merge_user_id = heir,
        notes.resolved_by_id = heir,
    }
    let Some(heir) = heir else { return take_away(tx, from) };
    inherit! {
        issues.author_id = heir,
        epics.author_id = heir,
        merge_requests.author_id = heir,
        notes.author_id = heir,
        todos.author_id = heir,
        events.author_id = heir,
        resource_events.user_id = heir,
    }
    Ok(())
}

fn take_away(tx: &mut Tx<'_>, from: UserId) -> Result<()> {
    let written: Vec<Issue> = each_backend!(tx, |conn| issues::table
        .filter(issues::author_id.eq(from))
        .select(Issue::as_select())
        .load(conn)
        .map_err(error("Issue")))?;
    for issue in written {
        removal::forget(tx, issue.id.into())?;
        let row = diesel::delete(issues::table.find(issue.id));
        each_backend!(tx, |conn| row.execute(conn).map_err(error("Issue")))?;
        tx.emit(Event::IssueRemoved { issue: (&issue).into(), user: from })?;
    }
    let planned: Vec<Epic> = each_backend!(tx, |conn| epics::table
        .filter(epics::author_id.eq(from))
        .select(Epic::as_select())
        .load(conn)
        .map_err(error("Epic")))?;
    for epic in planned {
        epic::delete(tx, &epic)?;
    }
    let proposed: Vec<MergeRequest> = each_backend!(tx, |conn| merge_requests::table
        .filter(merge_requests::author_id.eq(from))
        .select(MergeRequest::as_select())
        .load(conn)
        .map_err(error("Merge request")))?;
    for row in proposed {
        removal::forget(tx, row.id.into())?;
        tx.delete_merge_request(row.id)?;
        let (merge_request, project, iid): (MergeRequestId, _, _) =
            (row.id, row.project_id, row.iid);
        let gone = merge_request::Event::Removed { merge_request, project, iid, user: from };
        tx.emit(gone)?;
    }
    unsay(tx, from)?;
    macro_rules! forget { ($($table:ident.$column:ident),* $(,)?) => { $(
        let theirs = diesel::delete($table::table.filter($table::$column.eq(from)));
        each_backend!(tx, |conn| theirs.execute(conn).map_err(error("User")))?;
    )* } }
    forget! { todos.author_id, events.author_id, resource_events.user_id }
    Ok(())
}

/// Notes on what others wrote go, and are not counted any more.
fn unsay(tx: &mut Tx<'_>, from: UserId) -> Result<()> {
    let said: Vec<(NoteId, crate::item::ItemKind, i64, bool, bool)> =
        each_backend!(tx, |conn| notes::table
            .filter(notes::author_id.eq(from))
            .select((
                notes::id,
                notes::item_kind,
                notes::item_id,
                notes::is_system,
                notes::internal,
            ))
            .load(conn)
            .map_err(error("Note")))?;
    for (id, kind, item, is_system, internal) in said {
        emoji::forget_note(tx, id)?;
        tx.delete_activity_of_note(id)?;
        tx.delete_todos_of_note(id)?;
        tx.delete_note(id)?;
        let item = ItemId { kind, id: item };
        if !is_system {
            tx.add_to_notes_count(item, -i64::from(!internal))?;
            tx.count_unresolved_threads(item)?;
        }
    }
    Ok(())
}
