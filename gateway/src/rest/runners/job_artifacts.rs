//! Runners bring what jobs leave behind, and fetch what others left. Nothing is read before the job's token was looked at.

use actix_multipart::{Field, Multipart};
use actix_web::{HttpRequest, HttpResponse, ResponseError as _, dev::Payload, http::StatusCode};
use ci::{
    Status,
    artifact::{ArtifactFormat, ArtifactKind, plain_filename},
    job::{JobToken, token::find_job},
};
use forge::runner::{
    archive_for_job,
    artifacts::{self, ArtifactUpload, Outcome},
    job_calls::ShownJob,
};
use futures_util::StreamExt as _;
use kernel::{Ability as _, Error, TextEnum as _, access::Anyone, ids::JobId};
use serde_json::json;

use super::job_updates::{entered, refusal, with_status};
use crate::{
    app::App,
    byte_range::{Conditions, Content},
    error::{ApiError, ApiResult},
    extract::{Call, RawMap, SlowClientGuard, part_text, pass_over, raw_pairs, unreadable},
    openapi::{AnswerDoc, Operation},
    params,
    present::Custom,
    rest::shared::archives::archive_response,
    route::{Description, MatchedRoute, RouteRow},
    routes,
};

routes! { "Artifacts of runners" at "/jobs/{job_id}/artifacts", any scope;
    GET  ""           => download  : Anyone,
    POST "/authorize" => authorize : Anyone,
}

/// Bodies that are no parameters.
pub(crate) mod uploads {
    use super::{Description, RouteRow, UPLOAD_DESCRIPTION, UPLOAD_ROUTE};

    pub(crate) static ROUTES: &[RouteRow] = &[UPLOAD_ROUTE];
    pub(crate) static DESCRIPTIONS: &[Description] = &[UPLOAD_DESCRIPTION];
}

const UPLOAD_ROUTE: RouteRow = RouteRow {
    method: "POST",
    pattern: "/jobs/{job_id}/artifacts",
    handler: "upload",
    resource: "Artifacts of runners",
    ability: Anyone::NAME,
    scope: "Instance",
    open: true,
    allows: Anyone::allows,
    also: None,
    for_jobs: false,
    serve: |app, req, payload, matched| Box::pin(serve_upload(app, req, payload, matched)),
};

const UPLOAD_DESCRIPTION: Description = |_| Operation {
    params: Vec::new(),
    paged: false,
    keyset: false,
    answer: AnswerDoc::empty(201),
};

const TOO_LARGE: &str = "file size has reached maximum size limit";
const TAKEN: &str = "another artifact of the same type already exists";
const WRONG_FORMAT: &str = "Invalid file format with specified file type";
/// Bytes of all parts that are no artifact.
const LARGEST_REST: usize = 1 << 20;
/// What may be said in the form as well as in the query, in fields before the file. The form counts more.
const FIELDS: [&str; 3] = ["artifact_type", "artifact_format", "expire_in"];

async fn serve_upload(
    app: App,
    req: HttpRequest,
    payload: Payload,
    matched: MatchedRoute,
) -> HttpResponse {
    match upload(&app, &req, payload, &matched).await {
        Ok(response) => response,
        Err(failure) => failure.error_response(),
    }
}

fn rejection(shown: &ShownJob, status: StatusCode, text: &str) -> HttpResponse {
    with_status(status, shown.job.status).json(json!({ "message": text }))
}

/// What is brought, as the query and the form say.
fn brought(given: &RawMap) -> Result<ArtifactUpload, &'static str> {
    let kind = match given.text("artifact_type") {
        None => ArtifactKind::Archive,
        Some(word) => {
            ArtifactKind::find(word).ok_or("artifact_type does not have a valid value")?
        }
    };
    let format = match given.text("artifact_format") {
        None => ArtifactFormat::Zip,
        Some(word) => {
            ArtifactFormat::find(word).ok_or("artifact_format does not have a valid value")?
        }
    };
    if format != kind.format() || kind == ArtifactKind::Metadata {
        return Err(WRONG_FORMAT);
    }
    let expire_in = given.text("expire_in").map(str::to_owned);
    Ok(ArtifactUpload { kind, filename: kind.to_string(), expire_in })
}

async fn upload(
    app: &App,
    req: &HttpRequest,
    payload: Payload,
    matched: &MatchedRoute,
) -> ApiResult<HttpResponse> {
    let shown = entered(app, req, matched).await?;
    if let Some(refusal) = refusal(&shown) {
        return Ok(refusal);
    }
    let mut given = raw_pairs(req.query_string().as_bytes());
    let payload = SlowClientGuard::new(req, payload, app.limits.patience);
    let mut parts = Multipart::new(req.headers(), payload);
    let mut rest = LARGEST_REST;
    while let Some(part) = parts.next().await {
        let part = part.map_err(unreadable)?;
        if part.name() == Some("file") {
            return match brought(&given) {
                Ok(brought) => keep(app, &shown, brought, part).await,
                Err(text) => Ok(rejection(&shown, StatusCode::BAD_REQUEST, text)),
            };
        }
        let field = FIELDS.into_iter().find(|name| part.name() == Some(*name));
        match field {
            Some(name) => {
                let value = part_text(part, &mut rest).await?;
                given.set(name, String::from_utf8_lossy(&value).into_owned().into());
            }
            None => pass_over(part, &mut rest).await?,
        }
    }
    Ok(rejection(&shown, StatusCode::BAD_REQUEST, "file is missing"))
}

/// The name that comes with a file, or that of its type.
fn plain_name(part: &Field, kind: ArtifactKind) -> String {
    let given = part.content_disposition().and_then(|given| given.get_filename());
    given.and_then(plain_filename).unwrap_or_else(|| kind.to_string())
}

async fn keep(
    app: &App,
    shown: &ShownJob,
    brought: ArtifactUpload,
    mut part: Field,
) -> ApiResult<HttpResponse> {
    let largest = artifacts::size_limit(app, brought.kind).await?;
    let filename = plain_name(&part, brought.kind);
    let mut arriving = artifacts::begin(app, &shown.job, brought.kind).await?;
    while let Some(chunk) = part.next().await {
        let written = match chunk {
            Ok(chunk) => arriving.incoming.write(&chunk).await.map_err(ApiError::from),
            Err(cause) => Err(unreadable(cause)),
        };
        if let Err(failure) = written {
            arriving.incoming.abort().await;
            return Err(failure);
        }
        if arriving.incoming.size() > largest {
            arriving.incoming.abort().await;
            return Ok(rejection(shown, StatusCode::PAYLOAD_TOO_LARGE, TOO_LARGE));
        }
    }
    let brought = ArtifactUpload { filename, ..brought };
    Ok(match artifacts::keep(app, &shown.job, brought, arriving).await? {
        Outcome::Kept => with_status(StatusCode::CREATED, shown.job.status)
            .content_type("application/json")
            .body("201"),
        Outcome::Taken => rejection(shown, StatusCode::BAD_REQUEST, TAKEN),
        Outcome::Refused(sentence) => rejection(shown, StatusCode::BAD_REQUEST, &sentence),
    })
}

params! {
    pub struct FetchArtifacts {
        job_id: JobId,
        /// Token of a job. Not needed if the header `JOB-TOKEN` has it.
        token: Option<String>,
        /// Whether the client follows a redirect to object storage. Ignored: the file is always sent.
        direct_download: Option<bool>,
    }
}

/// For the job itself, for jobs of the same pipeline that run, and for those that somebody began who may read it.
async fn download(app: App, call: Call<Anyone, FetchArtifacts>) -> ApiResult<Content> {
    let conditions = Conditions::of(&call);
    let header = call.header("JOB-TOKEN").map(str::to_owned);
    let token = JobToken::given(header.or(call.params.token).unwrap_or_default());
    let id = call.params.job_id;
    let found = app.db.peek(move |tx| {
        // Its own artifacts a job may fetch at any time, those of others while it runs.
        let own = find_job(tx, &token)?;
        let own = own.filter(|own| own.id == id || own.status == Status::Running);
        archive_for_job(tx, &own.ok_or_else(Error::forbidden)?, id)
    });
    archive_response(&app, &found.await?, &conditions).await
}

/// There is no front proxy that would ask.
async fn authorize(app: App, call: Call<Anyone, FetchArtifacts>) -> ApiResult<Custom> {
    let header = call.header("JOB-TOKEN").map(str::to_owned);
    let token = JobToken::given(header.or(call.params.token).unwrap_or_default());
    let shown = forge::runner::job_calls::shown_job(&app, call.params.job_id, &token).await?;
    if let Some(refusal) = refusal(&shown) {
        return Ok(Custom(refusal));
    }
    let limit = artifacts::size_limit(&app, ArtifactKind::Archive).await?;
    Ok(Custom(HttpResponse::Ok().json(json!({ "MaximumSize": limit }))))
}
