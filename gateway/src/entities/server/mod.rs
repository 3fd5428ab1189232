//! Settings, licences and the like.

pub mod appearance;
pub mod audit_event;
pub mod broadcast_message;
pub mod feature;
pub mod licenses;
pub mod plan_limits;
pub mod settings;
pub mod statistics;
pub mod user_agent;
