//! Approving merge requests.

use entities::review::approval::{ApprovalStateEntity, ApprovalsEntity};
use forge::{
    merge_request::approvals::ensure_source_exists, ports::approvals::Approvers, sign_in::Candidate,
};
use kernel::{Error, error::Kind};
use review::{
    approval::{
        actions::{self, Password},
        own_rules,
    },
    policy::ReadMergeRequests,
};

use super::merge_request_params::OneMergeRequest;
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Accepted, Created, Json},
    routes,
};

routes! { "Approvals of merge requests" at "/projects/{id}/merge_requests/{merge_request_iid}";
    GET  "/approvals"       => show      : ReadMergeRequests,
    POST "/approvals"       => require   : ReadMergeRequests,
    GET  "/approval_state"  => state     : ReadMergeRequests,
    POST "/approve"         => approve   : ReadMergeRequests,
    POST "/unapprove"       => unapprove : ReadMergeRequests,
    PUT  "/reset_approvals" => reset     : ReadMergeRequests,
}

async fn show(
    app: App,
    call: Call<ReadMergeRequests, OneMergeRequest>,
) -> ApiResult<Json<ApprovalsEntity>> {
    let (grant, iid, urls) = (call.grant, call.params.merge_request_iid, app.urls.clone());
    let shown = app.db.read(move |tx| {
        let approvals = actions::read(tx, &grant, &Approvers, iid)?;
        ApprovalsEntity::new(tx, &urls, grant.actor(), &approvals)
    });
    Ok(Json(shown.await?))
}

async fn state(
    app: App,
    call: Call<ReadMergeRequests, OneMergeRequest>,
) -> ApiResult<Json<ApprovalStateEntity>> {
    let (grant, iid, urls) = (call.grant, call.params.merge_request_iid, app.urls.clone());
    let shown = app.db.read(move |tx| {
        let approvals = actions::read(tx, &grant, &Approvers, iid)?;
        ApprovalStateEntity::new(tx, &urls, grant.actor(), &approvals)
    });
    Ok(Json(shown.await?))
}

params! {
    pub struct RequireApprovals {
        merge_request_iid: i64,
        /// Number of approvals required from any approver; deprecated, use approval rules.
        approvals_required: i64,
    }
}

async fn require(
    app: App,
    call: Call<ReadMergeRequests, RequireApprovals>,
) -> ApiResult<Created<ApprovalsEntity>> {
    let (grant, params, urls) = (call.grant, call.params, app.urls.clone());
    let (iid, required) = (params.merge_request_iid, params.approvals_required);
    let kept = app.db.write(move |tx| {
        let approvals = own_rules::require(tx, &grant, &Approvers, iid, required)?;
        ApprovalsEntity::new(tx, &urls, grant.actor(), &approvals)
    });
    match kept.await {
        Ok(approvals) => Ok(Created(approvals)),
        Err(failure) => {
            let text = failure.into_whole(Kind::Unprocessable)?;
            Err(Error::unprocessable().parameters(text).into())
        }
    }
}

params! {
    pub struct Approve {
        merge_request_iid: i64,
        /// SHA of the head commit to approve; the request fails if the head has changed.
        sha: Option<String>,
        /// Password of the caller, if the project requires it to approve.
        approval_password: Option<String>,
    }
}

async fn approve(
    app: App,
    call: Call<ReadMergeRequests, Approve>,
) -> ApiResult<Created<ApprovalsEntity>> {
    let (whom, iid, sha) = (call.whom(), call.params.merge_request_iid, call.params.sha);
    let sha = sha.filter(|sha| !sha.is_empty());
    let (asking, named) = (call.grant.clone(), sha.clone());
    let needed = app.db.read(move |tx| actions::begin(tx, &asking, iid, named.as_deref())).await?;
    ensure_source_exists(&app, &call.grant, iid).await?;
    let shown = match call.params.approval_password {
        Some(given) if needed => {
            let candidate = Candidate::known(call.caller.user()?);
            match candidate.prove(&app, given, whom).await? {
                Some(_) => Password::Shown,
                None => Password::NotShown,
            }
        }
        _ => Password::NotShown,
    };
    let (grant, urls) = (call.grant, app.urls.clone());
    let kept = app.db.write(move |tx| {
        let approvals = actions::approve(tx, &grant, &Approvers, iid, sha.as_deref(), shown)?;
        ApprovalsEntity::new(tx, &urls, grant.actor(), &approvals)
    });
    Ok(Created(kept.await?))
}

async fn unapprove(
    app: App,
    call: Call<ReadMergeRequests, OneMergeRequest>,
) -> ApiResult<Created<ApprovalsEntity>> {
    let (grant, iid, urls) = (call.grant, call.params.merge_request_iid, app.urls.clone());
    let kept = app.db.write(move |tx| {
        let approvals = actions::unapprove(tx, &grant, &Approvers, iid)?;
        ApprovalsEntity::new(tx, &urls, grant.actor(), &approvals)
    });
    Ok(Created(kept.await?))
}

async fn reset(app: App, call: Call<ReadMergeRequests, OneMergeRequest>) -> ApiResult<Accepted> {
    let is_bot = call.caller.user()?.bot;
    let (grant, iid) = (call.grant, call.params.merge_request_iid);
    app.db.write(move |tx| actions::reset(tx, &grant, &Approvers, iid, is_bot)).await?;
    Ok(Accepted)
}
