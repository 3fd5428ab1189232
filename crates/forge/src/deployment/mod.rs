//! Deployments, with the commits, jobs and merge requests that they bring.

mod approval;
mod follow;
mod jobs;
pub(crate) mod outdated_deployments;
mod ref_stops;
mod refs;
mod report;
mod review_apps;
mod stop;
mod sweeps;

pub use approval::decide;
pub use follow::{FollowDeployment, run_now};
pub(crate) use follow::{follow, follow_deployment};
pub(crate) use jobs::{begin_for_pipeline, environment_terms, follow_jobs};
pub use ref_stops::StopEnvironmentsOf;
pub(crate) use ref_stops::{branches_removed, merge_request_ended, stop_environments_of};
pub use refs::DropDeploymentRefs;
pub(crate) use refs::{drop_refs, is_deployment_ref};
pub use report::report;
pub use review_apps::remove_review_apps;
pub use stop::{StopResult, stop};
pub use sweeps::{StopStaleEnvironments, SweepEnvironments, stop_stale_environments};
pub(crate) use sweeps::{stop_stale, sweep_environments};
