//! Archives of job artifacts as responses.

use actix_web::http::header::CONTENT_DISPOSITION;
use bstr::BStr;
use ci::artifact::Artifact;

use crate::{
    app::App,
    byte_range::{Conditions, Content, Selection, begin},
    error::ApiResult,
    file_headers::disposition,
};

/// The `ETag` of an archive and its files: a digest of the content.
pub(crate) fn entity_tag(archive: &Artifact) -> String {
    format!("\"{}\"", archive.sha256)
}

/// The response with an archive, or with the range of it that the conditions of the request name.
pub(crate) async fn archive_response(
    app: &App,
    archive: &Artifact,
    conditions: &Conditions,
) -> ApiResult<Content> {
    let (length, tag) = (u64::try_from(archive.size).unwrap_or_default(), entity_tag(archive));
    let selection = conditions.select(length, Some(&tag));
    let mut response = match begin(&selection, length, Some(&tag)) {
        Ok(response) => response,
        Err(answer) => return Ok(Content(*answer)),
    };
    let name = disposition(BStr::new(archive.filename.as_bytes()), false);
    response.content_type("application/zip").insert_header((CONTENT_DISPOSITION, name));
    let Selection::Part(part) = selection else {
        let (length, pieces) = app.artifacts.read(&archive.location).await?;
        return Ok(Content(response.no_chunking(length).streaming(pieces)));
    };
    let length = part.end - part.start;
    let pieces = app.artifacts.read_part(&archive.location, part).await?;
    Ok(Content(response.no_chunking(length).streaming(pieces)))
}
