//! An integration as it is stored: its key by its digest, and sealed, since those who manage it may see it again.

use std::collections::BTreeMap;

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, Ts,
    ids::{AlertIntegrationId, ProjectId},
};
use secrets::{UnsealError, Vault};
use serde::{Deserialize, Serialize};

use super::IntegrationKey;

kernel::text_enum! {
    pub enum IntegrationKind {
        Http = "http",
        Prometheus = "prometheus",
    }
}

kernel::text_enum! {
    /// A field of an alert, as monitors call it.
    pub enum AlertField {
        Title = "title",
        Description = "description",
        StartTime = "start_time",
        EndTime = "end_time",
        Service = "service",
        MonitoringTool = "monitoring_tool",
        Hosts = "hosts",
        Severity = "severity",
        Fingerprint = "fingerprint",
        Environment = "gitlab_environment_name",
    }
}

kernel::text_enum! {
    /// What lies at a place of a payload, for people who map fields: any value is read as its field wants it.
    pub enum MappedType {
        Array = "array",
        DateTime = "datetime",
        Text = "string",
    }
}

/// Where a field of an alert lies in a payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredMapping")]
pub struct Mapping {
    /// Keys and list indexes, outermost first.
    pub path: Vec<String>,
    pub kind: MappedType,
    /// What people call the place.
    pub label: Option<String>,
}

impl Mapping {
    /// A place of which nothing else is said.
    pub fn at(path: Vec<String>) -> Self {
        Self { path, kind: MappedType::Text, label: None }
    }
}

/// A mapping as rows have it: older ones know the place alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredMapping {
    Place(Vec<String>),
    Whole { path: Vec<String>, kind: MappedType, label: Option<String> },
}

impl From<StoredMapping> for Mapping {
    fn from(stored: StoredMapping) -> Self {
        match stored {
            StoredMapping::Place(path) => Self::at(path),
            StoredMapping::Whole { path, kind, label } => Self { path, kind, label },
        }
    }
}

pub type Mappings = BTreeMap<AlertField, Mapping>;

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::alert_integrations, check_for_backend(db::AnyBackend))]
pub struct AlertIntegration {
    pub id: AlertIntegrationId,
    pub project_id: ProjectId,
    pub kind: IntegrationKind,
    pub name: String,
    /// What its address ends in.
    pub endpoint: String,
    pub active: bool,
    pub token_digest: String,
    pub sealed: String,
    /// JSON of [`Mappings`].
    pub mappings: String,
    pub created_at: Ts,
    pub updated_at: Ts,
    /// JSON as the monitor sends it, for people who map fields.
    pub payload_example: Option<String>,
}

impl AlertIntegration {
    /// For what a key is sealed.
    pub(crate) fn place(project: ProjectId, endpoint: &str) -> String {
        format!("alert_integration/{project}/{endpoint}")
    }

    pub(super) fn seal(
        vault: &Vault,
        project: ProjectId,
        endpoint: &str,
        key: &IntegrationKey,
    ) -> Result<String> {
        vault.seal(&Self::place(project, endpoint), key.secret()).map_err(Error::internal)
    }

    /// The key in clear.
    pub fn key(&self, vault: &Vault) -> Result<IntegrationKey> {
        let clear: Result<_, UnsealError> =
            vault.unseal(&Self::place(self.project_id, &self.endpoint), &self.sealed);
        clear.map(IntegrationKey::unsealed).map_err(Error::internal)
    }

    /// Whether whoever shows this key may send alerts here.
    pub fn accepts(&self, key: &IntegrationKey) -> bool {
        key.has_digest(&self.token_digest)
    }

    pub fn mapped_fields(&self) -> Result<Mappings> {
        serde_json::from_str(&self.mappings).map_err(Error::internal)
    }

    /// Its name in its address, for people.
    pub fn slug(&self) -> String {
        let lower = self.name.to_lowercase();
        let words = lower.split(|sign: char| !sign.is_ascii_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        match words.is_empty() {
            true => "http-endpoint".to_owned(),
            false => words.join("-"),
        }
    }
}
