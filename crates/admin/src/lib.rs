//! Administration of projects, groups and the installation: webhooks, integrations, imports, exports and appearance.

pub mod appearance;
pub mod archive;
pub mod audit;
pub mod broadcast;
pub mod bulk_import;
pub mod delivery;
pub mod feature;
pub mod flags;
pub mod hook;
pub mod import;
pub mod integration;
pub mod owner;
pub mod policy;
pub mod sealed;
pub mod uuid;
