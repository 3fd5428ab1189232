//! Settings, licences and the like.

pub mod licenses;
pub mod plan_limits;
pub mod settings;
pub mod user_agent;
