//! Files that people add to projects, and how they come back.

use actix_web::{HttpResponse, http::header};
use forge::{
    Objects,
    files::{Upload, attachments},
};
use kernel::{Error, access::Anyone};
use org::{
    access::{IdOrPath, locate_project},
    policy::{ReadProject, UploadFiles},
    project::{settings::SettingsStore, statistics::StatisticsStore},
};

use crate::{
    app::App,
    entities::org::upload::UploadEntity,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, Custom},
    routes,
};

routes! { "Uploads" at "";
    POST "/projects/{id}/uploads"                              => create      : UploadFiles,
    GET  "/projects/{id}/uploads/{secret}/{filename}"          => show        : ReadProject,
    GET  "//-/project/{id}/uploads/{secret}/{filename}"        => show        : ReadProject,
    GET  "//uploads/{secret}/{filename}"                       => show_alone  : Anyone,
}

params! {
    struct NewUpload {
        file: Upload,
    }
}

params! {
    struct OneUpload {
        secret: String,
        filename: String,
    }
}

async fn create(app: App, call: Call<UploadFiles, NewUpload>) -> ApiResult<Created<UploadEntity>> {
    let (file, project) = (call.params.file, call.grant.project());
    let bytes = i64::try_from(file.size).unwrap_or(i64::MAX);
    if app.settings().max_attachment_size().is_some_and(|most| bytes > most << 20) {
        return Err(Error::too_large("the file").into());
    }
    let kept = attachments::keep(&app, project, file).await?;
    app.db.write(move |tx| tx.record_upload(project, bytes)).await?;
    Ok(Created(UploadEntity::new(project, &kept)))
}

async fn show(app: App, call: Call<ReadProject, OneUpload>) -> ApiResult<Custom> {
    let (owner, file) = attachments::find(&app, &call.params.secret, &call.params.filename).await?;
    if owner != call.grant.project() {
        return Err(Error::missing().into());
    }
    sent(&app.uploads, &file, &call.params.filename).await
}

/// By its secret alone, unless the project wants to know who asks.
async fn show_alone(app: App, call: Call<Anyone, OneUpload>) -> ApiResult<Custom> {
    let (owner, file) = attachments::find(&app, &call.params.secret, &call.params.filename).await?;
    let actor = call.grant.actor();
    app.db
        .peek(move |tx| {
            if tx.project_settings(owner)?.enforce_auth_checks_on_uploads {
                locate_project(tx, actor, &IdOrPath::Id(owner.0))?;
            }
            Ok(())
        })
        .await
        .map_err(|cause| match cause {
            gone if gone.is_gone() => Error::missing(),
            failure => failure,
        })?;
    sent(&app.uploads, &file, &call.params.filename).await
}

/// Pictures may be shown, everything else is only to be saved: it comes from people, not from us.
pub(crate) async fn sent(objects: &Objects, location: &str, name: &str) -> ApiResult<Custom> {
    let (length, pieces) = objects.read(location).await?;
    let kind = attachments::shown_as(name);
    let way = if kind.is_some() { "inline" } else { "attachment" };
    let encoded = percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC);
    let ascii: String = name.chars().map(|c| if c.is_ascii() { c } else { '_' }).collect();
    let disposition = format!("{way}; filename=\"{ascii}\"; filename*=UTF-8''{encoded}");
    Ok(Custom(
        HttpResponse::Ok()
            .content_type(kind.unwrap_or("application/octet-stream"))
            .insert_header((header::CONTENT_DISPOSITION, disposition))
            .insert_header(("Content-Security-Policy", "sandbox; default-src 'none'"))
            .no_chunking(length)
            .streaming(pieces),
    ))
}
