//! An approval or rejection as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{DeploymentId, EnvironmentAccessId, UserId},
};

kernel::text_enum! {
    pub enum ApprovalStatus { Approved = "approved", Rejected = "rejected" }
}

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::deployment_approvals, check_for_backend(db::AnyBackend))]
pub struct Approval {
    pub deployment_id: DeploymentId,
    pub user_id: UserId,
    /// The rule by which somebody may; 0 where no rule says it.
    pub rule_id: EnvironmentAccessId,
    pub status: ApprovalStatus,
    pub comment: Option<String>,
    pub created_at: Ts,
    pub updated_at: Ts,
}
