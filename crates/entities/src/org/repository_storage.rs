//! The storage location of a repository.

use kernel::Ts;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct RepositoryStorage {
    pub project_id: i64,
    /// Path of the repository in the storage folder, without `.git`.
    pub disk_path: String,
    #[schema(value_type = String)]
    pub created_at: Ts,
    pub repository_storage: &'static str,
}
