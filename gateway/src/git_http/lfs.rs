//! Git LFS: clients ask what to do with large files, then bring or fetch each of them.

use std::collections::HashMap;

use actix_web::{
    HttpRequest, HttpResponse,
    dev::Payload,
    http::{Method, StatusCode, header},
};
use bytes::Bytes;
use futures_util::StreamExt;
use kernel::{Error, Standing, error, ids::ProjectId, task::spawn_blocking};
use org::project::settings::SettingsStore;
use repo::{
    git::service::Service,
    lfs::{LfsId, LfsStore},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    GitRequest, Refusal, Step, authenticate, authorize, body, ensure_writable, kind::Kind,
    pack_stream::push_limit,
};
use crate::{app::App, error::SOON, large_files};

pub(super) const CONTENT_TYPE: &str = "application/vnd.git-lfs+json";
const LONGEST_QUESTION: u64 = 4 << 20;
const MOST_FILES: usize = 10_000;
/// What is written at once, away from the threads that answer.
const BLOCK: usize = 1 << 20;

/// What of a path, still percent-encoded, is about large files.
pub(super) fn find(path: &str) -> Option<(&str, Step)> {
    let (place, rest) = path.split_once("/info/lfs/objects/")?;
    if rest == "batch" {
        return Some((place, Step::LargeFiles));
    }
    let (id, size) = rest.split_once('/').map_or((rest, None), |(id, size)| (id, Some(size)));
    let size = size.map(str::parse).transpose().ok()?;
    Some((place, Step::LargeFile { id: id.parse().ok()?, size }))
}

/// Reasons for which an LFS request fails.
pub(super) enum LfsRefusal {
    Refused(Refusal),
    Told(StatusCode, &'static str),
}

impl From<Refusal> for LfsRefusal {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for LfsRefusal {
    fn from(error: Error) -> Self {
        match error.kind {
            error::Kind::Unprocessable => Self::Told(
                StatusCode::UNPROCESSABLE_ENTITY,
                "The content is not what its name and size say.",
            ),
            _ => Self::Refused(error.into()),
        }
    }
}

impl LfsRefusal {
    pub(super) fn response(&self) -> HttpResponse {
        let (status, text) = match self {
            Self::Told(status, text) => (*status, (*text).to_owned()),
            Self::Refused(refusal @ (Refusal::TooFast(..) | Refusal::Wait(_))) => {
                return refusal.response();
            }
            Self::Refused(refusal) => {
                if let Refusal::Failed(cause) = refusal {
                    tracing::error!(error = %cause, details = ?cause, "a large file failed");
                }
                refusal.parts()
            }
        };
        let mut response = HttpResponse::build(status);
        if status == StatusCode::UNAUTHORIZED {
            response.insert_header((header::WWW_AUTHENTICATE, "Basic realm=\"GitLab\""));
            response.insert_header(("LFS-Authenticate", "Basic realm=\"GitLab\""));
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.insert_header((header::RETRY_AFTER, SOON));
        }
        response.content_type(CONTENT_TYPE).body(json!({ "message": text }).to_string())
    }
}

pub(super) async fn answer(
    app: &App,
    req: &HttpRequest,
    payload: Payload,
    wanted: GitRequest,
) -> HttpResponse {
    let answered = match (&wanted.step, req.method()) {
        (Step::LargeFiles, &Method::POST) => batch(app, req, payload, &wanted).await,
        (Step::LargeFile { id, size: None }, &Method::GET | &Method::HEAD) => {
            fetch(app, req, &wanted, id.clone()).await
        }
        (Step::LargeFile { id, size: Some(size) }, &Method::PUT) => {
            store(app, req, payload, &wanted, id.clone(), *size).await
        }
        (Step::LargeFiles, _) => Err(Refusal::Method("POST").into()),
        (Step::LargeFile { size: Some(_), .. }, _) => Err(Refusal::Method("PUT").into()),
        _ => Err(Refusal::Method("GET, HEAD").into()),
    };
    answered.unwrap_or_else(|no| no.response())
}

/// The project whose large files somebody may use.
pub(super) struct Holder {
    pub(super) project: ProjectId,
    full_path: String,
    pub(super) who: Standing,
}

/// Lets somebody in who may read the project, or push to it, if it keeps large files at all.
pub(super) async fn enter(
    app: &App,
    req: &HttpRequest,
    wanted: &GitRequest,
    service: Service,
) -> Result<Holder, LfsRefusal> {
    let visitor = authenticate::enter(app, req).await?;
    let place = authorize::enter(app, &visitor, wanted.address.as_deref(), service).await?;
    let forbidden =
        || LfsRefusal::Told(StatusCode::FORBIDDEN, "Access forbidden. Check your access level.");
    // Wikis keep none.
    let Kind::Code(project) = place.kind else { return Err(forbidden()) };
    let settings = app.db.peek(move |tx| tx.project_settings(project)).await?;
    if !settings.lfs_enabled {
        return Err(forbidden());
    }
    Ok(Holder { project, full_path: place.full_path, who: place.who })
}

#[derive(Deserialize)]
struct BatchRequest {
    operation: String,
    #[serde(default)]
    transfers: Vec<String>,
    #[serde(default)]
    hash_algo: Option<String>,
    objects: Vec<ObjectRequest>,
}

#[derive(Deserialize)]
struct ObjectRequest {
    oid: String,
    size: i64,
}

/// `POST …/info/lfs/objects/batch`
async fn batch(
    app: &App,
    req: &HttpRequest,
    payload: Payload,
    wanted: &GitRequest,
) -> Result<HttpResponse, LfsRefusal> {
    let unclear = |text| LfsRefusal::Told(StatusCode::UNPROCESSABLE_ENTITY, text);
    let batch_request: BatchRequest = read(req, payload).await?;
    let uploads = match batch_request.operation.as_str() {
        "upload" => true,
        "download" => false,
        _ => return Err(unclear("The operation is neither upload nor download.")),
    };
    if !batch_request.transfers.is_empty()
        && !batch_request.transfers.iter().any(|name| name == "basic")
    {
        return Err(unclear("Only basic transfers are offered."));
    }
    if batch_request.hash_algo.as_deref().is_some_and(|name| name != "sha256") {
        return Err(LfsRefusal::Told(StatusCode::CONFLICT, "Only sha256 is understood."));
    }
    if batch_request.objects.len() > MOST_FILES {
        return Err(LfsRefusal::Told(StatusCode::PAYLOAD_TOO_LARGE, "Too many files at once."));
    }
    let service = if uploads { Service::ReceivePack } else { Service::UploadPack };
    ensure_writable(app, service)?;
    let place = enter(app, req, wanted, service).await?;
    let project = place.project;
    let ids: Vec<LfsId> =
        batch_request.objects.iter().filter_map(|one| one.oid.parse().ok()).collect();
    let known = app.db.read(move |tx| tx.lfs_objects(project, &ids)).await?;
    let actions = ObjectActions { app, path: &place.full_path, credential: credential(req), known };
    let objects: Vec<Value> =
        batch_request.objects.iter().map(|one| actions.of(one, uploads)).collect();
    let answer = json!({ "transfer": "basic", "objects": objects, "hash_algo": "sha256" });
    Ok(HttpResponse::Ok().content_type(CONTENT_TYPE).body(answer.to_string()))
}

/// What is asked, as JSON.
pub(super) async fn read<T: DeserializeOwned>(
    req: &HttpRequest,
    payload: Payload,
) -> Result<T, LfsRefusal> {
    let mut text = Vec::new();
    let mut chunks = body::read(req, payload, LONGEST_QUESTION)?;
    while let Some(chunk) = chunks.next().await {
        let cut = || LfsRefusal::Told(StatusCode::PAYLOAD_TOO_LARGE, "The question is too long.");
        text.extend_from_slice(&chunk.map_err(|_cut| cut())?);
    }
    let unclear =
        || LfsRefusal::Told(StatusCode::UNPROCESSABLE_ENTITY, "The question is not understood.");
    serde_json::from_slice(&text).map_err(|_malformed| unclear())
}

/// What the caller showed, to be shown again with the file itself.
fn credential(req: &HttpRequest) -> Option<String> {
    let value = req.headers().get(header::AUTHORIZATION)?;
    value.to_str().ok().map(str::to_owned)
}

/// Builds the actions of each object of a batch response.
struct ObjectActions<'a> {
    app: &'a App,
    path: &'a str,
    credential: Option<String>,
    known: HashMap<String, i64>,
}

impl ObjectActions<'_> {
    fn of(&self, asked: &ObjectRequest, uploads: bool) -> Value {
        let mut told = json!({ "oid": asked.oid, "size": asked.size });
        let limit = i64::try_from(push_limit(self.app)).unwrap_or(i64::MAX);
        let trouble = if asked.oid.parse::<LfsId>().is_err() || asked.size < 0 {
            Some((422, "Object has no valid name or size"))
        } else if uploads && limit > 0 && asked.size > limit {
            Some((422, "Object is too large"))
        } else if !uploads && self.known.get(&asked.oid) != Some(&asked.size) {
            Some((
                404,
                "Object does not exist on the server or you don't have permissions to access it",
            ))
        } else {
            None
        };
        if let Some((code, message)) = trouble {
            told["error"] = json!({ "code": code, "message": message });
            return told;
        }
        told["authenticated"] = json!(true);
        let file = format!("{}.git/info/lfs/objects/{}", self.path, asked.oid);
        match uploads {
            false => told["actions"] = json!({ "download": self.action(&file) }),
            // What is here already need not come again.
            true if self.known.contains_key(&asked.oid) => {}
            true => {
                let file = format!("{file}/{}", asked.size);
                told["actions"] = json!({ "upload": self.action(&file) });
            }
        }
        told
    }

    fn action(&self, file: &str) -> Value {
        let mut action = json!({ "href": self.app.urls.at(file) });
        if let Some(credential) = &self.credential {
            action["header"] = json!({ "Authorization": credential });
        }
        action
    }
}

/// `GET …/info/lfs/objects/<oid>`
async fn fetch(
    app: &App,
    req: &HttpRequest,
    wanted: &GitRequest,
    id: LfsId,
) -> Result<HttpResponse, LfsRefusal> {
    let place = enter(app, req, wanted, Service::UploadPack).await?;
    let found = large_files::find(app, place.project, &id).await?;
    let Some((size, content)) = found else {
        return Err(LfsRefusal::Told(StatusCode::NOT_FOUND, "There is no such file."));
    };
    let mut response = HttpResponse::Ok();
    response.content_type("application/octet-stream").no_chunking(size);
    let sent = if req.method() == Method::HEAD { 0 } else { usize::MAX };
    Ok(response.streaming(content.take(sent)))
}

/// `PUT …/info/lfs/objects/<oid>/<size>`
async fn store(
    app: &App,
    req: &HttpRequest,
    payload: Payload,
    wanted: &GitRequest,
    id: LfsId,
    size: i64,
) -> Result<HttpResponse, LfsRefusal> {
    ensure_writable(app, Service::ReceivePack)?;
    let place = enter(app, req, wanted, Service::ReceivePack).await?;
    let limit = u64::try_from(size).map_err(|_negative| {
        LfsRefusal::Told(StatusCode::UNPROCESSABLE_ENTITY, "Object has no valid name or size")
    })?;
    let most = push_limit(app);
    if most > 0 && limit > most {
        return Err(LfsRefusal::Told(StatusCode::PAYLOAD_TOO_LARGE, "Object is too large"));
    }
    let files = app.lfs.clone();
    let mut arriving = blocking(move || files.begin()).await?;
    let mut chunks = body::read(req, payload, limit)?;
    let (mut block, mut ended) = (Vec::with_capacity(BLOCK), false);
    while !ended {
        match chunks.next().await {
            None => ended = true,
            Some(Ok(chunk)) => block.extend_from_slice(&chunk),
            // It broke off, or goes on beyond its size.
            Some(Err(_)) => return Err(Error::unprocessable().into()),
        }
        if ended || block.len() >= BLOCK {
            let full = Bytes::from(std::mem::take(&mut block));
            arriving = blocking(move || {
                arriving.write(&full).map_err(Error::internal)?;
                Ok(arriving)
            })
            .await?;
        }
    }
    app.lfs.keep(arriving, &id, size).await?;
    let project = place.project;
    app.db.write(move |tx| tx.add_lfs_object(project, &id, size)).await?;
    Ok(HttpResponse::Ok().content_type(CONTENT_TYPE).body("{}"))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> kernel::Result<T> + Send + 'static,
) -> kernel::Result<T> {
    spawn_blocking(work).await.map_err(Error::internal)?
}
