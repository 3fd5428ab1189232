//! Pipelines that are made again and again, at times that a cron expression tells.

pub mod actions;
pub mod archive;
mod model;
mod rules;
pub mod runs;
mod store;
mod timing;
pub mod variables;
mod zone;

pub use model::{NewSchedule, Schedule, ScheduleChange, ScheduleVariable};
pub use store::{ScheduleScope, ScheduleStore};
pub use timing::Timing;
