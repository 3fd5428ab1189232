//! Size, storage and maintenance of a project's repository.

use actix_web::HttpResponse;
use entities::org::repository_storage::RepositoryStorage;
use forge::project::statistics::{LanguageShare, language_shares};
use kernel::Error;
use org::{
    policy::{AdminProject, OperateProject, ReadProject},
    project::{STORAGE, store::ProjectStore},
};
use repo::{git::snapshot as snapshots, jobs::run_maintenance};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    present::{Created, Custom, Json},
    routes,
};

routes! { "Projects" at "/projects/{id}";
    GET  "/languages"    => languages    : ReadProject,
    POST "/housekeeping" => housekeeping : AdminProject,
    GET  "/storage"      => storage      : OperateProject,
    GET  "/snapshot"     => snapshot     : OperateProject,
}

/// Share of each language in percent, largest first.
#[derive(Default, Serialize, ToSchema)]
pub struct LanguageShares {
    #[serde(flatten)]
    #[schema(value_type = Object)]
    languages: Map<String, Value>,
}

async fn languages(app: App, call: Call<ReadProject>) -> ApiResult<Json<LanguageShares>> {
    let found = language_shares(&app, call.grant.facts()).await?;
    let percent = |share: &LanguageShare| {
        let text = format!("{}.{:02}", share.hundredths / 100, share.hundredths % 100);
        text.parse::<serde_json::Number>().map_or(Value::Null, Value::Number)
    };
    let languages = found.iter().map(|share| (share.name.to_owned(), percent(share))).collect();
    Ok(Json(LanguageShares { languages }))
}

async fn housekeeping(app: App, call: Call<AdminProject>) -> ApiResult<Created<Option<bool>>> {
    let project = call.grant.project();
    app.db.write(move |tx| run_maintenance(tx, project)).await?;
    Ok(Created(None))
}

async fn storage(app: App, call: Call<OperateProject>) -> ApiResult<Json<RepositoryStorage>> {
    let id = call.grant.project();
    let project = app.db.peek(move |tx| tx.project(id)).await?;
    let folder = app.storage.repository(id);
    let below = folder.as_path().strip_prefix(app.data()).unwrap_or(folder.as_path());
    Ok(Json(RepositoryStorage {
        project_id: id.0,
        disk_path: below.with_extension("").to_string_lossy().into_owned(),
        created_at: project.created_at,
        repository_storage: STORAGE,
    }))
}

/// Refs and objects as they lie on disk, in a tar file that is written while it is sent.
async fn snapshot(app: App, call: Call<OperateProject>) -> ApiResult<Custom> {
    let repo = app.storage.repository(call.grant.project());
    if !repo.as_path().is_dir() {
        return Err(Error::not_found("Repository").into());
    }
    let mut response = HttpResponse::Ok();
    response
        .content_type("application/x-tar")
        .insert_header(("content-disposition", "attachment; filename=\"snapshot.tar\""))
        .insert_header(("content-transfer-encoding", "binary"));
    if call.is_method("HEAD") {
        return Ok(Custom(response.finish()));
    }
    Ok(Custom(response.streaming(snapshots::snapshot(&repo))))
}
