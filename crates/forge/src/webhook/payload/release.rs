//! Releases.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use repo::release::Release;
use serde_json::{Value, json};

use super::common::{Scene, utc};

/// The formats in which the files of a tag are had.
const FORMATS: [&str; 4] = ["zip", "tar.gz", "tar.bz2", "tar"];

/// A release; its commit is added when it was read.
pub(crate) fn release(scene: &Scene, row: &Release, action: &str) -> Value {
    let tag = utf8_percent_encode(&row.tag, NON_ALPHANUMERIC).to_string();
    let (file, path) = (row.tag.replace('/', "-"), &scene.project.path);
    let sources = FORMATS.map(|format| {
        let url = scene.at(&format!("archive/{}/{path}-{file}.{format}", row.tag));
        json!({ "format": format, "url": url })
    });
    json!({
        "id": row.id,
        "created_at": utc(row.created_at),
        "description": row.description,
        "name": row.name,
        "released_at": utc(row.released_at),
        "tag": row.tag,
        "object_kind": "release",
        "project": scene.project_json(),
        "url": scene.at(&format!("releases/{tag}")),
        "action": action,
        "assets": { "count": sources.len(), "links": [], "sources": sources },
        "commit": null,
    })
}
