//! Tags as the API shows them.

use repo::{protection::Protection, release::Release, tag::Tag};
use serde::Serialize;
use utoipa::ToSchema;

use super::commit::{CommitEntity, commit_time};

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TagEntity {
    pub name: String,
    /// Message of an annotated tag; null for lightweight tags.
    pub message: Option<String>,
    pub target: String,
    /// The tagged commit; null when the tag points to another kind of object.
    pub commit: Option<CommitEntity>,
    pub release: Option<TagReleaseEntity>,
    pub protected: bool,
    /// Time at which an annotated tag was created; null for lightweight tags.
    pub created_at: Option<String>,
}

/// The release of a tag.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TagReleaseEntity {
    pub tag_name: String,
    pub description: Option<String>,
}

impl TagEntity {
    /// `project_url` is the address of the project's page.
    pub fn new(
        tag: Tag,
        release: Option<&Release>,
        protection: &Protection,
        project_url: &str,
    ) -> Self {
        let release = release.map(|release| TagReleaseEntity {
            tag_name: release.tag.clone(),
            description: release.description.clone(),
        });
        Self {
            protected: protection.tag(&tag.name).is_protected(),
            name: tag.name,
            message: tag.message,
            target: tag.target.to_string(),
            commit: tag.commit.map(|commit| CommitEntity::new(&commit, project_url)),
            release,
            created_at: tag.tagger.map(|tagger| commit_time(tagger.at, tagger.offset)),
        }
    }
}
