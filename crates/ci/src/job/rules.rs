//! Rules for `allow_failure` and automatic retries.

use kernel::Ts;

use super::{DEPLOYMENT_REJECTED, Job, JobSpec};

/// What is never tried again, whatever a configuration says: it would fail again.
const FINAL: [&str; 7] = [
    "ci_quota_exceeded",
    "no_matching_runner",
    "missing_dependency_failure",
    "forward_deployment_failure",
    "failed_outdated_deployment_job",
    "environment_creation_failure",
    DEPLOYMENT_REJECTED,
];

/// A fault of the server while it assigns a job is tried again so often without anybody saying so.
const SCHEDULER_TRIES: i64 = 2;

/// Whether a job is among those that were made until then.
pub fn is_archived(job: &Job, before: Option<Ts>) -> bool {
    before.is_some_and(|then| job.created_at <= then)
}

/// Whether a job that failed for this reason is tried again by itself.
pub(super) fn is_tried_again(
    job: &Job,
    spec: &JobSpec,
    reason: &str,
    exit_code: Option<i64>,
) -> bool {
    if FINAL.contains(&reason) {
        return false;
    }
    let Some(retry) = &spec.options.retry else {
        return reason == "scheduler_failure" && job.attempt < SCHEDULER_TRIES;
    };
    if job.attempt >= i64::from(retry.max.unwrap_or_default()) {
        return false;
    }
    let by_code = exit_code.zip(retry.exit_codes.as_ref());
    if by_code.is_some_and(|(code, codes)| codes.contains(&code)) {
        return true;
    }
    match &retry.when {
        Some(reasons) => reasons.iter().any(|one| one == "always" || one == reason),
        None => retry.exit_codes.is_none(),
    }
}

/// Whether a job may end with that exit code.
pub(super) fn is_allowed(spec: &JobSpec, exit_code: Option<i64>) -> bool {
    let criteria = spec.options.allow_failure_criteria.as_ref();
    exit_code.zip(criteria).is_some_and(|(code, criteria)| criteria.exit_codes.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::{is_allowed, is_tried_again};
    use crate::{
        config::options::{AllowFailureCriteria, Options, Retry},
        job::{Job, JobSpec, model::tests::job},
    };

    fn spec(max: u8, when: &[&str], exit_codes: Option<Vec<i64>>) -> JobSpec {
        let when = (!when.is_empty()).then(|| when.iter().map(ToString::to_string).collect());
        let retry = Some(Retry { max: Some(max), when, exit_codes });
        JobSpec { options: Options { retry, ..Options::default() }, ..JobSpec::default() }
    }

    #[test]
    fn a_job_is_tried_again_as_often_as_it_says_and_for_those_reasons() {
        let tried = |attempt, spec: &JobSpec, reason| {
            is_tried_again(&Job { attempt, ..job() }, spec, reason, Some(1))
        };
        let twice = spec(2, &[], None);

        assert!(tried(1, &twice, "script_failure"));
        assert!(!tried(2, &twice, "script_failure"));
        assert!(!tried(0, &twice, "missing_dependency_failure"));
        let system = spec(1, &["runner_system_failure"], None);
        assert!(tried(0, &system, "runner_system_failure"));
        assert!(!tried(0, &system, "script_failure"));
        assert!(tried(0, &spec(1, &["always"], None), "script_failure"));
        assert!(tried(0, &spec(1, &[], Some(vec![1])), "script_failure"));
        assert!(!tried(0, &spec(1, &[], Some(vec![2])), "script_failure"));
        assert!(tried(1, &JobSpec::default(), "scheduler_failure"));
        assert!(!tried(2, &JobSpec::default(), "scheduler_failure"));
    }

    #[test]
    fn an_exit_code_may_be_no_harm() {
        let allow_failure_criteria = Some(AllowFailureCriteria { exit_codes: vec![42] });
        let options = Options { allow_failure_criteria, ..Options::default() };
        let spec = JobSpec { options, ..JobSpec::default() };

        assert!(is_allowed(&spec, Some(42)));
        assert!(!is_allowed(&spec, Some(1)));
        assert!(!is_allowed(&spec, None));
    }
}
