//! Archives of projects.

use forge::{archive::actions::ExportView, urls::Urls};
use serde::Serialize;
use utoipa::ToSchema;

use crate::org::project::ProjectIdentity;

/// Where an archive is fetched.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportLinks {
    pub api_url: String,
    pub web_url: String,
}

/// The state of a project's archive.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectExportEntity {
    #[serde(flatten)]
    pub identity: ProjectIdentity,
    /// `none`, `queued`, `started`, `finished` or `regeneration_in_progress`.
    pub export_status: &'static str,
    /// Only when there is a file to fetch.
    #[serde(rename = "_links", skip_serializing_if = "Option::is_none")]
    pub links: Option<ExportLinks>,
}

impl ProjectExportEntity {
    pub fn new(urls: &Urls, view: &ExportView) -> Self {
        let links = view.has_file.then(|| ExportLinks {
            api_url: urls.at(&format!("api/v4/projects/{}/export/download", view.project.id)),
            web_url: urls.at(&format!("{}/download_export", view.project.full_path)),
        });
        Self { identity: (&view.project).into(), export_status: view.status, links }
    }
}
