//! Files that people add to projects, and how they come back.

use entities::org::upload::UploadEntity;
use forge::files::{Upload, attachments};
use kernel::{Error, access::Anyone};
use org::{
    access::{IdOrPath, locate_project},
    policy::{ReadProject, UploadFiles},
    project::{settings::SettingsStore, statistics::StatisticsStore},
};

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, Custom},
    rest::shared::uploaded_files::file_response,
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
    file_response(&app.uploads, &file, &call.params.filename).await
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
    file_response(&app.uploads, &file, &call.params.filename).await
}
