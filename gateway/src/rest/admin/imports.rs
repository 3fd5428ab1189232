//! Imports of projects from elsewhere: asked for, looked at, and canceled.

use admin::import::ImportStore as _;
use entities::admin::import::{CanceledImportEntity, ImportedProjectEntity, ProjectImportEntity};
use forge::archive::actions::import_of;
use forge::import::{
    Refusal,
    actions::{cancel, import_from_host, import_from_server},
    gists::import_gists,
    view,
};
use kernel::{AccessLevel, Error, access::SignedIn, error::Kind, ids::ProjectId};
use org::policy::ReadProject;

use super::import_params::{CompleteServerImport, ImportFromHost};
use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::Call,
    params,
    present::{AcceptedEmpty, Created, Json},
    routes,
};

routes! { "Imports" at "";
    POST "/import/remote_host"        => from_host   : SignedIn,
    POST "/import/github"             => from_host   : SignedIn,
    POST "/import/remote_host/cancel" => cancel_host : SignedIn,
    POST "/import/github/cancel"      => cancel_host : SignedIn,
    POST "/import/remote_host/gists"  => gists       : SignedIn,
    POST "/import/github/gists"       => gists       : SignedIn,
    POST "/import/remote_server"      => from_server : SignedIn,
    POST "/import/bitbucket_server"   => from_server : SignedIn,
    GET  "/projects/{id}/import"      => show        : ReadProject,
}

params! {
    struct CancelImport {
        /// ID of the project that is being imported.
        project_id: ProjectId,
    }
}

params! {
    struct ImportGists {
        /// Token of the source with access to the gists. Not stored.
        personal_access_token: String,
        /// URL of an enterprise installation. Default: the public service.
        remote_hostname: Option<String>,
        /// Same as `remote_hostname`.
        github_hostname: Option<String>,
    }
}

async fn from_host(
    app: App,
    call: Call<SignedIn, ImportFromHost>,
) -> ApiResult<Created<ImportedProjectEntity>> {
    app.rates.check_import(call.grant.user()?).map_err(|cause| match cause.kind {
        Kind::TooMany { retry_after } => ApiError::HostImportLimit(retry_after),
        _ => cause.into(),
    })?;
    match import_from_host(&app, &call.grant, call.params.into()).await {
        Ok(project) => Ok(Created((&project).into())),
        Err(Refusal::Other(cause)) => Err(cause.into()),
        Err(refusal) => Err(ApiError::HostImport(refusal)),
    }
}

async fn gists(app: App, call: Call<SignedIn, ImportGists>) -> ApiResult<AcceptedEmpty> {
    app.rates.check_import(call.grant.user()?).map_err(|cause| match cause.kind {
        Kind::TooMany { retry_after } => ApiError::HostImportLimit(retry_after),
        _ => cause.into(),
    })?;
    let given = call.params;
    let hostname = given.remote_hostname.as_deref().or(given.github_hostname.as_deref());
    match import_gists(&app, &call.grant, (&given.personal_access_token, hostname)).await {
        Ok(()) => Ok(AcceptedEmpty),
        Err(Refusal::Other(cause)) => Err(cause.into()),
        Err(refusal) => Err(ApiError::HostImport(refusal)),
    }
}

async fn from_server(
    app: App,
    call: Call<SignedIn, CompleteServerImport>,
) -> ApiResult<Created<ImportedProjectEntity>> {
    app.rates.check_import(call.grant.user()?)?;
    let asked = call.params.0;
    let source = format!("{}/{}", asked.project, asked.repository);
    match import_from_server(&app, &call.grant, asked).await {
        Ok(project) => Ok(Created((&project).into())),
        Err(Refusal::Other(cause)) => Err(cause.into()),
        Err(refusal) => Err(ApiError::ServerImport(refusal, source)),
    }
}

async fn cancel_host(
    app: App,
    call: Call<SignedIn, CancelImport>,
) -> ApiResult<Json<CanceledImportEntity>> {
    let project = cancel(&app, &call.grant, call.params.project_id).await?;
    let id = project.id;
    let import = app.db.read(move |tx| tx.find_import(id)).await?.ok_or_else(Error::missing)?;
    Ok(Json(CanceledImportEntity::new(&project, &import)?))
}

async fn show(app: App, call: Call<ReadProject>) -> ApiResult<Json<ProjectImportEntity>> {
    let sees_error = call.grant.who().is(AccessLevel::Maintainer);
    let found = view::show(&app, &call.grant).await?;
    if found.import.is_none()
        && let Some(archive) = import_of(&app, found.project.id).await?
    {
        let (project, failures) = (&found.project, &found.failures);
        let shown = ProjectImportEntity::of_archive(project, Some(&archive), failures, sees_error);
        return Ok(Json(shown));
    }
    Ok(Json(ProjectImportEntity::new(&found, sees_error)?))
}
