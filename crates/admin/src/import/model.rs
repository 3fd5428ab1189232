//! An import as it is stored: the source, its credentials sealed, and the progress.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, Ts,
    ids::{ProjectId, UserId},
};
use secrets::{Secret, UnsealError, Vault};
use serde::{Deserialize, Serialize};

use super::{ImportStats, Stage};

kernel::text_enum! {
    /// The kind of source; `import_type` of projects.
    pub enum ImportKind {
        /// The hosted service, or an enterprise installation of it.
        RemoteHost = "github",
        /// The server that people run themselves.
        RemoteServer = "bitbucket_server",
        /// Any repository that git can fetch over HTTP.
        Url = "git",
    }
}

/// Stages that take long and are done on request, or in another way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionalStages {
    /// Asks for the events of each issue on its own.
    #[serde(default)]
    pub single_endpoint_issue_events: bool,
    /// Asks for the notes of each issue and merge request on its own.
    #[serde(default)]
    pub single_endpoint_notes: bool,
    /// Brings along files that texts name.
    #[serde(default)]
    pub attachments: bool,
}

/// The address of the source, without credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Of the repository in the source's API; empty where there is no API.
    pub api: String,
    /// Base of the API.
    pub base: String,
    /// Of the git repository.
    pub git: String,
    /// For people.
    pub web: String,
    pub has_wiki: bool,
    #[serde(default)]
    pub optional: OptionalStages,
}

/// Credentials for the source.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Credentials {
    pub username: String,
    /// A password or token.
    pub password: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::imports, check_for_backend(db::AnyBackend))]
pub struct Import {
    pub project_id: ProjectId,
    pub kind: ImportKind,
    /// Who asked for it.
    pub user_id: UserId,
    /// Name of the repository at the source: `owner/name`.
    pub source: String,
    origin: String,
    sealed: Option<String>,
    pub correlation_id: String,
    pub stage: Stage,
    pub cursor: Option<String>,
    pub steps: i64,
    pub attempts: i32,
    stats: String,
    pub error: Option<String>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// An import as it is asked for.
#[derive(Clone, Debug)]
pub struct NewImport {
    pub kind: ImportKind,
    pub user: UserId,
    pub source: String,
    pub origin: Origin,
    pub credentials: Option<Credentials>,
}

/// Something that could not be brought along.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::import_failures, check_for_backend(db::AnyBackend))]
pub struct ImportFailure {
    pub id: i64,
    pub relation: String,
    pub source_name: String,
    pub message: String,
    pub created_at: Ts,
}

/// The place for which the credentials of an import are sealed.
pub(super) fn place(project: ProjectId) -> String {
    format!("import/{project}")
}

impl Import {
    pub fn origin(&self) -> Result<Origin> {
        serde_json::from_str(&self.origin).map_err(Error::internal)
    }

    pub fn stats(&self) -> Result<ImportStats> {
        serde_json::from_str(&self.stats).map_err(Error::internal)
    }

    /// What is sealed; nothing where there is none.
    pub(crate) fn unseal(&self, vault: &Vault) -> Option<Result<Secret, UnsealError>> {
        let sealed = self.sealed.as_deref()?;
        Some(vault.unseal(&place(self.project_id), sealed))
    }

    /// What the source asks for; nothing once it is not needed any more.
    pub fn credentials(&self, vault: &Vault) -> Result<Option<Credentials>> {
        let Some(clear) = self.unseal(vault) else { return Ok(None) };
        let clear = clear.map_err(Error::internal)?;
        serde_json::from_str(clear.reveal()).map(Some).map_err(Error::internal)
    }
}

impl Credentials {
    pub(super) fn seal(&self, vault: &Vault, project: ProjectId) -> Result<String> {
        let text = Secret::new(serde_json::to_string(self).map_err(Error::internal)?);
        vault.seal(&place(project), &text).map_err(Error::internal)
    }
}
