//! Settings, licences and the like.

pub mod licenses;
pub mod settings;
pub mod user_agent;
