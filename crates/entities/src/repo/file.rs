//! Files of a repository.

use serde::Serialize;
use utoipa::ToSchema;

/// A file with its content. Large files are streamed; see [`FileEntity::around_content`].
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FileEntity {
    pub file_name: String,
    pub file_path: String,
    pub size: u64,
    pub encoding: &'static str,
    pub content_sha256: String,
    #[serde(rename = "ref")]
    pub ref_name: String,
    pub blob_id: String,
    pub commit_id: String,
    pub last_commit_id: String,
    pub execute_filemode: bool,
    /// Content in Base64, without line breaks.
    pub content: String,
}

impl FileEntity {
    /// The record as JSON, in two parts: what comes before the content, and what comes after it.
    pub fn around_content(&self) -> serde_json::Result<(String, &'static str)> {
        const END: &str = "\"}";
        let empty = Self { content: String::new(), ..self.clone() };
        let mut whole = serde_json::to_string(&empty)?;
        whole.truncate(whole.len() - END.len());
        Ok((whole, END))
    }
}

/// Result of creating or updating a file.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WrittenFileEntity {
    pub file_path: String,
    pub branch: String,
}
