//! Runners with the projects and groups whose jobs they do.

pub mod archived_files;
pub mod artifact_sweep;
pub mod artifacts;
pub mod built_in;
pub mod built_in_rule;
pub mod contact;
mod dependencies;
pub mod dispatch;
mod handover;
mod handover_locks;
pub mod job_calls;
mod job_notifier;
pub mod jobs;
pub mod lists;
mod log_followers;
mod log_stream;
pub mod logs;
mod pipeline_refs;
mod queue;
pub mod registration;
pub mod removal;
pub mod reports;
mod reservation;
mod stuck_jobs;
mod variables;

pub use dependencies::{Dependency, archive_for_job};
pub use handover::Handover;
pub use handover_locks::HandoverLocks;
pub use job_notifier::JobNotifier;
pub use log_followers::LogFollowers;
pub use log_stream::{LogNews, follow};
pub(crate) use pipeline_refs::{keep_commits, pipeline_of_ref};
pub(crate) use queue::{active_takers, without_runner};
pub use stuck_jobs::stuck_jobs;
