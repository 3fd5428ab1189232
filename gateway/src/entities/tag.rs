//! Tags as the API shows them.

use repo::{protection::Protection, tag::Tag};
use serde::Serialize;
use utoipa::ToSchema;

use super::commit::{CommitEntity, commit_time};

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TagEntity {
    pub name: String,
    /// The annotation; none for a lightweight tag.
    pub message: Option<String>,
    pub target: String,
    /// None for a tag of something else.
    pub commit: Option<CommitEntity>,
    pub release: Option<TagReleaseEntity>,
    pub protected: bool,
    /// When an annotated tag was made.
    pub created_at: Option<String>,
}

/// What was released under a tag.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TagReleaseEntity {
    pub tag_name: String,
    pub description: Option<String>,
}

impl TagEntity {
    /// For a tag without a release. `project_url` is the address of the project's page.
    pub fn new(tag: Tag, protection: &Protection, project_url: &str) -> Self {
        Self {
            protected: protection.tag(&tag.name).is_protected(),
            name: tag.name,
            message: tag.message,
            target: tag.target.to_string(),
            commit: tag.commit.map(|commit| CommitEntity::new(&commit, project_url)),
            release: None,
            created_at: tag.tagger.map(|tagger| commit_time(tagger.at, tagger.offset)),
        }
    }
}
