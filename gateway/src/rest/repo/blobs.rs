//! The blobs of a repository, by their ids.

use actix_web::HttpResponse;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use entities::repo::tree::BlobEntity;
use futures_util::StreamExt as _;
use kernel::{Error, Grant, Result};
use repo::{
    git::{BlobInfo, GitError, Oid, blob_stream},
    policy::ReadCode,
};

use super::files::{in_base64, once};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Custom, Either, Json, WithHeaders},
    routes,
};

routes! { "Repository blobs" at "/projects/{id}/repository/blobs";
    GET "/{sha}"     => show : ReadCode,
    GET "/{sha}/raw" => raw  : ReadCode,
}

/// Larger blobs are sent piece by piece.
const WHOLE_BYTES: u64 = 1 << 20;

params! {
    pub struct OneBlob {
        /// Full commit SHA.
        sha: String,
    }
}

/// The blob, with its content where that is small.
async fn find(
    app: &App,
    grant: &Grant<ReadCode>,
    sha: String,
) -> Result<(BlobInfo, Option<Bytes>)> {
    let read = app.git_read(grant.project(), move |reader| {
        let id: Oid = sha.parse().map_err(|_no_id| Error::not_found("Blob"))?;
        let blob = match reader.blob_info(id) {
            Err(GitError::NotFound) => return Err(Error::not_found("Blob")),
            found => found?,
        };
        let is_small = blob.size <= WHOLE_BYTES;
        let content = is_small.then(|| reader.blob(id, WHOLE_BYTES)).transpose()?;
        Ok((blob, content))
    });
    read.await
}

async fn show(
    app: App,
    call: Call<ReadCode, OneBlob>,
) -> ApiResult<Either<Json<BlobEntity>, Custom>> {
    let is_head = call.is_method("HEAD");
    let (blob, content) = find(&app, &call.grant, call.params.sha).await?;
    if let Some(content) = content {
        return Ok(Either::Left(Json(BlobEntity {
            size: blob.size,
            encoding: "base64",
            content: BASE64_STANDARD.encode(content),
            sha: blob.id.to_string(),
        })));
    }
    let mut response = HttpResponse::Ok();
    response.content_type("application/json");
    if is_head {
        return Ok(Either::Right(Custom(response.finish())));
    }
    let repo = app.storage.repository(call.grant.project());
    let pieces = blob_stream(&app.git, &repo, blob.id).await.map_err(Error::from)?;
    let before = format!("{{\"size\":{},\"encoding\":\"base64\",\"content\":\"", blob.size);
    let after = format!("\",\"sha\":\"{}\"}}", blob.id);
    let body = once(before).chain(in_base64(Box::pin(pieces))).chain(once(after));
    Ok(Either::Right(Custom(response.streaming(body))))
}

async fn raw(app: App, call: Call<ReadCode, OneBlob>) -> ApiResult<WithHeaders<Custom>> {
    let is_head = call.is_method("HEAD");
    let (blob, content) = find(&app, &call.grant, call.params.sha).await?;
    let headers = vec![
        ("content-disposition", "inline".to_owned()),
        ("cache-control", "no-store, no-cache".to_owned()),
        ("pragma", "no-cache".to_owned()),
        ("expires", "Fri, 01 Jan 1990 00:00:00 GMT".to_owned()),
    ];
    let mut response = HttpResponse::Ok();
    response.content_type("text/plain");
    let response = match content {
        Some(content) => response.body(content),
        None if is_head => response.no_chunking(blob.size).finish(),
        None => {
            let repo = app.storage.repository(call.grant.project());
            let pieces = blob_stream(&app.git, &repo, blob.id).await.map_err(Error::from)?;
            response.no_chunking(blob.size).streaming(pieces)
        }
    };
    Ok(WithHeaders { body: Custom(response), headers })
}
