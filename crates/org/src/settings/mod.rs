//! The installation's own settings.

pub mod actions;
pub mod domains;
pub mod model;
pub mod plan_limits;
pub mod store;

pub use model::{EmailConfirmation, Settings};
pub use plan_limits::PlanLimits;
