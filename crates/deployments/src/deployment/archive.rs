//! Deployments in project archives, with their approvals and what they brought.
//!
//! What was under way in the source is canceled in a copy: nobody goes on with it there.

use db::{
    Tx,
    archive::{Column, Field, LAST_NUMBER, Relation, is_one_of, is_sha},
    each_backend, error,
    schema::{deployment_numbers as numbers, deployments},
};
use diesel::{dsl::max, prelude::*};
use kernel::{Result, TextEnum as _, ids::ProjectId, values::is_ref_name};

use super::DeploymentStatus;
use crate::approval::ApprovalStatus;

/// They come after the environments, the rules for them, the merge requests and the jobs.
pub static RELATIONS: &[&Relation] = &[&DEPLOYMENTS, &APPROVALS, &MERGE_REQUESTS];

/// Characters of the longest comment.
const LONGEST_COMMENT: usize = 255;

static DEPLOYMENTS: Relation = Relation {
    name: "deployments",
    table: "deployments",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::row("environment_id", "environments"),
        Column::number("iid", 1, LAST_NUMBER),
        Column::choice("ref_name", is_ref_name),
        Column::flag("tag"),
        Column::choice("sha", is_sha),
        Column::person("user_id").optional(),
        Column::row("job_id", "jobs").optional(),
        Column::word("status", status_of_copy),
        Column::text("on_stop").optional(),
        Column::text("environment_url").optional(),
        Column::text("auto_stop_in").optional(),
        Column::moment("created_at"),
        Column::moment("updated_at"),
        Column::moment("finished_at").optional(),
    ],
    signed: None,
};

/// Approvals by rules for groups are left out: others stand for the groups in a copy.
static APPROVALS: Relation = Relation {
    name: "deployment_approvals",
    table: "deployment_approvals",
    scope: "deployment_id IN (SELECT deployments.id FROM deployments WHERE deployments.project_id = $1) \
        AND NOT EXISTS (SELECT 1 FROM protected_environment_access \
        WHERE protected_environment_access.id = rule_id AND protected_environment_access.group_id IS NOT NULL)",
    key: &["id"],
    columns: &[
        Column::row("deployment_id", "deployments"),
        Column::person("user_id"),
        // 0 where no rule says who approves.
        Column::row("rule_id", "protected_environment_access").or_zero(),
        Column::choice("status", is_one_of::<ApprovalStatus>),
        Column::new("comment", Field::Text(LONGEST_COMMENT)).optional(),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

static MERGE_REQUESTS: Relation = Relation {
    name: "deployed_merge_requests",
    table: "deployed_merge_requests",
    scope: "project_id = $1",
    key: &["deployment_id", "merge_request_id"],
    columns: &[
        Column::home("project_id"),
        Column::row("deployment_id", "deployments"),
        Column::row("merge_request_id", "merge_requests"),
        Column::row("environment_id", "environments"),
        Column::moment("deployed_at"),
    ],
    signed: None,
};

fn status_of_copy(word: &str) -> Option<&'static str> {
    let status = match DeploymentStatus::find(word)? {
        DeploymentStatus::Running => DeploymentStatus::Canceled,
        status => status,
    };
    Some(status.as_str())
}

/// Lets numbers go on after those that are taken.
///
/// # Errors
/// When the database cannot be written.
pub fn restore_counters(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let own = deployments::table.filter(deployments::project_id.eq(project));
    let last = own.select(max(deployments::iid));
    let last: Option<i64> =
        each_backend!(tx, |conn| last.get_result(conn).map_err(error("Deployment")))?;
    last.map_or(Ok(()), |last| reserve_numbers(tx, project, last))
}

/// Lets deployments that are made from now on have later numbers than this one.
///
/// # Errors
/// When the database cannot be written.
pub fn reserve_numbers(tx: &mut Tx<'_>, project: ProjectId, last: i64) -> Result<()> {
    each_backend!(tx, |conn| diesel::insert_into(numbers::table)
        .values((numbers::project_id.eq(project), numbers::last.eq(last)))
        .on_conflict_do_nothing()
        .execute(conn)
        .map_err(error("Deployment")))?;
    let earlier = numbers::project_id.eq(project).and(numbers::last.lt(last));
    let reach = diesel::update(numbers::table.filter(earlier)).set(numbers::last.eq(last));
    each_backend!(tx, |conn| reach.execute(conn).map_err(error("Deployment")))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::status_of_copy;

    #[test]
    fn what_was_under_way_is_canceled_in_a_copy() {
        for (word, copy) in [
            ("created", Some("created")),
            ("running", Some("canceled")),
            ("success", Some("success")),
            ("blocked", Some("blocked")),
            ("paused", None),
        ] {
            assert_eq!(status_of_copy(word), copy, "{word}");
        }
    }
}
