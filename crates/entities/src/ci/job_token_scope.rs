//! The job token scope of a project.

use forge::urls::Urls;
use org::namespace::Namespace;
use serde::Serialize;
use utoipa::ToSchema;

/// Job token settings of a project.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobTokenScopeEntity {
    /// Whether job tokens of other projects are limited to an allowlist.
    pub inbound_enabled: bool,
    /// Whether job tokens of this project are limited to the project.
    pub outbound_enabled: bool,
}

/// A project in a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobTokenProjectEntity {
    pub source_project_id: i64,
    pub target_project_id: i64,
}

/// A group in a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobTokenGroupEntity {
    pub source_project_id: i64,
    pub target_group_id: i64,
}

/// A group in the list.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListedGroupEntity {
    pub id: i64,
    pub web_url: String,
    pub name: String,
}

impl ListedGroupEntity {
    pub fn new(urls: &Urls, group: &Namespace) -> Self {
        Self {
            id: group.id.0,
            web_url: urls.at(&format!("groups/{}", group.full_path)),
            name: group.name.clone(),
        }
    }
}
