//! Bulk imports as they are stored.

use db::schema::{bulk_import_entities, bulk_import_failures, bulk_imports};
use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, Ts,
    ids::{BulkImportEntityId, BulkImportId, NamespaceId, ProjectId, UserId},
};
use secrets::{Secret, UnsealError, Vault};
use serde::{Deserialize, Serialize};
use worker::Job;

use super::BulkStatus;
use crate::archive::ArchiveHome;

kernel::text_enum! {
    /// The kind of an imported entity.
    pub enum EntityKind { Group = "group_entity", Project = "project_entity" }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = bulk_imports, check_for_backend(db::AnyBackend))]
pub struct BulkImport {
    pub id: BulkImportId,
    pub user_id: UserId,
    pub status: BulkStatus,
    /// Address of the source, without a slash at its end.
    pub url: String,
    sealed: Option<String>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = bulk_import_entities, check_for_backend(db::AnyBackend))]
pub struct BulkImportEntity {
    pub id: BulkImportEntityId,
    pub bulk_import_id: BulkImportId,
    /// The entity whose group this one lies in.
    pub parent_id: Option<BulkImportEntityId>,
    pub entity_type: EntityKind,
    pub status: BulkStatus,
    pub source_full_path: String,
    pub destination_slug: String,
    pub destination_namespace: String,
    /// Whether the projects of a group are fetched with it.
    pub migrate_projects: bool,
    /// What it became.
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    /// Whether the source was asked for an archive.
    pub is_requested: bool,
    /// Requests in a row that failed.
    pub attempts: i32,
    pub created_at: Ts,
    pub updated_at: Ts,
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = bulk_import_failures, check_for_backend(db::AnyBackend))]
pub struct BulkImportFailure {
    pub id: i64,
    pub entity_id: BulkImportEntityId,
    pub relation: String,
    pub message: String,
    pub created_at: Ts,
}

/// The address of the source, and the token for it.
#[derive(Clone)]
pub struct SourceAccess {
    pub url: String,
    pub token: String,
}

impl std::fmt::Debug for SourceAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceAccess").field("url", &self.url).finish_non_exhaustive()
    }
}

/// A bulk import as it is asked for.
#[derive(Clone, Debug)]
pub struct NewBulkImport {
    pub user: UserId,
    pub source: SourceAccess,
    pub entities: Vec<NewEntity>,
}

/// A group or project that is to be fetched.
#[derive(Clone, Debug)]
pub struct NewEntity {
    pub kind: EntityKind,
    pub source_full_path: String,
    pub destination_slug: String,
    pub destination_namespace: String,
    pub migrate_projects: bool,
}

const PLACE: &str = "bulk-import";

impl BulkImportEntity {
    /// The project or group that it became.
    pub fn home(&self) -> Option<ArchiveHome> {
        let group = || self.namespace_id.map(ArchiveHome::Group);
        self.project_id.map(ArchiveHome::Project).or_else(group)
    }

    /// What failures of the whole entity are filed under.
    pub fn entity_type_name(&self) -> &'static str {
        match self.entity_type {
            EntityKind::Group => "group",
            EntityKind::Project => "project",
        }
    }
}

impl BulkImport {
    pub(crate) fn unseal(&self, vault: &Vault) -> Option<Result<Secret, UnsealError>> {
        self.sealed.as_deref().map(|sealed| vault.unseal(PLACE, sealed))
    }

    /// What lets the importer in; nothing once it is not needed any more.
    pub fn source(&self, vault: &Vault) -> Result<Option<SourceAccess>> {
        let Some(clear) = self.unseal(vault) else { return Ok(None) };
        let token = clear.map_err(Error::internal)?.reveal().to_owned();
        Ok(Some(SourceAccess { url: self.url.clone(), token }))
    }
}

impl SourceAccess {
    pub(super) fn seal(&self, vault: &Vault) -> Result<String> {
        vault.seal(PLACE, &Secret::new(self.token.clone())).map_err(Error::internal)
    }
}

/// The work of fetching an entity.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct FetchEntity {
    pub entity: BulkImportEntityId,
}

impl Job for FetchEntity {
    const KIND: &'static str = "bulk_import.fetch";

    fn unique_key(&self) -> Option<String> {
        Some(self.entity.to_string())
    }
}
