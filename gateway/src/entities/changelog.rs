//! Changelogs as the API shows them.

use serde::Serialize;
use utoipa::ToSchema;

/// One section, in Markdown.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ChangelogEntity {
    pub notes: String,
}
