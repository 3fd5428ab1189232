//! The approval settings of a project.

use entities::review::approval::ApprovalConfigEntity;
use forge::ports::approvals::Approvers;
use review::{
    approval::config::{self, ConfigChange},
    policy::{AdminApprovals, ReadApprovals},
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::NoParams},
    params,
    present::{Created, Json},
    routes,
};

routes! { "Approvals" at "/projects/{id}/approvals";
    GET  "" => show   : ReadApprovals,
    POST "" => change : AdminApprovals,
}

async fn show(
    app: App,
    call: Call<ReadApprovals, NoParams>,
) -> ApiResult<Json<ApprovalConfigEntity>> {
    let shown = app.db.read(move |tx| config::read(tx, &call.grant, &Approvers));
    Ok(Json(shown.await?.into()))
}

params! {
    pub struct ChangeApprovals {
        /// Number of approvals required from any approver; deprecated, use approval rules.
        approvals_before_merge: Option<i64>,
        reset_approvals_on_push: Option<bool>,
        selective_code_owner_removals: Option<bool>,
        disable_overriding_approvers_per_merge_request: Option<bool>,
        /// Whether authors may approve.
        merge_requests_author_approval: Option<bool>,
        merge_requests_disable_committers_approval: Option<bool>,
        require_password_to_approve: Option<bool>,
    }
}

impl From<ChangeApprovals> for ConfigChange {
    fn from(params: ChangeApprovals) -> Self {
        Self {
            approvals_before_merge: params.approvals_before_merge,
            reset_on_push: params.reset_approvals_on_push,
            selective_removals: params.selective_code_owner_removals,
            no_overriding: params.disable_overriding_approvers_per_merge_request,
            author_approval: params.merge_requests_author_approval,
            no_committer_approval: params.merge_requests_disable_committers_approval,
            require_password: params.require_password_to_approve,
        }
    }
}

async fn change(
    app: App,
    call: Call<AdminApprovals, ChangeApprovals>,
) -> ApiResult<Created<ApprovalConfigEntity>> {
    let (grant, change) = (call.grant, call.params.into());
    let changed =
        app.db.write(move |tx| config::change(tx, &grant, &Approvers, &Approvers, change));
    Ok(Created(changed.await?.into()))
}
