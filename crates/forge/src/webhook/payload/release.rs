//! Releases.

use db::Tx;
use kernel::Result;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use repo::release::{
    Release,
    link::{ReleaseLink, ReleaseLinkStore as _},
};
use serde_json::{Value, json};

use super::common::{ProjectContext, utc};
use crate::urls::Urls;

/// The formats in which the files of a tag are had.
const FORMATS: [&str; 4] = ["zip", "tar.gz", "tar.bz2", "tar"];

/// A release; its commit is added when it was read.
pub(crate) fn release(
    tx: &mut Tx<'_>,
    context: &ProjectContext,
    row: &Release,
    action: &str,
) -> Result<Value> {
    let tag = utf8_percent_encode(&row.tag, NON_ALPHANUMERIC).to_string();
    let (file, path) = (Urls::path_text(&row.tag.replace('/', "-")), &context.project.path);
    let name = Urls::path_text(&row.tag);
    let sources = FORMATS.map(|format| {
        let url = context.at(&format!("archive/{name}/{path}-{file}.{format}"));
        json!({ "format": format, "url": url })
    });
    let links = tx.links_of_releases(&[row.id])?.remove(&row.id).unwrap_or_default();
    let links: Vec<Value> = links.iter().map(|link| link_json(context, link)).collect();
    Ok(json!({
        "id": row.id,
        "created_at": utc(row.created_at),
        "description": row.description,
        "name": row.name,
        "released_at": utc(row.released_at),
        "tag": row.tag,
        "object_kind": "release",
        "project": context.project_json(),
        "url": context.at(&format!("releases/{tag}")),
        "action": action,
        "assets": { "count": links.len() + sources.len(), "links": links, "sources": sources },
        "commit": null,
    }))
}

fn link_json(context: &ProjectContext, link: &ReleaseLink) -> Value {
    json!({
        "id": link.id,
        "external": !link.is_internal(&context.url()),
        "link_type": link.link_type,
        "name": link.name,
        "url": link.url,
    })
}
