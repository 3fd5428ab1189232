//! A file that was added to a project, ready to be put into a text.

use forge::files::attachments::{StoredFile, is_picture};
use kernel::ids::ProjectId;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct UploadEntity {
    pub alt: String,
    pub url: String,
    pub full_path: String,
    pub markdown: String,
}

impl UploadEntity {
    pub fn new(project: ProjectId, kept: &StoredFile) -> Self {
        let name = &kept.name;
        let url = format!("/uploads/{}/{name}", kept.secret);
        let picture = is_picture(name);
        let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
        let alt = if picture { stem.to_owned() } else { name.clone() };
        let mark = if picture { "!" } else { "" };
        Self {
            markdown: format!("{mark}[{alt}]({url})"),
            full_path: format!("/-/project/{project}{url}"),
            alt,
            url,
        }
    }
}
