//! Links of releases as the API shows them.

use kernel::ids::ReleaseLinkId;
use repo::release::link::{LinkType, ReleaseLink};
use serde::Serialize;
use utoipa::ToSchema;

use super::release::encoded;

/// A file of a release that lies elsewhere.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ReleaseLinkEntity {
    #[schema(value_type = i64)]
    pub id: ReleaseLinkId,
    pub name: String,
    pub url: String,
    /// URL below the release that redirects to `url` when the link has a path; otherwise `url` itself.
    pub direct_asset_url: String,
    /// Whether `url` is outside of the project.
    pub external: bool,
    #[schema(value_type = String)]
    pub link_type: LinkType,
}

impl ReleaseLinkEntity {
    pub fn new(project_url: &str, tag: &str, link: ReleaseLink) -> Self {
        let direct = link
            .filepath
            .as_ref()
            .map(|path| format!("{project_url}/-/releases/{}/downloads{path}", encoded(tag)));
        Self {
            direct_asset_url: direct.unwrap_or_else(|| link.url.clone()),
            external: !link.is_internal(project_url),
            id: link.id,
            name: link.name,
            url: link.url,
            link_type: link.link_type,
        }
    }
}
