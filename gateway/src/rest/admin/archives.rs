//! Projects and groups as archives: written, fetched, and read.

use actix_web::{HttpResponse, http::header::CONTENT_DISPOSITION};
use admin::{
    archive::UploadTarget,
    policy::{ArchiveGroup, ArchiveProject},
};
use bstr::BStr;
use bytes::Bytes;
use entities::admin::{archive::ProjectExportEntity, import::ProjectImportEntity};
use forge::archive::actions::{self, Download, GroupImport};
use futures_util::Stream;
use kernel::access::SignedIn;

use super::archive_params::{ExportProject, ImportGroup, ImportProject};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    file_headers::disposition,
    present::{Accepted, Created, Custom, Json},
    rate_limit::ArchiveCall,
    routes,
};

routes! { "Archives" at "";
    POST "/projects/{id}/export"          => export_project   : ArchiveProject,
    GET  "/projects/{id}/export"          => show             : ArchiveProject,
    GET  "/projects/{id}/export/download" => download_project : ArchiveProject,
    POST "/projects/import"               => import_project   : SignedIn,
    POST "/groups/{id}/export"            => export_group     : ArchiveGroup,
    GET  "/groups/{id}/export/download"   => download_group   : ArchiveGroup,
    POST "/groups/import"                 => import_group     : SignedIn,
}

async fn export_project(
    app: App,
    call: Call<ArchiveProject, ExportProject>,
) -> ApiResult<Accepted> {
    app.rates.check_project_archive(ArchiveCall::ProjectExport, call.grant.user()?)?;
    let given = call.params;
    let upload =
        given.upload.map(|target| UploadTarget { url: target.url.0, method: target.http_method });
    actions::request_project(&app, &call.grant, given.description, upload).await?;
    Ok(Accepted)
}

async fn show(app: App, call: Call<ArchiveProject>) -> ApiResult<Json<ProjectExportEntity>> {
    let found = actions::show(&app, &call.grant).await?;
    Ok(Json(ProjectExportEntity::new(&app.urls, &found)))
}

async fn download_project(app: App, call: Call<ArchiveProject>) -> ApiResult<Custom> {
    let is_head = call.is_method("HEAD");
    if !is_head {
        app.rates.check_project_archive(ArchiveCall::ProjectDownload, call.grant.user()?)?;
    }
    Ok(file(actions::download_project(&app, &call.grant, !is_head).await?, is_head))
}

async fn import_project(
    app: App,
    call: Call<SignedIn, ImportProject>,
) -> ApiResult<Created<ProjectImportEntity>> {
    app.rates.check_project_archive(ArchiveCall::ProjectImport, call.grant.user()?)?;
    let project = actions::import_project(&app, &call.grant, call.params.into()).await?;
    let import = actions::import_of(&app, project.id).await?;
    Ok(Created(ProjectImportEntity::of_archive(&project, import.as_ref(), &[], true)))
}

async fn export_group(app: App, call: Call<ArchiveGroup>) -> ApiResult<Accepted> {
    app.rates.check_project_archive(ArchiveCall::GroupExport, call.grant.user()?)?;
    actions::request_group(&app, &call.grant).await?;
    Ok(Accepted)
}

async fn download_group(app: App, call: Call<ArchiveGroup>) -> ApiResult<Custom> {
    let is_head = call.is_method("HEAD");
    if !is_head {
        app.rates.check_project_archive(ArchiveCall::GroupDownload, call.grant.user()?)?;
    }
    Ok(file(actions::download_group(&app, &call.grant, !is_head).await?, is_head))
}

async fn import_group(app: App, call: Call<SignedIn, ImportGroup>) -> ApiResult<Accepted> {
    app.rates.check_project_archive(ArchiveCall::GroupImport, call.grant.user()?)?;
    let given = call.params;
    let asked = GroupImport {
        file: given.file,
        name: given.name.0,
        path: given.path.0,
        parent: given.parent_id,
    };
    actions::import_group(&app, &call.grant, asked).await?;
    Ok(Accepted)
}

fn file(
    found: Download<impl Stream<Item = std::io::Result<Bytes>> + 'static>,
    is_head: bool,
) -> Custom {
    let name = BStr::new(found.name.as_bytes());
    let mut response = HttpResponse::Ok();
    response
        .content_type("application/gzip")
        .insert_header((CONTENT_DISPOSITION, disposition(name, false)))
        .no_chunking(found.size);
    Custom(if is_head { response.finish() } else { response.streaming(found.pieces) })
}
