//! The version of the API.

/// The release whose API this is; clients decide by it which features they may use, and jobs of pipelines see it.
pub const API_VERSION: &str = "15.7.0-ee";
