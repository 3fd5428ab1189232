//! Health, readiness and metrics, for load balancers, orchestrators and Prometheus.

use actix_web::{HttpResponse, http::StatusCode};
use kernel::access::Anyone;
use worker::Queue;

use crate::{app::App, error::ApiResult, extract::Call, metrics, present::Custom, routes};

routes! { "Health" at "//-", any scope;
    GET "/health"    => health    : Anyone,
    GET "/liveness"  => liveness  : Anyone,
    GET "/readiness" => readiness : Anyone,
    GET "/metrics"   => figures   : Anyone,
}

async fn health(_: App, _: Call<Anyone>) -> ApiResult<Custom> {
    Ok(Custom(HttpResponse::Ok().content_type("text/plain").body("GitLab OK")))
}

async fn liveness(_: App, _: Call<Anyone>) -> ApiResult<Custom> {
    Ok(Custom(HttpResponse::Ok().content_type("application/json").body(r#"{"status":"ok"}"#)))
}

/// Yes only when a request would find the database and the repositories, and room for what it writes.
async fn readiness(app: App, _: Call<Anyone>) -> ApiResult<Custom> {
    let database = app
        .db
        .read(|tx| org::user::store::UserStore::find_user(tx, kernel::ids::UserId(1)).map(|_| ()))
        .await;
    let checks = [
        ("database", database.is_ok()),
        ("repositories", app.has_data_folder()),
        ("room", app.room.is_there(&app).await),
        ("serving", app.is_ready()),
    ];
    let ready = checks.iter().all(|(_, good)| *good);
    let state = |good: bool| if good { "ok" } else { "failed" };
    let details: serde_json::Map<String, serde_json::Value> = checks
        .iter()
        .map(|(name, good)| ((*name).to_owned(), serde_json::json!([{ "status": state(*good) }])))
        .collect();
    let mut body = serde_json::json!({ "status": state(ready) });
    if let Some(all) = body.as_object_mut() {
        all.extend(details.into_iter().map(|(name, value)| (format!("{name}_check"), value)));
    }
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Ok(Custom(HttpResponse::build(status).content_type("application/json").body(body.to_string())))
}

async fn figures(app: App, _: Call<Anyone>) -> ApiResult<Custom> {
    // Figures are most wanted when the database does not answer.
    let work = app.db.read(|tx| tx.work_depth()).await;
    metrics::now(app.git.running(), work.ok(), app.is_ready());
    Ok(Custom(HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(metrics::render())))
}
