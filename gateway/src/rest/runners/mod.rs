//! Runners: their protocol, and looking after them.

use crate::route::RouteRow;

pub mod administration;
pub mod group_runners;
pub mod job_artifacts;
pub mod job_requests;
pub mod job_updates;
pub mod project_runners;
pub mod registration;
pub mod runner_jobs;
pub mod runner_params;

pub(super) const TABLES: &[&[RouteRow]] = &[
    administration::ROUTES,
    administration::creation::ROUTES,
    group_runners::ROUTES,
    job_artifacts::ROUTES,
    job_artifacts::uploads::ROUTES,
    job_requests::ROUTES,
    job_updates::ROUTES,
    job_updates::traces::ROUTES,
    project_runners::ROUTES,
    registration::ROUTES,
    runner_jobs::ROUTES,
    runner_jobs::of_token::ROUTES,
];
