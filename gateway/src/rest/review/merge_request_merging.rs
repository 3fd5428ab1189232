//! Merging merge requests: at once or when the pipeline succeeds, after a rebase, and for a look at the result.

use entities::review::{
    merge_request_detail::MergeRequestDetail, merge_request_records as records,
};
use forge::merge_request::merge::{self, MergeOptions};
use review::{merge_request::merge::AutoMerge, policy::ReadMergeRequests};
use serde::Serialize;
use utoipa::ToSchema;

use super::merge_request_params::OneMergeRequest;
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{AcceptedWith, Created, Json},
    routes,
};

routes! { "Merge requests" at "/projects/{id}/merge_requests/{merge_request_iid}";
    PUT  "/merge"                               => merge     : ReadMergeRequests,
    POST "/cancel_merge_when_pipeline_succeeds" => cancel    : ReadMergeRequests,
    PUT  "/rebase"                              => rebase    : ReadMergeRequests,
    GET  "/merge_ref"                           => merge_ref : ReadMergeRequests,
}

params! {
    pub struct MergeParams {
        /// Message of the merge commit. Default: from the project's template.
        merge_commit_message: Option<String>,
        /// Message of the squash commit. Default: from the project's template.
        squash_commit_message: Option<String>,
        /// Whether to merge when the pipeline succeeds.
        merge_when_pipeline_succeeds: bool = false,
        /// Same as `merge_when_pipeline_succeeds`.
        auto_merge: bool = false,
        /// SHA of the head of the source branch; the request fails if the head has changed.
        sha: Option<String>,
        should_remove_source_branch: Option<bool>,
        squash: bool = false,
    }
}

impl From<MergeParams> for MergeOptions {
    fn from(params: MergeParams) -> Self {
        Self {
            when_pipeline_succeeds: params.merge_when_pipeline_succeeds || params.auto_merge,
            how: AutoMerge {
                merge_commit_message: params.merge_commit_message,
                squash_commit_message: params.squash_commit_message,
                should_remove_source_branch: params.should_remove_source_branch,
                squash: params.squash,
                sha: params.sha.filter(|sha| !sha.is_empty()),
            },
        }
    }
}

async fn merge(
    app: App,
    call: Call<ReadMergeRequests, (OneMergeRequest, MergeParams)>,
) -> ApiResult<Json<MergeRequestDetail>> {
    let (grant, (one, params), urls) = (call.grant, call.params, app.urls.clone());
    let caller = call.caller.user()?;
    let row = merge::accept(&app, &grant, caller, one.merge_request_iid, params.into()).await?;
    let shown = app.db.read(move |tx| records::written(tx, &urls, &grant, &row));
    Ok(Json(shown.await?))
}

/// Result of cancelling an automatic merge.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CanceledEntity {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
}

impl CanceledEntity {
    fn of(canceled: bool) -> Self {
        match canceled {
            true => Self { status: "success", message: None, http_status: None },
            false => Self {
                status: "error",
                message: Some("Can't cancel the automatic merge"),
                http_status: Some(406),
            },
        }
    }
}

async fn cancel(
    app: App,
    call: Call<ReadMergeRequests, OneMergeRequest>,
) -> ApiResult<Created<CanceledEntity>> {
    let (grant, iid) = (call.grant, call.params.merge_request_iid);
    let canceled = app.db.write(move |tx| merge::cancel(tx, &grant, iid));
    Ok(Created(CanceledEntity::of(canceled.await?)))
}

params! {
    pub struct RebaseParams {
        /// Whether to skip the pipeline for the new commits.
        skip_ci: bool = false,
    }
}

#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct RebaseEntity {
    /// Always false: the rebase has finished when the request is answered.
    rebase_in_progress: bool,
}

async fn rebase(
    app: App,
    call: Call<ReadMergeRequests, (OneMergeRequest, RebaseParams)>,
) -> ApiResult<AcceptedWith<RebaseEntity>> {
    let (one, _) = call.params;
    merge::rebase(&app, &call.grant, call.caller.user()?, one.merge_request_iid).await?;
    Ok(AcceptedWith(RebaseEntity { rebase_in_progress: false }))
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MergeRefEntity {
    commit_id: String,
}

async fn merge_ref(
    app: App,
    call: Call<ReadMergeRequests, OneMergeRequest>,
) -> ApiResult<Json<MergeRefEntity>> {
    let caller = call.caller.user()?;
    let id = merge::merge_ref(&app, &call.grant, caller, call.params.merge_request_iid).await?;
    Ok(Json(MergeRefEntity { commit_id: id.to_string() }))
}
