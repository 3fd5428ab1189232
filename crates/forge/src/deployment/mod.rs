//! Deployments, with the commits, jobs and merge requests that they bring.

mod approval;
mod follow;
mod jobs;
mod refs;
mod report;
mod stop;
mod sweeps;

pub use approval::decide;
pub use follow::{FollowDeployment, hurry};
pub(crate) use follow::{follow, follow_deployment};
pub(crate) use jobs::{begin_for_pipeline, environment_url, follow_jobs, is_outdated_job};
pub use refs::DropDeploymentRefs;
pub(crate) use refs::drop_refs;
pub use report::report;
pub use stop::{Stopped, stop};
pub use sweeps::{StopStaleEnvironments, SweepEnvironments, stop_stale_environments};
pub(crate) use sweeps::{stop_stale, sweep_environments};
