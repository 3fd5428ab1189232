//! Webhooks and integrations.

pub mod hook;
pub mod hook_log;
pub mod import;
pub mod integration;
