//! Settings and limits of the installation.

pub mod appearance;
pub mod audit_event;
pub mod broadcast_message;
pub mod feature;
pub mod plan_limits;
pub mod settings;
pub mod statistics;
pub mod user_agent;
