//! Groups and projects that are fetched from another installation.

use admin::bulk_import::{BulkImport, BulkImportEntity, BulkImportFailure, BulkStatus, EntityKind};
use kernel::Ts;
use serde::Serialize;
use utoipa::ToSchema;

/// A bulk import.
#[derive(Debug, Serialize, ToSchema)]
pub struct BulkImportJson {
    pub id: i64,
    #[schema(value_type = String)]
    pub status: BulkStatus,
    pub source_type: &'static str,
    pub source_url: String,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    /// Whether anything could not be fetched.
    pub has_failures: bool,
}

impl BulkImportJson {
    pub fn new(import: &BulkImport, has_failures: bool) -> Self {
        Self {
            id: import.id.0,
            status: import.status,
            source_type: "gitlab",
            source_url: import.url.clone(),
            created_at: import.created_at,
            updated_at: import.updated_at,
            has_failures,
        }
    }
}

/// A group or project of a bulk import.
#[derive(Debug, Serialize, ToSchema)]
pub struct BulkImportEntityJson {
    pub id: i64,
    pub bulk_import_id: i64,
    #[schema(value_type = String)]
    pub status: BulkStatus,
    /// `group` or `project`.
    pub entity_type: &'static str,
    pub source_full_path: String,
    pub destination_full_path: String,
    /// Same as `destination_slug`.
    pub destination_name: String,
    pub destination_slug: String,
    pub destination_namespace: String,
    /// The entity whose group this one lies in.
    pub parent_id: Option<i64>,
    /// The group that it became.
    pub namespace_id: Option<i64>,
    /// The project that it became.
    pub project_id: Option<i64>,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    pub failures: Vec<BulkFailureJson>,
    /// Whether projects of the group are fetched with it.
    pub migrate_projects: bool,
    pub has_failures: bool,
}

impl BulkImportEntityJson {
    /// With all failures that are known of it.
    pub fn new(entity: &BulkImportEntity, failures: &[BulkImportFailure]) -> Self {
        let (namespace, slug) = (&entity.destination_namespace, &entity.destination_slug);
        Self {
            id: entity.id.0,
            bulk_import_id: entity.bulk_import_id.0,
            status: entity.status,
            entity_type: kind(entity),
            source_full_path: entity.source_full_path.clone(),
            destination_full_path: format!("{namespace}/{slug}").trim_matches('/').to_owned(),
            destination_name: slug.clone(),
            destination_slug: slug.clone(),
            destination_namespace: namespace.clone(),
            parent_id: entity.parent_id.map(|id| id.0),
            namespace_id: entity.namespace_id.map(|id| id.0),
            project_id: entity.project_id.map(|id| id.0),
            created_at: entity.created_at,
            updated_at: entity.updated_at,
            failures: failures.iter().map(|one| BulkFailureJson::new(entity, one)).collect(),
            migrate_projects: entity.migrate_projects,
            has_failures: !failures.is_empty(),
        }
    }
}

fn kind(entity: &BulkImportEntity) -> &'static str {
    match entity.entity_type {
        EntityKind::Group => "group",
        EntityKind::Project => "project",
    }
}

/// Something that could not be fetched.
#[derive(Debug, Serialize, ToSchema)]
pub struct BulkFailureJson {
    pub relation: String,
    pub exception_message: String,
    pub exception_class: &'static str,
    /// Path of the group or project at the source.
    pub source_title: String,
    #[schema(value_type = String)]
    pub created_at: Ts,
}

impl BulkFailureJson {
    pub fn new(entity: &BulkImportEntity, failure: &BulkImportFailure) -> Self {
        Self {
            relation: failure.relation.clone(),
            exception_message: failure.message.clone(),
            exception_class: "ImportFailure",
            source_title: entity.source_full_path.clone(),
            created_at: failure.created_at,
        }
    }
}
