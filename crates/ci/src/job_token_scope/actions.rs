//! Listing projects and groups whose jobs reach a project, and taking them off the list.

use db::Tx;
use kernel::{
    Error, Grant, Result,
    audit::{AuditPlace, AuditRecord},
    ids::{NamespaceId, ProjectId},
};

use super::JobTokenScopeStore as _;
use crate::policy::{ChangeJobTokenScope, ReadJobTokenScope};

/// So many projects or groups are listed at most.
const MOST: usize = 200;

fn refused(sentence: &str) -> Error {
    Error::bad_request().because(sentence.to_owned())
}

/// The projects whose jobs reach this one: itself first.
pub fn projects(tx: &mut Tx<'_>, grant: &Grant<ReadJobTokenScope>) -> Result<Vec<ProjectId>> {
    let own = grant.project();
    let listed = tx.job_token_projects(own)?;
    Ok(std::iter::once(own).chain(listed).collect())
}

/// The groups whose projects' jobs reach this one.
pub fn groups(tx: &mut Tx<'_>, grant: &Grant<ReadJobTokenScope>) -> Result<Vec<NamespaceId>> {
    tx.job_token_groups(grant.project())
}

/// Lists a project that the caller sees.
///
/// # Errors
/// `BadRequest` where it is the project itself, is listed already, or there are too many.
pub fn add_project(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeJobTokenScope>,
    target: ProjectId,
) -> Result<()> {
    let own = grant.project();
    if target == own {
        return Err(refused("Target project can't be the same as the source project"));
    }
    let listed = tx.job_token_projects(own)?;
    if listed.contains(&target) {
        return Err(refused("Target project is already in the job token scope"));
    }
    ensure_room(listed.len())?;
    tx.add_job_token_project(own, target)?;
    let place = AuditPlace::Project(own);
    record(
        tx,
        ("Project", target.0),
        AuditRecord::addition("secure_ci_job_token_project_added", place, WHAT),
    );
    Ok(())
}

const WHAT: &str = "job_token_scope";

/// Writes down who did it: of the project or group no more than its ID, for not every reader sees its name.
fn record(tx: &mut Tx<'_>, (kind, id): (&'static str, i64), action: AuditRecord) {
    tx.mention(action.target(kind, id, id.to_string()));
}

/// As [`add_project`], with a group.
pub fn add_group(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeJobTokenScope>,
    target: NamespaceId,
) -> Result<()> {
    let listed = tx.job_token_groups(grant.project())?;
    if listed.contains(&target) {
        return Err(refused("Target group is already in the job token scope"));
    }
    ensure_room(listed.len())?;
    tx.add_job_token_group(grant.project(), target)?;
    let place = AuditPlace::Project(grant.project());
    record(
        tx,
        ("Group", target.0),
        AuditRecord::addition("secure_ci_job_token_group_added", place, WHAT),
    );
    Ok(())
}

fn ensure_room(listed: usize) -> Result<()> {
    match listed < MOST {
        true => Ok(()),
        false => Err(refused(&format!(
            "Source project exceeds the allowable number of links in this direction ({MOST})"
        ))),
    }
}

/// Takes a project off the list. `ensure_seen` fails where the caller may not know of it.
///
/// # Errors
/// `BadRequest` where it is not listed, `NotFound` where the caller may not know of it either.
pub fn remove_project(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeJobTokenScope>,
    target: ProjectId,
    ensure_seen: impl FnOnce(&mut Tx<'_>) -> Result<()>,
) -> Result<()> {
    if target == grant.project() {
        return Err(refused("Source project cannot be removed from the job token scope"));
    }
    if tx.delete_job_token_project(grant.project(), target)? {
        let place = AuditPlace::Project(grant.project());
        record(
            tx,
            ("Project", target.0),
            AuditRecord::removal("secure_ci_job_token_project_removed", place, WHAT),
        );
        return Ok(());
    }
    ensure_seen(tx)?;
    Err(refused("Target project is not in the job token scope"))
}

/// As [`remove_project`], with a group.
pub fn remove_group(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeJobTokenScope>,
    target: NamespaceId,
    ensure_seen: impl FnOnce(&mut Tx<'_>) -> Result<()>,
) -> Result<()> {
    if tx.delete_job_token_group(grant.project(), target)? {
        let place = AuditPlace::Project(grant.project());
        record(
            tx,
            ("Group", target.0),
            AuditRecord::removal("secure_ci_job_token_group_removed", place, WHAT),
        );
        return Ok(());
    }
    ensure_seen(tx)?;
    Err(refused("Target group is not in the job token scope"))
}
