//! Approvals in the database.

use db::{OneOf as _, Tx, each_backend, error, schema::deployment_approvals as approvals};
use diesel::prelude::*;
use kernel::{Result, ids::DeploymentId};

use super::Approval;

const NOUN: &str = "Approval";

pub trait ApprovalStore {
    /// The oldest first.
    fn approvals_of(&mut self, deployment: DeploymentId) -> Result<Vec<Approval>>;
    /// Those of several deployments, the oldest first.
    fn approvals_of_all(&mut self, deployments: &[DeploymentId]) -> Result<Vec<Approval>>;
    /// In the place of what the same person said by the same rule.
    fn save_approval(&mut self, approval: &Approval) -> Result<()>;
}

impl ApprovalStore for Tx<'_> {
    fn approvals_of(&mut self, deployment: DeploymentId) -> Result<Vec<Approval>> {
        each_backend!(self, |conn| approvals::table
            .filter(approvals::deployment_id.eq(deployment))
            .order(approvals::id)
            .select(Approval::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn approvals_of_all(&mut self, deployments: &[DeploymentId]) -> Result<Vec<Approval>> {
        if deployments.is_empty() {
            return Ok(Vec::new());
        }
        each_backend!(self, |conn| approvals::table
            .filter(approvals::deployment_id.one_of(deployments))
            .order(approvals::id)
            .select(Approval::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn save_approval(&mut self, approval: &Approval) -> Result<()> {
        let row = (
            approvals::deployment_id.eq(approval.deployment_id),
            approvals::user_id.eq(approval.user_id),
            approvals::rule_id.eq(approval.rule_id),
            approvals::status.eq(approval.status),
            approvals::comment.eq(&approval.comment),
            approvals::created_at.eq(approval.created_at),
            approvals::updated_at.eq(approval.updated_at),
        );
        let changed = (
            approvals::status.eq(approval.status),
            approvals::comment.eq(&approval.comment),
            approvals::updated_at.eq(approval.updated_at),
        );
        let upsert = diesel::insert_into(approvals::table)
            .values(row)
            .on_conflict((approvals::deployment_id, approvals::user_id, approvals::rule_id))
            .do_update()
            .set(changed);
        each_backend!(self, |conn| upsert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
