//! Reads a request body into parameters, within limits.

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::{HttpRequest, dev::Payload, error::PayloadError, http::header, web::BytesMut};
use forge::files::Upload;
use futures_util::{StreamExt, TryStreamExt};
use kernel::Error;
use std::{
    io::{ErrorKind, Write},
    sync::Arc,
};

use super::{
    SlowClientGuard,
    params::ParamDoc,
    raw::{Raw, RawMap, split_name},
};
use crate::{
    error::{ApiError, ApiResult},
    limits::Limits,
};

const NOT_JSON: &str = "\nProblem:\n  message body does not match declared format\nResolution:\n  when specifying \
                        application/json as content-type, you must pass valid application/json in the request's \
                        'body' ";

/// The pairs of a query string or of a form.
pub fn pairs(text: &[u8]) -> RawMap {
    let mut map = RawMap::default();
    for pair in text.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        let mut halves = pair.splitn(2, |byte| *byte == b'=');
        let name = decode(halves.next().unwrap_or_default());
        let value = decode(halves.next().unwrap_or_default());
        map.add_pair(&String::from_utf8_lossy(&name), Raw::from_bytes(value));
    }
    map
}

fn decode(text: &[u8]) -> Vec<u8> {
    let spaced: Vec<u8> =
        text.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    percent_encoding::percent_decode(&spaced).collect()
}

/// From so many bytes on a body is a burden.
const LONG: u64 = 64 << 10;

/// Whether a body is long, or may become so.
pub(super) fn is_long(req: &HttpRequest) -> bool {
    let header = |name| req.headers().get(name).and_then(|value| value.to_str().ok());
    let length = header(header::CONTENT_LENGTH).and_then(|value| value.parse::<u64>().ok());
    length.is_some_and(|length| length > LONG) || header(header::TRANSFER_ENCODING).is_some()
}

/// The parameters in the body; none when there is no body. `declared` says for which of them a file is kept.
pub(super) async fn parameters(
    req: &HttpRequest,
    payload: &mut Payload,
    limits: Limits,
    declared: fn() -> Vec<ParamDoc>,
) -> ApiResult<RawMap> {
    let given = req
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let kind = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let payload = SlowClientGuard::new(req, payload.take(), limits.patience);
    if kind == "multipart/form-data" {
        let parts = Multipart::new(req.headers(), payload);
        return multipart(parts, limits, &declared()).await;
    }
    let body = read(payload, limits.body).await?;
    if body.is_empty() {
        return Ok(RawMap::default());
    }
    match kind.as_str() {
        "application/json" => {
            let value = serde_json::from_slice(&body)
                .map_err(|_cause| Error::bad_request().parameters(NOT_JSON));
            Ok(RawMap::from_json(value?))
        }
        "application/x-www-form-urlencoded" => Ok(pairs(&body)),
        _ => Err(ApiError::ContentType(given.to_owned())),
    }
}

async fn read(mut payload: SlowClientGuard, limit: usize) -> ApiResult<BytesMut> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|cause| match cause {
            PayloadError::Io(cause) if cause.kind() == ErrorKind::TimedOut => ApiError::Slow,
            cause => {
                Error::bad_request().parameters(format!("the body cannot be read: {cause}")).into()
            }
        })?;
        if body.len() + chunk.len() > limit {
            return Err(Error::too_large(format!("a body may have {limit} bytes")).into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

pub(crate) fn unreadable(cause: MultipartError) -> ApiError {
    match cause {
        MultipartError::Payload(PayloadError::Io(cause)) if cause.kind() == ErrorKind::TimedOut => {
            ApiError::Slow
        }
        cause => Error::bad_request()
            .parameters(format!("the multipart body cannot be read: {cause}"))
            .into(),
    }
}

/// So many parts may a form have: what each costs is little, and not nothing.
const MOST_PARTS: usize = 4096;

/// The remaining size limits of a form.
struct FormBudget {
    parts: usize,
    /// For all that is kept in memory or thrown away.
    bytes: usize,
    /// For files that are kept, together.
    files: u64,
}

/// The treatment of an uploaded file.
enum FileTreatment {
    /// Its parameter is declared as a file.
    OnDisk,
    /// Its parameter is something else, which may take its content.
    InMemory,
    /// Nobody asked for it.
    Dropped,
}

impl FileTreatment {
    fn of(name: &str, declared: &[ParamDoc]) -> Self {
        let (head, keys) = split_name(name);
        match declared.iter().find(|param| param.name == head) {
            Some(param) if param.schema["format"] != "binary" => Self::InMemory,
            Some(_) if keys.is_empty() => Self::OnDisk,
            _ => Self::Dropped,
        }
    }
}

async fn multipart(
    mut parts: Multipart,
    limits: Limits,
    declared: &[ParamDoc],
) -> ApiResult<RawMap> {
    let mut map = RawMap::default();
    let mut room = FormBudget { parts: MOST_PARTS, bytes: limits.body, files: limits.upload };
    while let Some(part) = parts.try_next().await.map_err(unreadable)? {
        let left = room.parts.checked_sub(1);
        room.parts =
            left.ok_or_else(|| Error::too_large(format!("a form may have {MOST_PARTS} parts")))?;
        let disposition = part.content_disposition().cloned();
        let name =
            disposition.as_ref().and_then(|given| given.get_name()).unwrap_or_default().to_owned();
        let file_name =
            disposition.as_ref().and_then(|given| given.get_filename()).map(str::to_owned);
        let value = match (file_name, FileTreatment::of(&name, declared)) {
            (None, _) => Raw::from_bytes(text(part, &mut room.bytes).await?),
            (Some(file_name), FileTreatment::OnDisk) => {
                Raw::File(upload(part, file_name, &mut room.files).await?)
            }
            (Some(_), FileTreatment::InMemory) => Raw::Attached(text(part, &mut room.bytes).await?),
            (Some(_), FileTreatment::Dropped) => {
                pass_over(part, &mut room.bytes).await?;
                continue;
            }
        };
        map.add_pair(&name, value);
    }
    Ok(map)
}

fn take_from(left: &mut usize, chunk: &[u8]) -> Result<(), Error> {
    *left = left.checked_sub(chunk.len()).ok_or_else(|| Error::too_large("the form"))?;
    Ok(())
}

/// Reads a file that is not kept: it takes of the same room as what is.
pub(crate) async fn pass_over(mut part: Field, left: &mut usize) -> ApiResult<()> {
    while let Some(chunk) = part.try_next().await.map_err(unreadable)? {
        take_from(left, &chunk)?;
    }
    Ok(())
}

/// Reads a part that is no file.
pub(crate) async fn text(mut part: Field, left: &mut usize) -> ApiResult<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = part.try_next().await.map_err(unreadable)? {
        take_from(left, &chunk)?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

async fn upload(mut part: Field, file_name: String, left: &mut u64) -> ApiResult<Upload> {
    let content_type = part.content_type().map(ToString::to_string);
    let mut file = tempfile::NamedTempFile::new().map_err(Error::internal)?;
    let mut size = 0_u64;
    while let Some(chunk) = part.try_next().await.map_err(unreadable)? {
        let length = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
        *left = left.checked_sub(length).ok_or_else(|| Error::too_large("the file"))?;
        size += length;
        file.write_all(&chunk).map_err(Error::internal)?;
    }
    Ok(Upload { file_name, content_type, size, file: Arc::new(file) })
}
