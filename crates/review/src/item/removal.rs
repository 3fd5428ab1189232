//! Cascading deletes for issues and merge requests.

use std::collections::BTreeSet;

use db::{
    Tx, each_backend, error,
    schema::{
        issue_links as links, issues, item_assignees, item_labels, item_mentions as mentions,
        item_subscriptions, merge_request_closes as closes, merge_requests, notes, timelogs,
    },
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{IssueId, MergeRequestId, ProjectId},
};

use super::{ItemId, ItemKind, purge};
use crate::{
    issue::link::LinkStore as _,
    merge_request::merge::{ClosesStore as _, forget_targets},
};

/// Takes away everything that is kept beside an item.
pub(crate) fn forget(tx: &mut Tx<'_>, item: ItemId) -> Result<()> {
    macro_rules! forget { ($($table:ident),*) => { $({
        let rows = $table::table
            .filter($table::item_kind.eq(item.kind).and($table::item_id.eq(item.id)));
        let rows = diesel::delete(rows);
        each_backend!(tx, |conn| rows.execute(conn).map_err(error("Item")))?;
    })* } }
    forget!(item_labels, item_assignees, item_subscriptions, timelogs);
    if item.kind == ItemKind::MergeRequest {
        tx.save_closes(MergeRequestId(item.id), &[])?;
    }
    purge::remove(tx, item)
}

/// Takes away what is kept beside the items of a project that goes with them, and counts elsewhere anew.
pub fn forget_project(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    macro_rules! forget { ($($table:ident($kind:ident, $id:ident)),* $(,)?) => { $(
        let inside = issues::table.filter(issues::project_id.eq(project));
        let rows = $table::table
            .filter($table::$kind.nullable().eq(ItemKind::Issue))
            .filter($table::$id.nullable().eq_any(inside.select(issues::id.nullable())));
        each_backend!(tx, |conn| diesel::delete(rows).execute(conn).map_err(error("Item")))?;
        let inside = merge_requests::table.filter(merge_requests::project_id.eq(project));
        let rows = $table::table
            .filter($table::$kind.nullable().eq(ItemKind::MergeRequest))
            .filter($table::$id.nullable().eq_any(inside.select(merge_requests::id.nullable())));
        each_backend!(tx, |conn| diesel::delete(rows).execute(conn).map_err(error("Item")))?;
    )* } }
    forget! {
        item_labels(item_kind, item_id),
        item_assignees(item_kind, item_id),
        item_subscriptions(item_kind, item_id),
        mentions(source_kind, source_id),
        // Others were told that something here names them.
        notes(source_kind, source_id),
    }
    forget_targets(tx, project)?;
    close_nothing(tx, project)?;
    block_nobody(tx, project)
}

/// The merge requests of a project close nothing any more, in other projects neither.
fn close_nothing(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let inside = merge_requests::table
        .filter(merge_requests::project_id.eq(project))
        .select(merge_requests::id);
    let elsewhere = closes::table
        .inner_join(issues::table)
        .filter(closes::merge_request_id.eq_any(inside).and(issues::project_id.ne(project)))
        .select(closes::merge_request_id);
    let closing: Vec<MergeRequestId> =
        each_backend!(tx, |conn| elsewhere.load(conn).map_err(error("Issue")))?;
    let closing: BTreeSet<MergeRequestId> = closing.into_iter().collect();
    closing.into_iter().try_for_each(|one| tx.save_closes(one, &[]))
}

/// Nothing in a project waits for issues of other projects any more.
fn block_nobody(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let inside = || issues::table.filter(issues::project_id.eq(project)).select(issues::id);
    let blockers: Vec<IssueId> = each_backend!(tx, |conn| {
        let waiting = links::table.filter(links::target_id.eq_any(inside()));
        let outside = waiting.filter(links::source_id.ne_all(inside()));
        outside.select(links::source_id).load(conn).map_err(error("Issue Link"))
    })?;
    each_backend!(tx, |conn| {
        let waiting = diesel::delete(links::table.filter(links::target_id.eq_any(inside())));
        waiting.execute(conn).map_err(error("Issue Link"))
    })?;
    let blockers: BTreeSet<IssueId> = blockers.into_iter().collect();
    blockers.into_iter().try_for_each(|one| tx.count_blocked(one))
}
