//! Numbers of what an archive has, and what is worked out once all of its rows are written.

use std::collections::HashMap;

use db::{
    Tx, each_backend, error,
    schema::{
        board_lists, boards, epics, issues, iterations, merge_requests, milestones,
        project_issue_counts,
    },
};
use diesel::{dsl::max, prelude::*};
use kernel::{Result, ids::NamespaceId};

use crate::{
    Home, board::ListKind, epic::children::bound_depth, issue::IssueState, item::ItemKind, sequence,
};

/// Relations whose rows have numbers of their own, and what counts them.
const NUMBERED: [(&str, &str); 5] = [
    ("issues", "issue"),
    ("merge_requests", "merge_request"),
    ("milestones", "milestone"),
    ("epics", "epic"),
    ("iterations", "iteration"),
];

/// Lets what is made from now on in a project or group have later numbers than these, which are told by the names of
/// relations.
///
/// # Errors
/// When the database cannot be written.
pub fn reserve_numbers(
    tx: &mut Tx<'_>,
    home: Home,
    last: &HashMap<&'static str, i64>,
) -> Result<()> {
    for (relation, kind) in NUMBERED {
        if let Some(last) = last.get(relation) {
            sequence::reach(tx, home, kind, *last)?;
        }
    }
    Ok(())
}

/// Lets numbers go on after those that are taken, and counts the open issues. Epics and boards of a group come to fit one
/// another.
///
/// # Errors
/// When the database cannot be written.
pub fn restore_counters(tx: &mut Tx<'_>, home: Home) -> Result<()> {
    macro_rules! reach { ($($table:ident . $owner:ident $kind:literal of $id:expr),*) => { $(
        let last = $table::table.filter($table::$owner.eq($id)).select(max($table::iid));
        let last: Option<i64> =
            each_backend!(tx, |conn| last.get_result(conn).map_err(error("Number")))?;
        if let Some(last) = last {
            sequence::reach(tx, home, $kind, last)?;
        }
    )* } }
    match home {
        Home::Project(id) => {
            reach!(issues.project_id "issue" of id, merge_requests.project_id "merge_request" of id,
                milestones.project_id "milestone" of id);
            let open = issues::table
                .filter(issues::project_id.eq(id).and(issues::state.eq(IssueState::Opened)));
            let (all, confidential): (i64, i64) = each_backend!(tx, |conn| {
                let all = open.count().get_result(conn).map_err(error("Issue"))?;
                let confidential = open.filter(issues::confidential.eq(true)).count();
                (all, confidential.get_result(conn).map_err(error("Issue"))?)
            });
            let counts = (
                project_issue_counts::opened.eq(all),
                project_issue_counts::confidential.eq(confidential),
            );
            each_backend!(tx, |conn| diesel::insert_into(project_issue_counts::table)
                .values((project_issue_counts::project_id.eq(id), counts))
                .on_conflict(project_issue_counts::project_id)
                .do_update()
                .set(counts)
                .execute(conn)
                .map_err(error("Issue")))?;
        }
        Home::Group(id) => {
            reach!(milestones.namespace_id "milestone" of id, epics.namespace_id "epic" of id,
                iterations.namespace_id "iteration" of id);
            bound_depth(tx, id)?;
            clear_epic_boards(tx, id)?;
        }
    }
    Ok(())
}

/// Takes away lists that boards of epics cannot have: epics have no milestones and no iterations.
fn clear_epic_boards(tx: &mut Tx<'_>, group: NamespaceId) -> Result<()> {
    let of_epics = boards::item_kind.eq(ItemKind::Epic);
    let theirs =
        boards::table.filter(boards::namespace_id.eq(group).and(of_epics)).select(boards::id);
    let usual = [ListKind::Backlog, ListKind::Label, ListKind::Closed];
    let odd = board_lists::table
        .filter(board_lists::board_id.eq_any(theirs))
        .filter(board_lists::kind.ne_all(usual));
    each_backend!(tx, |conn| diesel::delete(odd).execute(conn).map_err(error("List")))?;
    Ok(())
}
