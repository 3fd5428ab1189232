//! An archive that becomes a project or group, as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, Ts,
    ids::{ArchiveImportId, NamespaceId, ProjectId, UserId},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use worker::Job;

use super::ArchiveHome;
use crate::import::ImportStatus;

/// Values that stand for those of the archive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overrides {
    /// Of the project, by the names that `project.json` has for them.
    #[serde(default)]
    pub project: serde_json::Map<String, serde_json::Value>,
    /// What the project is called once it is whole, in the place of another one.
    #[serde(default)]
    pub replaces: Option<Address>,
}

/// The path of a project within its namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    pub name: String,
    pub path: String,
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::archive_imports, check_for_backend(db::AnyBackend))]
pub struct ArchiveImport {
    pub id: ArchiveImportId,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    /// Who asked for it.
    pub user_id: UserId,
    pub status: ImportStatus,
    overrides: String,
    pub correlation_id: String,
    /// The place of the step that writes now, and the lines that this step has written. The place is 0 before the first step
    /// and -1 while everything is removed.
    pub relation: i64,
    pub line: i64,
    pub steps: i64,
    pub attempts: i32,
    pub error: Option<String>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// An import as it is asked for.
#[derive(Clone, Debug)]
pub struct NewArchiveImport {
    pub home: ArchiveHome,
    pub user: UserId,
    pub overrides: Overrides,
    /// What the kept file is named by; see [`ArchiveImport::new_correlation_id`].
    pub correlation_id: String,
}

impl ArchiveImport {
    pub fn home(&self) -> ArchiveHome {
        match (self.project_id, self.namespace_id) {
            (Some(project), _) => ArchiveHome::Project(project),
            (None, group) => ArchiveHome::Group(group.unwrap_or(NamespaceId(0))),
        }
    }

    pub fn overrides(&self) -> Result<Overrides> {
        serde_json::from_str(&self.overrides).map_err(Error::internal)
    }

    /// The folder of the files of all imports.
    pub const FOLDER: &str = "archives/incoming";

    /// A name for an import that is not written down yet, so that its file can be kept before.
    pub fn new_correlation_id() -> String {
        crate::uuid::new().replace('-', "")
    }

    /// The name under which the file of an import is kept.
    pub fn location(correlation_id: &str) -> String {
        format!("{}/{correlation_id}.tar.gz", Self::FOLDER)
    }

    /// The secret that the file of an archive with this secret gets here: another one, since the project that the
    /// archive is of may have it still, and the same one each time.
    pub fn upload_secret(&self, secret: &str) -> String {
        self.own_name(secret, 32)
    }

    /// As [`upload_secret`](Self::upload_secret), the name of a thread of notes: threads are found by it alone.
    pub fn discussion(&self, name: &str) -> String {
        self.own_name(name, 40)
    }

    fn own_name(&self, name: &str, digits: usize) -> String {
        let digest = Sha256::digest(format!("{}/{}/{name}", self.correlation_id, self.id));
        hex::encode(digest).chars().take(digits).collect()
    }
}

/// The work of reading an archive.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ReadArchive {
    pub import: ArchiveImportId,
}

impl Job for ReadArchive {
    const KIND: &'static str = "archive.read";

    fn unique_key(&self) -> Option<String> {
        Some(self.import.to_string())
    }
}
