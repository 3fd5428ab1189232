//! Uploaded files as responses.

use actix_web::{HttpResponse, http::header};
use forge::{Objects, files::attachments};

use crate::{error::ApiResult, present::Custom};

/// The response with an uploaded file. Browsers show pictures in place and save everything else, since the content is
/// a user's.
pub(crate) async fn file_response(
    objects: &Objects,
    location: &str,
    name: &str,
) -> ApiResult<Custom> {
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
