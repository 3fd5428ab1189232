//! Pipelines and their configuration, with the commits and projects that they are of. They are made because somebody pushed,
//! asked for one, opened a merge request, or because another pipeline does.

mod artifact_files;
mod bridge;
mod compile;
mod config;
pub mod control;
mod downstream;
mod job_identity;
mod job_variables;
mod limits;
pub mod lint;
pub mod lookup;
mod make;
mod merge_request;
mod mirror;
mod push;
mod push_variables;
mod query;
mod readers;
mod remote_files;
mod schedules;
mod sweeps;
mod triggers;
mod upstream;
mod validation;
mod variables;

pub(crate) use config::PipelineCommit;
pub use config::config_path;
pub use downstream::{MakeDownstream, run_now};
pub(crate) use downstream::{begin_bridges, make_downstream};
pub(crate) use job_identity::of_itself;
pub(crate) use job_variables::{JobSource, job_source};
pub(crate) use make::cancel_outdated_pipelines;
pub use make::{CancelOutdatedPipelines, Request, make};
pub use merge_request::{MakeForMergeRequest, make_for_merge_request, run_for};
pub(crate) use merge_request::{enqueue_for_merge_request, merge_request_ref};
pub use push::MakeForPush;
pub(crate) use push::{PushContext, enqueue_for_push, make_for_push, run_after_push};
pub use push_variables::refused_push_options;
pub use query::PipelineQuery;
pub use readers::{shown_standings, with_shown_pipelines};
pub(crate) use schedules::{run_due_schedules, run_schedule};
pub use sweeps::{DropStaleJobs, StartDelayedJobs};
pub(crate) use sweeps::{drop_stale_jobs, start_delayed_jobs};
pub use triggers::{TriggerCall, run_trigger};
pub(crate) use variables::{created_at, whole_seconds};
