//! Imports of projects.

use std::collections::BTreeMap;

use admin::archive::ArchiveImport;
use admin::import::{Import, ImportFailure, ImportKind};
use forge::import::view::ImportView;
use kernel::{Result, Ts};
use org::project::Project;
use serde::Serialize;
use utoipa::ToSchema;

use crate::org::project::ProjectIdentity;

/// A project that is being imported.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportedProjectEntity {
    pub id: i64,
    pub name: String,
    /// Path with a slash before it.
    pub full_path: String,
    pub full_name: String,
}

impl From<&Project> for ImportedProjectEntity {
    fn from(project: &Project) -> Self {
        Self {
            id: project.id.0,
            name: project.name.clone(),
            full_path: format!("/{}", project.full_path),
            full_name: project.full_name.clone(),
        }
    }
}

/// A project whose import was canceled.
#[derive(Debug, Serialize, ToSchema)]
pub struct CanceledImportEntity {
    #[serde(flatten)]
    pub project: ImportedProjectEntity,
    /// Name of the repository at the source: `owner/name`.
    pub import_source: String,
    pub import_status: String,
    pub human_import_status_name: String,
    /// Page of the repository at the source.
    pub provider_link: String,
}

impl CanceledImportEntity {
    pub fn new(project: &Project, import: &Import) -> Result<Self> {
        let web = import.origin()?.web;
        Ok(Self {
            project: project.into(),
            import_source: import.source.clone(),
            import_status: project.import_status.clone(),
            human_import_status_name: project.import_status.clone(),
            provider_link: match web.is_empty() {
                true => format!("/{}", import.source),
                false => web,
            },
        })
    }
}

/// A relation that could not be imported.
#[derive(Debug, Serialize, ToSchema)]
pub struct FailedRelationEntity {
    pub id: i64,
    #[schema(value_type = String)]
    pub created_at: Ts,
    pub exception_class: &'static str,
    pub exception_message: String,
    /// Name of the object at the source.
    pub source: String,
    pub relation_name: String,
}

impl From<&ImportFailure> for FailedRelationEntity {
    fn from(row: &ImportFailure) -> Self {
        Self {
            id: row.id,
            created_at: row.created_at,
            exception_class: "ImportFailure",
            exception_message: row.message.clone(),
            source: row.source_name.clone(),
            relation_name: row.relation.clone(),
        }
    }
}

/// Numbers of objects by their kind.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportStatsEntity {
    /// Objects that came from the source.
    pub fetched: BTreeMap<String, i64>,
    /// Objects that were written.
    pub imported: BTreeMap<String, i64>,
}

/// The state of a project's import.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectImportEntity {
    #[serde(flatten)]
    pub identity: ProjectIdentity,
    /// `none`, `scheduled`, `started`, `finished`, `failed` or `canceled`.
    pub import_status: String,
    /// Kind of the source.
    pub import_type: Option<String>,
    /// Correlation ID of the import in the logs.
    pub correlation_id: Option<String>,
    /// The newest objects that could not be brought along, at most 100.
    pub failed_relations: Vec<FailedRelationEntity>,
    /// Why the import failed; maintainers only.
    pub import_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<ImportStatsEntity>,
}

impl ProjectImportEntity {
    /// Of a project that comes out of an archive.
    pub fn of_archive(
        project: &Project,
        import: Option<&ArchiveImport>,
        failures: &[ImportFailure],
        sees_error: bool,
    ) -> Self {
        Self {
            identity: project.into(),
            import_status: project.import_status.clone(),
            import_type: Some(forge::archive::actions::SOURCE.to_owned()),
            correlation_id: import.map(|import| import.correlation_id.clone()),
            failed_relations: failures.iter().map(Into::into).collect(),
            import_error: import.and_then(|import| import.error.clone()).filter(|_| sees_error),
            stats: None,
        }
    }

    /// As somebody sees it who may see why an import failed, or may not.
    pub fn new(view: &ImportView, sees_error: bool) -> Result<Self> {
        let import = view.import.as_ref();
        let counted = import.filter(|import| import.kind == ImportKind::RemoteHost);
        let stats = counted.map(Import::stats).transpose()?;
        Ok(Self {
            identity: (&view.project).into(),
            import_status: view.project.import_status.clone(),
            import_type: import.map(|import| import.kind.to_string()),
            correlation_id: import.map(|import| import.correlation_id.clone()),
            failed_relations: view.failures.iter().map(Into::into).collect(),
            import_error: import.and_then(|import| import.error.clone()).filter(|_| sees_error),
            stats: stats.map(|stats| ImportStatsEntity {
                fetched: stats.fetched,
                imported: stats.imported,
            }),
        })
    }
}
