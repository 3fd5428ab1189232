//! Runners: their protocol, and looking after them.

use crate::resources;

pub mod runner_params;

resources! {
    administration { self, creation },
    group_runners,
    job_artifacts { self, uploads },
    job_requests,
    job_updates { self, traces },
    project_runners,
    registration,
    runner_jobs { self, of_token },
}
