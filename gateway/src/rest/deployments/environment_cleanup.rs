//! Cleanup of stopped and stale environments.

use actix_web::HttpResponse;
use deployments::{
    environment::{Environment, cleanup::ReviewAppFilter},
    policy::{ReadEnvironments, RemoveReviewApps, StopStaleEnvironments},
};
use entities::deployments::environment::{PromiseEntity, ReviewAppRemovalEntity};
use forge::deployment::{remove_review_apps as delete_review_apps, stop_stale_environments};
use kernel::{Error, Ts};

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Custom, Either, Json},
    routes,
};

routes! { "Cleanup of environments" at "/projects/{id}/environments";
    POST   "/stop_stale"  => stop_stale         : StopStaleEnvironments,
    DELETE "/review_apps" => remove_review_apps : ReadEnvironments,
}

params! {
    pub struct StopStaleParams {
        /// Environments without a deployment since then are stopped: between 10 years and a week ago.
        before: Ts,
    }
}

async fn stop_stale(
    app: App,
    call: Call<StopStaleEnvironments, StopStaleParams>,
) -> ApiResult<Json<PromiseEntity>> {
    let (grant, before) = (call.grant, call.params.before);
    app.db.write(move |tx| stop_stale_environments(tx, &grant, before)).await?;
    let message = "Successfully requested stop for all stale environments";
    Ok(Json(PromiseEntity { message }))
}

params! {
    pub struct RemoveReviewAppsOf {
        /// Only environments that were created before. Default: 30 days ago.
        before: Option<Ts>,
        /// Maximum number of environments, from 1 to 1000.
        limit: i64 = 100,
        /// Whether to only list the environments that would be removed.
        dry_run: bool = true,
    }
}

const MOST: i64 = 1_000;
const NONE: &str = "No environments found for scheduled deletion. Either your query did not match any environments (default \
                    parameters match environments that are 30 days or older), or you have insufficient permissions to delete \
                    matching environments.";
const UNDER_WAY: &str = "Another process already processing a delete request. Please retry later.";
const NOT_ALLOWED: &str = "You do not have permission to destroy environments in this project";

async fn remove_review_apps(
    app: App,
    call: Call<ReadEnvironments, RemoveReviewAppsOf>,
) -> ApiResult<Either<Json<ReviewAppRemovalEntity>, Custom>> {
    let params = call.params;
    if !(1..=MOST).contains(&params.limit) {
        return Err(Error::bad_request().parameters("limit does not have a valid value").into());
    }
    let Ok(grant) = call.grant.also::<RemoveReviewApps>() else {
        return Ok(Either::Right(failed(HttpResponse::Unauthorized(), &[], NOT_ALLOWED)));
    };
    let filter = ReviewAppFilter { before: params.before, limit: params.limit };
    let Some(removal) = delete_review_apps(&app, grant, filter, params.dry_run).await? else {
        return Ok(Either::Right(failed(HttpResponse::Conflict(), &[], UNDER_WAY)));
    };
    if removal.scheduled.is_empty() {
        let response = failed(HttpResponse::BadRequest(), &removal.unprocessable, NONE);
        return Ok(Either::Right(response));
    }
    Ok(Either::Left(Json(ReviewAppRemovalEntity {
        scheduled_entries: removal.scheduled.iter().map(Into::into).collect(),
        unprocessable_entries: Vec::new(),
        message: None,
    })))
}

fn failed(
    mut response: actix_web::HttpResponseBuilder,
    unprocessable: &[Environment],
    message: &'static str,
) -> Custom {
    Custom(response.json(ReviewAppRemovalEntity {
        scheduled_entries: Vec::new(),
        unprocessable_entries: unprocessable.iter().map(Into::into).collect(),
        message: Some(message),
    }))
}
