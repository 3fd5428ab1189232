//! Groups with which a project is shared.

use forge::urls::Urls;
use org::{namespace::Namespace, project::links::ProjectGroupLink};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct GroupLinkEntity {
    pub id: i64,
    pub project_id: i64,
    pub group_id: i64,
    pub group_access: i32,
    pub expires_at: Option<String>,
}

impl From<ProjectGroupLink> for GroupLinkEntity {
    fn from(link: ProjectGroupLink) -> Self {
        Self {
            id: link.id,
            project_id: link.project_id.0,
            group_id: link.namespace_id.0,
            group_access: link.access_level.number(),
            expires_at: link.expires_at.map(|at| kernel::time::date_text(at.date())),
        }
    }
}

/// A group that contains the project or with which it is shared.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectGroup {
    pub id: i64,
    pub name: String,
    pub avatar_url: Option<String>,
    pub web_url: String,
    pub full_name: String,
    pub full_path: String,
}

impl ProjectGroup {
    pub fn new(urls: &Urls, group: &Namespace) -> Self {
        let picture = |file| urls.at(&format!("uploads/-/system/group/avatar/{}/{file}", group.id));
        Self {
            id: group.id.0,
            name: group.name.clone(),
            avatar_url: group.avatar.as_ref().map(picture),
            web_url: urls.at(&format!("groups/{}", group.full_path)),
            full_name: group.full_name.clone(),
            full_path: group.full_path.clone(),
        }
    }
}
