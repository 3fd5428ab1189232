//! Changelogs as the API shows them.

use serde::Serialize;
use utoipa::ToSchema;

/// The changelog section for one version, in Markdown.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ChangelogEntity {
    pub notes: String,
}
