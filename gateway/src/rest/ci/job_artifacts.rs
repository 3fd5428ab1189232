//! Job artifacts for users.

use actix_web::http::header::CONTENT_DISPOSITION;
use bstr::BStr;
use ci::{
    artifact::{Artifact, ArtifactStore as _},
    job::{Job, JobKind, JobStore as _, actions as jobs},
    pipeline::actions::is_shown,
    policy::{DeleteArtifacts, ReadPipelines, UpdateJobs},
};
use db::Tx;
use entities::ci::{job::JobEntity, job_records::present_one};
use forge::{
    ports::ci::{Projects, Refs},
    runner::{
        archived_files::find,
        artifacts::{archive, expire_all, remove_of_job},
    },
};
use kernel::{Error, Grant, Result, ids::JobId};

use crate::{
    app::App,
    byte_range::{Conditions, Content, Selection, begin},
    error::ApiResult,
    extract::{Call, FilePath},
    file_headers::disposition,
    params,
    present::{Accepted, Json, NoContent},
    rest::shared::archives::{archive_response, entity_tag},
    routes,
};

routes! { "Job artifacts" at "/projects/{id}";
    GET    "/jobs/{job_id}/artifacts"               => download        : ReadPipelines also JobToken,
    GET    "/jobs/{job_id}/artifacts/{*path}"       => show_file       : ReadPipelines also JobToken,
    GET    "/jobs/artifacts/{ref}/download"         => download_of_ref : ReadPipelines also JobToken,
    GET    "/jobs/artifacts/{ref}/raw/{*path}"      => file_of_ref     : ReadPipelines also JobToken,
    POST   "/jobs/{job_id}/artifacts/keep"          => keep            : UpdateJobs,
    DELETE "/jobs/{job_id}/artifacts"               => remove          : DeleteArtifacts,
    DELETE "/artifacts"                             => remove_all      : DeleteArtifacts,
}

/// The archive of a job that the caller may see.
fn readable_archive(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadPipelines>,
    job: Option<Job>,
) -> Result<Artifact> {
    if !is_shown(tx, &Projects, grant.who(), grant.project())? {
        return Err(Error::forbidden());
    }
    let here = |job: &Job| job.project_id == grant.project() && job.kind == JobKind::Build;
    archive(tx, Some(grant.who()), &job.filter(here).ok_or_else(Error::hidden)?)
}

/// One file of an archive, or a part of it. It comes from whoever wrote the job, so no browser shows it as a page of ours.
async fn sent_file(
    app: &App,
    archive: &Artifact,
    path: &FilePath,
    conditions: &Conditions,
) -> ApiResult<Content> {
    let text = std::str::from_utf8(path.bytes()).map_err(|_no_text| Error::hidden())?;
    let file = find(app, archive, text).await?;
    let (length, tag) = (file.size, entity_tag(archive));
    let selection = match conditions.select(length, Some(&tag)) {
        Selection::Part(part) if !file.has_part_from(part.start) => Selection::Whole,
        selection => selection,
    };
    let mut response = match begin(&selection, length, Some(&tag)) {
        Ok(response) => response,
        Err(answer) => return Ok(Content(*answer)),
    };
    let span = selection.span(length);
    let size = span.end - span.start;
    let pieces = file.read(span).await?;
    let name = text.rsplit('/').next().unwrap_or_default();
    Ok(Content(
        response
            .content_type("application/octet-stream")
            .insert_header((CONTENT_DISPOSITION, disposition(BStr::new(name.as_bytes()), false)))
            .insert_header(("Content-Security-Policy", "sandbox; default-src 'none'"))
            .no_chunking(size)
            .streaming(pieces),
    ))
}

params! {
    pub struct OneArchive {
        job_id: JobId,
    }
}

async fn download(app: App, call: Call<ReadPipelines, OneArchive>) -> ApiResult<Content> {
    let conditions = Conditions::of(&call);
    let (grant, id) = (call.grant, call.params.job_id);
    let read = app.db.read(move |tx| {
        let job = tx.find_any_job(id)?;
        readable_archive(tx, &grant, job)
    });
    archive_response(&app, &read.await?, &conditions).await
}

params! {
    pub struct OneArchivedFile {
        job_id: JobId,
        path: FilePath,
    }
}

async fn show_file(app: App, call: Call<ReadPipelines, OneArchivedFile>) -> ApiResult<Content> {
    let conditions = Conditions::of(&call);
    let (grant, params) = (call.grant, call.params);
    let read = app.db.read(move |tx| {
        let job = tx.find_any_job(params.job_id)?;
        readable_archive(tx, &grant, job)
    });
    sent_file(&app, &read.await?, &params.path, &conditions).await
}

params! {
    pub struct ArchiveOfRef {
        r#ref: String,
        /// Name of the job.
        job: String,
    }
}

async fn download_of_ref(app: App, call: Call<ReadPipelines, ArchiveOfRef>) -> ApiResult<Content> {
    let conditions = Conditions::of(&call);
    let (grant, params) = (call.grant, call.params);
    let read = app.db.read(move |tx| {
        let job = tx.newest_success(grant.project(), &params.r#ref, &params.job)?;
        readable_archive(tx, &grant, job)
    });
    archive_response(&app, &read.await?, &conditions).await
}

params! {
    pub struct FileOfRef {
        r#ref: String,
        path: FilePath,
        /// Name of the job.
        job: String,
    }
}

async fn file_of_ref(app: App, call: Call<ReadPipelines, FileOfRef>) -> ApiResult<Content> {
    let conditions = Conditions::of(&call);
    let (grant, params) = (call.grant, call.params);
    let read = app.db.read(move |tx| {
        let job = tx.newest_success(grant.project(), &params.r#ref, &params.job)?;
        readable_archive(tx, &grant, job)
    });
    sent_file(&app, &read.await?, &params.path, &conditions).await
}

async fn keep(app: App, call: Call<UpdateJobs, OneArchive>) -> ApiResult<Json<JobEntity>> {
    let (grant, id) = (call.grant, call.params.job_id);
    let (facts, actor) = (grant.facts().clone(), grant.actor());
    let kept = app.db.write(move |tx| {
        let job = jobs::changeable_build(tx, &grant, &Refs, id)?;
        match tx.keep_artifacts(id)? {
            0 => Err(Error::hidden()),
            _ => Ok(job),
        }
    });
    Ok(Json(present_one(&app, &facts, actor, kept.await?, JobEntity::new).await?))
}

async fn remove(app: App, call: Call<DeleteArtifacts, OneArchive>) -> ApiResult<NoContent> {
    let (grant, id) = (call.grant, call.params.job_id);
    app.db.read(move |tx| jobs::build(tx, grant.project(), id)).await?;
    remove_of_job(&app, id).await?;
    Ok(NoContent)
}

async fn remove_all(app: App, call: Call<DeleteArtifacts>) -> ApiResult<Accepted> {
    let grant = call.grant;
    app.db.write(move |tx| expire_all(tx, grant.project())).await?;
    Ok(Accepted)
}
