//! Environments that nobody needs any more.

use actix_web::HttpResponse;
use deployments::{
    environment::cleanup,
    policy::{ReadEnvironments, RemoveReviewApps, StopStaleEnvironments},
};
use forge::deployment::stop_stale_environments;
use kernel::{Error, Ts};

use crate::{
    app::App,
    entities::deployments::environment::{PromiseEntity, ReviewAppRemovalEntity},
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
    pub struct StopStale {
        /// Environments without a deployment since then are stopped: between 10 years and a week ago.
        before: Ts,
    }
}

async fn stop_stale(
    app: App,
    call: Call<StopStaleEnvironments, StopStale>,
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
        /// At most so many, from 1 to 1000.
        limit: i64 = 100,
        /// Whether only to tell which environments would be removed.
        dry_run: bool = true,
    }
}

const MOST: i64 = 1_000;
const NONE: &str = "No environments found for scheduled deletion. Either your query did not match any environments (default \
                    parameters match environments that are 30 days or older), or you have insufficient permissions to delete \
                    matching environments.";
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
        return Ok(Either::Right(failed(HttpResponse::Unauthorized(), NOT_ALLOWED)));
    };
    let removed = app.db.write(move |tx| {
        cleanup::remove_review_apps(tx, &grant, params.before, params.limit, params.dry_run)
    });
    let removed = removed.await?;
    if removed.is_empty() {
        return Ok(Either::Right(failed(HttpResponse::BadRequest(), NONE)));
    }
    Ok(Either::Left(Json(ReviewAppRemovalEntity {
        scheduled_entries: removed.iter().map(Into::into).collect(),
        unprocessable_entries: Vec::new(),
        message: None,
    })))
}

fn failed(mut response: actix_web::HttpResponseBuilder, message: &'static str) -> Custom {
    let (scheduled_entries, unprocessable_entries) = (Vec::new(), Vec::new());
    let message = Some(message);
    Custom(response.json(ReviewAppRemovalEntity {
        scheduled_entries,
        unprocessable_entries,
        message,
    }))
}
