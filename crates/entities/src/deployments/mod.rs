//! Environments and what is deployed to them.

pub mod access_rule;
pub mod deployment;
pub mod deployment_approval;
pub mod deployment_records;
pub mod environment;
pub mod freeze_period;
pub mod protected_environment;
pub mod shared_json;
