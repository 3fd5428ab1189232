//! A file that somebody sent.

use std::sync::Arc;

/// An uploaded file, on disk until the request ends.
#[derive(Clone, Debug)]
pub struct Upload {
    pub file_name: String,
    pub content_type: Option<String>,
    pub size: u64,
    pub file: Arc<tempfile::NamedTempFile>,
}
