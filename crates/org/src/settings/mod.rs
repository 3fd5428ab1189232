//! The installation's own settings.

pub mod actions;
mod document;
pub mod domains;
mod event;
pub mod model;
pub mod plan_limits;
mod readers;
mod rules;
pub mod store;
pub mod table;

pub use document::{Change, SettingValues};
pub use event::SettingsUpdate;
pub use model::{EmailConfirmation, Settings};
pub use plan_limits::PlanLimits;
