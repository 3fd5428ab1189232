//! Approving and rejecting deployments.

use deployments::{
    approval::{ApprovalStatus, actions::Verdict},
    policy::ReadDeployments,
};
use entities::deployments::deployment_approval::DeploymentApprovalEntity;
use forge::deployment::decide;
use kernel::ids::DeploymentId;

use crate::{
    app::App, error::ApiResult, extract::Call, param_enums, params, present::Created, routes,
};

routes! { "Deployment approvals" at "/projects/{id}/deployments/{deployment_id}/approval";
    POST "" => approve : ReadDeployments,
}

param_enums! { ApprovalStatus }

params! {
    pub struct ApproveDeployment {
        deployment_id: DeploymentId,
        status: ApprovalStatus,
        /// At most 255 characters.
        comment: Option<String>,
        /// Name of the user, group or role whose rule counts.
        represented_as: Option<String>,
    }
}

async fn approve(
    app: App,
    call: Call<ReadDeployments, ApproveDeployment>,
) -> ApiResult<Created<DeploymentApprovalEntity>> {
    let (grant, params, urls) = (call.grant, call.params, app.urls.clone());
    let verdict = Verdict {
        status: params.status,
        comment: params.comment,
        represented_as: params.represented_as,
    };
    let said = app.db.write(move |tx| {
        let approval = decide(tx, &grant, params.deployment_id, &verdict)?;
        DeploymentApprovalEntity::new(tx, &urls, &approval)
    });
    Ok(Created(said.await?))
}
