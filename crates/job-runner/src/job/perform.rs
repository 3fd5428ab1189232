//! Does a job while its log is sent, and tells the server how it went, whatever happened.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::anyhow;
use serde_json::Value;

use super::{Failure, Job, Layout, Variables, work};
use crate::{
    api::{
        Client, FinalState,
        payload::{Payload, Stub},
    },
    config::Runner,
    control::{Control, Interrupt},
    trace::{ERROR, Masker, Reporter, RetryIntervals, SUCCESS, Trace},
};

/// Of jobs that name no timeout.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3600);

/// Does a job as a runner. Returns when the server was told of its end, or does not want to hear of it.
pub(crate) fn perform(
    runner: &Arc<Runner>,
    client: &Arc<Client>,
    control: &Arc<Control>,
    job: Value,
    pace: RetryIntervals,
) {
    let Ok(stub) = serde_json::from_value::<Stub>(job.clone()) else {
        tracing::error!("the server sent a job without an id or a token");
        return;
    };
    let payload = serde_json::from_value::<Payload>(job);
    let secrets = payload.as_ref().map(secrets).unwrap_or_default();
    let masker = Masker::new(secrets.iter().map(String::as_str).chain([stub.token.as_str()]));
    let trace = Trace::new(masker, runner.output_limit << 10);
    let mut reporter = Reporter::new(client, (stub.id, &stub.token), &trace, control, pace);
    let mut known = Vec::new();
    let outcome = match payload {
        Err(error) => Err(Failure::System(anyhow!("this runner cannot read the job: {error}"))),
        Ok(mut payload) => {
            known = std::mem::take(&mut payload.features.failure_reasons);
            reporter.debug = is_debugged(&payload);
            let parts = (Arc::clone(runner), Arc::clone(client), Arc::clone(control));
            follow(&mut reporter, control, || attempt(parts, payload, &trace, pace))
        }
    };
    let state = end(&trace, outcome, &known);
    if control.at_least(Interrupt::Aborted).is_some() {
        tracing::info!(job = stub.id, "the server has ended the job");
        return;
    }
    let is_told = reporter.finish(&state);
    tracing::info!(job = stub.id, ?state, is_told, "the job has ended");
}

/// Runs a job beside the thread that sends its log.
fn follow(
    reporter: &mut Reporter,
    control: &Control,
    attempt: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| reporter.follow(|| is_over.load(Ordering::Acquire)));
        let outcome = catch_unwind(AssertUnwindSafe(attempt));
        is_over.store(true, Ordering::Release);
        control.wake();
        outcome.unwrap_or_else(|_panic| Err(Failure::System(anyhow!("the runner has a fault"))))
    })
}

type Parts = (Arc<Runner>, Arc<Client>, Arc<Control>);

fn attempt(
    (runner, client, control): Parts,
    mut payload: Payload,
    trace: &Arc<Trace>,
    pace: RetryIntervals,
) -> Result<(), Failure> {
    let begun = Instant::now();
    let elsewhere =
        runner.clone_url.as_deref().and_then(|url| super::git::elsewhere(&payload, url));
    payload.git_info.repo_url = elsewhere.unwrap_or(payload.git_info.repo_url);
    let timeout = match payload.runner_info.timeout {
        0 => DEFAULT_TIMEOUT,
        seconds => Duration::from_secs(seconds),
    };
    work::banner(&runner, trace);
    let layout = Layout::claim(&runner, &payload)?;
    let mut own = own_variables(&runner, &layout);
    if layout.is_contained && !payload.variables.iter().any(|one| one.key == "GIT_CONFIG_COUNT") {
        own.extend(trusted_folder(&layout));
    }
    let given: Vec<_> = environment(&runner).chain(payload.variables.iter().cloned()).collect();
    let variables = Variables::new(&given, &own, &layout.seen_temp);
    trace.hide(variables.secrets());
    let job = Job {
        runner,
        client,
        control,
        layout,
        variables,
        trace: Arc::clone(trace),
        timeout,
        deadline: begun.checked_add(timeout),
        retry: pace.first_retry,
        payload,
    };
    let done = work::work(&job);
    if let Err(error) = job.layout.remove_temp() {
        tracing::warn!(%error, "files of a job were left behind");
    }
    let is_late = job.deadline.is_some_and(|deadline| deadline <= Instant::now());
    match done {
        Err(Failure::Timeout(None)) if is_late => Err(Failure::Timeout(Some(job.timeout))),
        done => done,
    }
}

/// Variables of the configuration file; those of the job win.
fn environment(runner: &Runner) -> impl Iterator<Item = crate::api::payload::Variable> {
    runner.environment.iter().filter_map(|line| line.split_once('=')).map(|(key, value)| {
        crate::api::payload::Variable {
            key: key.to_owned(),
            value: value.to_owned(),
            ..Default::default()
        }
    })
}

/// Lets git work in a folder that belongs to a user of the machine, whoever the container's user is.
fn trusted_folder(layout: &Layout) -> [(String, String); 3] {
    let folder = layout.seen_project.to_string_lossy().into_owned();
    let own = |key: &str, value: String| (key.to_owned(), value);
    [
        own("GIT_CONFIG_COUNT", "1".to_owned()),
        own("GIT_CONFIG_KEY_0", "safe.directory".to_owned()),
        own("GIT_CONFIG_VALUE_0", folder),
    ]
}

/// What only the runner knows. Nobody may say otherwise.
fn own_variables(runner: &Runner, layout: &Layout) -> Vec<(String, String)> {
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let is_disposable = layout.is_contained;
    [
        ("CI_BUILDS_DIR", path(&layout.seen_builds)),
        ("CI_PROJECT_DIR", path(&layout.seen_project)),
        ("CI_CONCURRENT_ID", layout.slot.to_string()),
        ("CI_CONCURRENT_PROJECT_ID", layout.slot.to_string()),
        ("CI_SERVER", "yes".to_owned()),
        ("CI_RUNNER_VERSION", env!("CARGO_PKG_VERSION").to_owned()),
        ("CI_RUNNER_REVISION", "HEAD".to_owned()),
        (
            "CI_RUNNER_EXECUTABLE_ARCH",
            format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
        ),
        ("CI_RUNNER_SHORT_TOKEN", runner.short_token().to_owned()),
        (
            if is_disposable { "CI_DISPOSABLE_ENVIRONMENT" } else { "CI_SHARED_ENVIRONMENT" },
            "true".to_owned(),
        ),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into()
}

/// Everything of a payload that a log must not show.
fn secrets(payload: &Payload) -> Vec<String> {
    let masked = payload.variables.iter().filter(|variable| variable.masked);
    let mut all: Vec<String> = masked.map(|variable| variable.value.clone()).collect();
    all.push(payload.token.clone());
    all.extend(payload.dependencies.iter().map(|dependency| dependency.token.clone()));
    all.extend(payload.credentials.iter().map(|credential| credential.password.clone()));
    all.extend(super::git::password(&payload.git_info.repo_url).map(str::to_owned));
    all
}

fn is_debugged(payload: &Payload) -> bool {
    let is_on = |key: &str| {
        let found = payload.variables.iter().rfind(|variable| variable.key == key);
        found.is_some_and(|variable| matches!(variable.value.as_str(), "true" | "1"))
    };
    is_on("CI_DEBUG_TRACE") || is_on("CI_DEBUG_SERVICES")
}

/// The last line of the log, and what the server is told.
fn end(trace: &Trace, outcome: Result<(), Failure>, known: &[String]) -> FinalState {
    match outcome {
        Ok(()) => {
            trace.styled(SUCCESS, "Job succeeded");
            FinalState::Success
        }
        Err(failure) => {
            let kind = match &failure {
                Failure::System(_) => " (system failure)",
                _ => "",
            };
            trace.styled(ERROR, &format!("ERROR: Job failed{kind}: {failure}"));
            failure.state(known)
        }
    }
}
