//! Counter columns, recomputed once all rows of an archive are written.

use db::{
    Tx, each_backend, error,
    schema::{epics, issues, iterations, merge_requests, milestones, project_issue_counts},
};
use diesel::{dsl::max, prelude::*};
use kernel::Result;

use crate::{Home, issue::IssueState, sequence};

/// Lets numbers go on after those that are taken, and counts the open issues.
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
        }
    }
    Ok(())
}
