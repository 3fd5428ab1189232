//! A repository whose copy failed, as a secondary reports it.

use kernel::Ts;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct GeoFailureEntity {
    pub project_id: i64,
    #[schema(value_type = Option<String>)]
    pub last_repository_synced_at: Option<Ts>,
    #[schema(value_type = Option<String>)]
    pub last_repository_successful_sync_at: Option<Ts>,
    #[schema(value_type = Option<String>)]
    pub last_wiki_synced_at: Option<Ts>,
    #[schema(value_type = Option<String>)]
    pub last_wiki_successful_sync_at: Option<Ts>,
    pub repository_retry_count: Option<i64>,
    pub wiki_retry_count: Option<i64>,
    pub last_repository_sync_failure: Option<String>,
    pub last_wiki_sync_failure: Option<String>,
    pub last_repository_verification_failure: Option<String>,
    pub last_wiki_verification_failure: Option<String>,
    pub repository_verification_checksum_sha: Option<String>,
    pub wiki_verification_checksum_sha: Option<String>,
    pub repository_checksum_mismatch: bool,
    pub wiki_checksum_mismatch: bool,
}
