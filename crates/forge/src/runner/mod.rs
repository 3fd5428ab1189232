//! Runners with the projects and groups whose jobs they do.

pub mod artifacts;
mod bell;
pub mod contact;
mod dependencies;
pub mod dispatch;
mod handing_over;
mod handover;
pub mod job_calls;
pub mod jobs;
pub mod logs;
mod objects;
mod queue;
pub mod registration;
pub mod removal;
pub mod reports;
mod reservation;
mod variables;

pub use bell::Bell;
pub use dependencies::{Dependency, archive_for_job};
pub use handing_over::HandingOver;
pub use handover::Handover;
pub use objects::Objects;
