//! Parts of a project's record: its links, its sizes, the groups it is shared with, and what the caller may do.

use forge::urls::Urls;
use kernel::Feature;
use org::project::{
    ProjectView,
    statistics::Statistics,
    view::{FullView, GroupLink},
};
use repo::license::License;
use serde::Serialize;
use utoipa::ToSchema;

/// License of the repository.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LicenseEntity {
    pub key: &'static str,
    pub name: &'static str,
    pub nickname: Option<&'static str>,
    pub html_url: &'static str,
    pub source_url: &'static str,
}

impl From<License> for LicenseEntity {
    fn from(license: License) -> Self {
        let License { key, name, nickname, url } = license;
        Self { key, name, nickname, html_url: url, source_url: url }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectLinks {
    #[serde(rename = "self")]
    pub this: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issues: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge_requests: Option<String>,
    pub repo_branches: String,
    pub labels: String,
    pub events: String,
    pub members: String,
    pub cluster_agents: String,
}

/// A group with which a project or another group is shared.
#[derive(Debug, Serialize, ToSchema)]
pub struct SharedGroup {
    pub group_id: i64,
    pub group_name: String,
    pub group_full_path: String,
    pub group_access_level: i32,
    pub expires_at: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct StatisticsEntity {
    pub commit_count: i64,
    pub storage_size: i64,
    pub repository_size: i64,
    pub wiki_size: i64,
    pub lfs_objects_size: i64,
    pub job_artifacts_size: i64,
    pub pipeline_artifacts_size: i64,
    pub packages_size: i64,
    pub snippets_size: i64,
    pub uploads_size: i64,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Membership {
    pub access_level: i32,
    pub notification_level: i32,
}

/// Access levels of the caller.
#[derive(Debug, Serialize, ToSchema)]
pub struct Permissions {
    pub project_access: Option<Membership>,
    pub group_access: Option<Membership>,
}

/// State of the project's import. Maintainers only.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct ImportSource {
    pub import_url: Option<String>,
    pub import_type: Option<String>,
}

impl ProjectLinks {
    pub(super) fn new(urls: &Urls, shown: &ProjectView) -> Self {
        let base = format!("{}/{}", urls.at("api/v4/projects"), shown.project.id);
        let at = |what: &str| format!("{base}/{what}");
        let usable = |feature| shown.who.reads(feature, kernel::AccessLevel::Guest);
        Self {
            issues: usable(Feature::Issues).then(|| at("issues")),
            merge_requests: usable(Feature::MergeRequests).then(|| at("merge_requests")),
            repo_branches: at("repository/branches"),
            labels: at("labels"),
            events: at("events"),
            members: at("members"),
            cluster_agents: at("cluster_agents"),
            this: base,
        }
    }
}

impl From<&GroupLink> for SharedGroup {
    fn from(link: &GroupLink) -> Self {
        Self {
            group_id: link.group.0,
            group_name: link.name.clone(),
            group_full_path: link.full_path.clone(),
            group_access_level: link.access_level.number(),
            expires_at: link.expires_at.map(|at| kernel::time::date_text(at.date())),
        }
    }
}

impl From<Statistics> for StatisticsEntity {
    fn from(found: Statistics) -> Self {
        Self {
            commit_count: found.commit_count,
            storage_size: found.storage_size(),
            repository_size: found.repository_size,
            wiki_size: found.wiki_size,
            lfs_objects_size: found.lfs_objects_size,
            job_artifacts_size: 0,
            pipeline_artifacts_size: 0,
            packages_size: 0,
            snippets_size: 0,
            uploads_size: found.uploads_size,
        }
    }
}

impl StatisticsEntity {
    /// Adds what the artifacts of jobs take.
    pub fn add_artifacts(&mut self, bytes: i64) {
        self.job_artifacts_size += bytes;
        self.storage_size += bytes;
    }
}

/// The level of somebody who has chosen none.
const GLOBAL_NOTIFICATIONS: i32 = 3;

impl From<&FullView> for Permissions {
    fn from(full: &FullView) -> Self {
        let membership = |level: kernel::AccessLevel| Membership {
            access_level: level.number(),
            notification_level: GLOBAL_NOTIFICATIONS,
        };
        Self {
            project_access: full.project_access.map(membership),
            group_access: full.group_access.map(membership),
        }
    }
}
