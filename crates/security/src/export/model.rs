//! An export as it is stored, and the work around it.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{NamespaceId, ProjectId, UserId, VulnerabilityExportId},
};
use serde::{Deserialize, Serialize};
use worker::Job;

use super::Status;

/// Of what the vulnerabilities are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportScope {
    Project(ProjectId),
    Group(NamespaceId),
    /// The projects on the author's dashboard.
    Dashboard,
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::vulnerability_exports, check_for_backend(db::AnyBackend))]
pub struct Export {
    pub id: VulnerabilityExportId,
    pub author_id: UserId,
    pub project_id: Option<ProjectId>,
    pub group_id: Option<NamespaceId>,
    pub status: Status,
    /// Whether the author gets a letter when it is done.
    pub send_email: bool,
    pub created_at: Ts,
    pub started_at: Option<Ts>,
    pub finished_at: Option<Ts>,
    pub expires_at: Ts,
}

impl Export {
    pub fn scope(&self) -> ExportScope {
        match (self.project_id, self.group_id) {
            (Some(project), _) => ExportScope::Project(project),
            (None, Some(group)) => ExportScope::Group(group),
            (None, None) => ExportScope::Dashboard,
        }
    }

    /// The name under which its file is kept.
    pub fn location(id: VulnerabilityExportId) -> String {
        format!("{id}.csv")
    }
}

/// The work of writing an export.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct WriteExport {
    pub export: VulnerabilityExportId,
    /// How often it failed before.
    #[serde(default)]
    pub failures: u32,
}

impl Job for WriteExport {
    const KIND: &'static str = "security.write_export";

    fn unique_key(&self) -> Option<String> {
        Some(self.export.to_string())
    }
}

/// Removes expired exports.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RemoveExports {}

impl Job for RemoveExports {
    const KIND: &'static str = "security.remove_exports";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}
