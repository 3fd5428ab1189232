//! A job as it is stored.

use kernel::{
    Ts,
    ids::{JobId, JobSpecId, PipelineId, ProjectId, ResourceGroupId, UserId},
};

use crate::{Outcome, Status, config::When, pipeline::PipelineRef};

/// Why a job fails that somebody rejected who was asked for an approval. It is over for good.
pub const DEPLOYMENT_REJECTED: &str = "deployment_rejected";

kernel::text_enum! {
    /// By whom it is done.
    pub enum JobKind {
        /// By a runner.
        Build = "build",
        /// By another pipeline, which it makes.
        Bridge = "bridge",
        /// Somewhere else: somebody reports how far it is.
        External = "external",
    }
}

db::record! {
    #[derive(Clone, Debug)]
    pub struct Job from jobs {
        pub id: JobId,
        pub project_id: ProjectId,
        pub pipeline_id: PipelineId,
        pub kind: JobKind,
        pub stage: String,
        pub name: String,
        pub sha: String,
        /// A branch or tag.
        pub ref_name: String,
        pub tag: bool,
        pub status: Status,
        /// Whether a newer one of that name took its place.
        pub retried: bool,
        pub allow_failure: bool,
        pub failure_reason: Option<String>,
        pub user_id: Option<UserId>,
        /// Where more is told of it.
        pub target_url: Option<String>,
        pub description: Option<String>,
        pub coverage: Option<f64>,
        pub created_at: Ts,
        pub updated_at: Ts,
        pub queued_at: Option<Ts>,
        pub started_at: Option<Ts>,
        pub finished_at: Option<Ts>,
        pub protected: bool,
        pub spec_id: Option<JobSpecId>,
        pub run_when: When,
        pub interruptible: bool,
        /// How often it was tried before.
        pub attempt: i64,
        pub environment: Option<String>,
        pub resource_group_id: Option<ResourceGroupId>,
        pub runner_id: Option<i64>,
        pub scheduled_at: Option<Ts>,
        /// Seconds that its configuration lets it run.
        pub timeout: Option<i64>,
        pub erased_at: Option<Ts>,
    }
}

impl Job {
    pub fn outcome(&self) -> Outcome {
        Outcome { status: self.status, allow_failure: self.allow_failure }
    }

    /// Whether somebody lets it begin, or a time.
    pub fn is_action(&self) -> bool {
        matches!(self.run_when, When::Manual | When::Delayed)
    }

    /// Whether another one may take its place.
    pub fn is_retryable(&self) -> bool {
        let was_rejected = self.failure_reason.as_deref() == Some(DEPLOYMENT_REJECTED);
        !self.retried && self.status.is_finished() && !self.went_in_circles() && !was_rejected
    }

    /// Whether somebody may let it begin.
    pub fn is_playable(&self) -> bool {
        let waits = matches!(self.status, Status::Manual | Status::Scheduled);
        self.is_action() && (waits || self.is_retryable())
    }

    /// Whether it left something behind: whatever ran has a log.
    pub fn is_erasable(&self) -> bool {
        self.status.is_complete() && self.started_at.is_some() && self.erased_at.is_none()
    }

    /// The branch or tag for which it runs.
    pub fn place(&self) -> PipelineRef {
        PipelineRef { name: self.ref_name.clone(), tag: self.tag }
    }

    /// A bridge that would make a pipeline of its own kind again fails again.
    fn went_in_circles(&self) -> bool {
        let reason = self.failure_reason.as_deref();
        matches!(reason, Some("pipeline_loop_detected" | "reached_max_descendant_pipelines_depth"))
    }

    /// Seconds that it ran, or runs by now.
    pub fn duration(&self, now: Ts) -> Option<f64> {
        Some(seconds(self.started_at?, self.finished_at.unwrap_or(now)))
    }

    /// Seconds that it waited for a runner, or waits by now.
    pub fn queued_duration(&self, now: Ts) -> Option<f64> {
        Some(seconds(self.queued_at?, self.started_at.unwrap_or(now)))
    }
}

fn seconds(from: Ts, to: Ts) -> f64 {
    let micros = u64::try_from(to.0.saturating_sub(from.0)).unwrap_or_default();
    std::time::Duration::from_micros(micros).as_secs_f64()
}

#[cfg(test)]
pub(super) mod tests {
    use kernel::{
        Ts,
        ids::{JobId, PipelineId, ProjectId},
    };

    use super::{Job, JobKind};
    use crate::{Status, config::When};

    /// Some job that failed.
    pub(in crate::job) fn job() -> Job {
        Job {
            id: JobId(1),
            project_id: ProjectId(1),
            pipeline_id: PipelineId(1),
            kind: JobKind::Build,
            stage: "test".to_owned(),
            name: "unit".to_owned(),
            sha: "0".repeat(40),
            ref_name: "main".to_owned(),
            tag: false,
            status: Status::Failed,
            retried: false,
            allow_failure: false,
            failure_reason: None,
            user_id: None,
            target_url: None,
            description: None,
            coverage: None,
            created_at: Ts(0),
            updated_at: Ts(0),
            queued_at: None,
            started_at: None,
            finished_at: None,
            protected: false,
            spec_id: None,
            run_when: When::OnSuccess,
            interruptible: false,
            attempt: 0,
            environment: None,
            resource_group_id: None,
            runner_id: None,
            scheduled_at: None,
            timeout: None,
            erased_at: None,
        }
    }

    #[test]
    fn what_has_ended_may_be_tried_again_and_what_waits_for_a_person_played() {
        let of = |status, run_when| Job { status, run_when, ..job() };
        for (job, retryable, playable) in [
            (of(Status::Failed, When::OnSuccess), true, false),
            (of(Status::Success, When::Manual), true, true),
            (of(Status::Manual, When::Manual), false, true),
            (of(Status::Scheduled, When::Delayed), false, true),
            (of(Status::Skipped, When::Manual), false, false),
            (of(Status::Running, When::Manual), false, false),
            (Job { retried: true, ..job() }, false, false),
            (
                Job { failure_reason: Some("pipeline_loop_detected".to_owned()), ..job() },
                false,
                false,
            ),
        ] {
            assert_eq!((job.is_retryable(), job.is_playable()), (retryable, playable), "{job:?}");
        }
    }
}
