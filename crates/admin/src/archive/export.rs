//! An archive that somebody asked for, as it is stored, and the work around it.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, Ts,
    ids::{ArchiveExportId, NamespaceId, ProjectId, UserId},
};
use secrets::{Secret, UnsealError, Vault};
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::Job;

/// How long an archive stays.
const LIFETIME: Duration = Duration::hours(24);

kernel::text_enum! {
    /// The status of an export.
    pub enum ExportStatus {
        Queued = "queued",
        Started = "started",
        Finished = "finished",
        Failed = "failed",
    }
}

kernel::text_enum! {
    /// Steps of an export's state machine.
    pub enum ExportStep {
        /// Done again where the writer was interrupted.
        Start = "start",
        Finish = "finish",
        Fail = "fail",
    }
}

kernel::text_enum! {
    /// The HTTP method of an upload.
    pub enum UploadMethod { Put = "PUT", Post = "POST" }
}

impl ExportStatus {
    /// The state after a step; `None` where the step is not possible.
    pub fn after(self, step: ExportStep) -> Option<Self> {
        match (self, step) {
            (Self::Queued | Self::Started, ExportStep::Start) => Some(Self::Started),
            (Self::Started, ExportStep::Finish) => Some(Self::Finished),
            (Self::Queued | Self::Started, ExportStep::Fail) => Some(Self::Failed),
            (Self::Queued, ExportStep::Finish) | (Self::Finished | Self::Failed, _) => None,
        }
    }

    /// Whether work is still to be done.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Queued | Self::Started)
    }
}

/// The project or group that an archive contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveHome {
    Project(ProjectId),
    Group(NamespaceId),
}

impl ArchiveHome {
    pub fn project(self) -> Option<ProjectId> {
        match self {
            Self::Project(id) => Some(id),
            Self::Group(_) => None,
        }
    }

    pub fn group(self) -> Option<NamespaceId> {
        match self {
            Self::Group(id) => Some(id),
            Self::Project(_) => None,
        }
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::archive_exports, check_for_backend(db::AnyBackend))]
pub struct ArchiveExport {
    pub id: ArchiveExportId,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub user_id: UserId,
    pub status: ExportStatus,
    /// Stands for the description of the project.
    pub description: Option<String>,
    sealed: Option<String>,
    pub error: Option<String>,
    pub created_at: Ts,
    pub finished_at: Option<Ts>,
    pub expires_at: Ts,
}

/// The address to which a finished export is uploaded.
#[derive(Clone, Serialize, Deserialize)]
pub struct UploadTarget {
    pub url: String,
    pub method: UploadMethod,
}

impl std::fmt::Debug for UploadTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UploadTarget")
    }
}

/// An archive as it is asked for.
#[derive(Clone, Debug)]
pub struct NewArchiveExport {
    pub home: ArchiveHome,
    pub user: UserId,
    pub description: Option<String>,
    pub upload: Option<UploadTarget>,
}

/// The place for which addresses are sealed.
const PLACE: &str = "archive-upload";

impl ArchiveExport {
    pub fn home(&self) -> ArchiveHome {
        match (self.project_id, self.namespace_id) {
            (Some(project), _) => ArchiveHome::Project(project),
            (None, group) => ArchiveHome::Group(group.unwrap_or(NamespaceId(0))),
        }
    }

    /// The name under which its file is kept.
    pub fn location(id: ArchiveExportId) -> String {
        format!("archives/{id}.tar.gz")
    }

    pub(crate) fn unseal(&self, vault: &Vault) -> Option<Result<Secret, UnsealError>> {
        self.sealed.as_deref().map(|sealed| vault.unseal(PLACE, sealed))
    }

    pub fn upload(&self, vault: &Vault) -> Result<Option<UploadTarget>> {
        let Some(clear) = self.unseal(vault) else { return Ok(None) };
        let clear = clear.map_err(Error::internal)?;
        serde_json::from_str(clear.reveal()).map(Some).map_err(Error::internal)
    }

    pub(super) fn lifetime() -> Duration {
        LIFETIME
    }
}

impl UploadTarget {
    pub(super) fn seal(&self, vault: &Vault) -> Result<String> {
        let text = Secret::new(serde_json::to_string(self).map_err(Error::internal)?);
        vault.seal(PLACE, &text).map_err(Error::internal)
    }
}

/// The work of writing an archive.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct WriteArchive {
    pub export: ArchiveExportId,
}

impl Job for WriteArchive {
    const KIND: &'static str = "archive.write";

    fn unique_key(&self) -> Option<String> {
        Some(self.export.to_string())
    }
}

/// Removes archives whose time is over.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RemoveArchives {}

impl Job for RemoveArchives {
    const KIND: &'static str = "archive.remove";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

#[cfg(test)]
mod tests {
    use kernel::TextEnum as _;

    use super::{ExportStatus, ExportStep};

    #[test]
    fn every_status_meets_every_step() {
        let mut table = String::new();
        for status in ExportStatus::ALL {
            for step in ExportStep::ALL {
                if let Some(after) = status.after(*step) {
                    table += &format!("{status} {step} {after}\n");
                }
            }
        }
        assert_eq!(
            table,
            "queued start started\nqueued fail failed\nstarted start started\n\
             started finish finished\nstarted fail failed\n"
        );
    }
}
