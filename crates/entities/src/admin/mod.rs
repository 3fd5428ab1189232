//! Webhooks and integrations.

pub mod archive;
pub mod bulk_import;
pub mod hook;
pub mod hook_log;
pub mod import;
pub mod integration;
