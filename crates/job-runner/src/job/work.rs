//! The stages of a job, in order, each a section of its log.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use super::{
    Failure, Job, Variables, artifacts, cache, checked, dependencies, git::sink, script::Script,
    source,
};
use crate::{
    config::Runner,
    control::Interrupt,
    executor::Executor,
    process::Limits,
    trace::{Trace, WARNING},
};

/// How long commands after the script may take, unless the job says otherwise.
const AFTER_SCRIPT: Duration = Duration::from_secs(5 * 60);
const AFTER: &str = "after_script";

/// The first lines of a log.
pub(super) fn banner(runner: &Runner, trace: &Trace) {
    trace.line(&format!("Running with forgeway-runner {}", env!("CARGO_PKG_VERSION")));
    trace.line(&format!("  on {} {}", runner.name, runner.short_token()));
}

/// Does a job.
pub(super) fn work(job: &Job) -> Result<(), Failure> {
    let mut executor = Executor::of(job)?;
    let prepared = {
        let title = format!("Preparing the \"{}\" executor", job.runner.executor.name());
        let _section = job.trace.section("prepare_executor", &title);
        executor.prepare(job)
    };
    let done = prepared.and_then(|()| stages(job, &executor));
    let _section = job.trace.section(
        "cleanup_file_variables",
        "Cleaning up project directory and file based variables",
    );
    executor.clean_up(job);
    done
}

fn stages(job: &Job, executor: &Executor) -> Result<(), Failure> {
    {
        let _section = job.trace.section("prepare_script", "Preparing environment");
        job.trace.line(&format!("Running on {}...", executor.place()));
    }
    let mut tracked = BTreeSet::new();
    let outcome = bring(job, executor, &mut tracked).and_then(|()| {
        let outcome = steps(job, executor);
        after_script(job, executor, &outcome);
        outcome
    });
    // A job that was stopped leaves nothing behind.
    if matches!(outcome, Err(Failure::Interrupted(_))) {
        return outcome;
    }
    let kept = keep(job, &tracked, outcome.is_ok());
    outcome.and(kept)
}

/// Brings everything that the commands of a job need.
fn bring(job: &Job, executor: &Executor, tracked: &mut BTreeSet<String>) -> Result<(), Failure> {
    {
        let _section = job.trace.section("get_sources", "Getting source from Git repository");
        for hook in job.payload.hooks.iter().filter(|hook| hook.name == "pre_get_sources_script") {
            job.layout.make_project()?;
            run(job, executor, &hook.script, &job.variables, job.limits())?;
        }
        *tracked = source::get(job)?;
    }
    if !job.payload.cache.is_empty() {
        let _section = job.trace.section("restore_cache", "Restoring cache");
        cache::restore(job)?;
    }
    if dependencies::dependencies_to_fetch(job).next().is_some() {
        let _section = job.trace.section("download_artifacts", "Downloading artifacts");
        dependencies::download(job)?;
    }
    job.ensure_wanted()
}

fn steps(job: &Job, executor: &Executor) -> Result<(), Failure> {
    let own = job.variables.duration("RUNNER_SCRIPT_TIMEOUT");
    let own = own.and_then(|limit| Instant::now().checked_add(limit));
    let deadline = [own, job.deadline].into_iter().flatten().min();
    let limits = Limits { deadline, ..job.limits() };
    let variables = job.variables.with("CI_JOB_STATUS", "running");
    let mut outcome = Ok(());
    for step in job.payload.steps.iter().filter(|step| step.name != AFTER) {
        let is_due = match step.when.as_str() {
            "always" => true,
            "on_failure" => outcome.is_err(),
            _ => outcome.is_ok(),
        };
        if !is_due || step.script.is_empty() {
            continue;
        }
        let name = format!("step_{}", step.name);
        let title = format!("Executing \"{name}\" stage of the job script");
        let _section = job.trace.section(&name, &title);
        let done = run(job, executor, &step.script, &variables, limits);
        match done {
            Err(Failure::Script { exit_code }) if step.allow_failure => {
                job.trace
                    .styled(WARNING, &format!("WARNING: exit code {exit_code}, which is allowed"));
            }
            done => outcome = outcome.and(done),
        }
    }
    outcome
}

/// Runs whatever became of the script, unless nobody listens any more. It changes nothing about how the job ended.
fn after_script(job: &Job, executor: &Executor, outcome: &Result<(), Failure>) {
    let step = job.payload.steps.iter().find(|step| step.name == AFTER);
    let Some(step) = step.filter(|step| !step.script.is_empty()) else { return };
    if job.control.at_least(Interrupt::RunnerStopped).is_some() {
        return;
    }
    let status = match outcome {
        Ok(()) => "success",
        Err(Failure::Interrupted(_)) => "canceled",
        Err(_) => "failed",
    };
    let variables = job.variables.with("CI_JOB_STATUS", status);
    let limit = job.variables.duration("RUNNER_AFTER_SCRIPT_TIMEOUT").unwrap_or(AFTER_SCRIPT);
    let limits =
        Limits { deadline: Instant::now().checked_add(limit), heeds: Interrupt::RunnerStopped };
    let _section = job.trace.section(AFTER, "Running after_script");
    job.trace.line("Running after script...");
    if let Err(failure) = run(job, executor, &step.script, &variables, limits) {
        job.trace.styled(
            WARNING,
            &format!("WARNING: after_script failed, but job will continue unaffected: {failure}"),
        );
    }
}

fn run(
    job: &Job,
    executor: &Executor,
    lines: &[String],
    variables: &Variables,
    limits: Limits,
) -> Result<(), Failure> {
    let script =
        Script { lines, variables, folder: &job.layout.seen_project, umask: job.layout.umask() };
    job.layout.stage(&script.text(), variables)?;
    checked(executor.run(job, sink(&job.trace), limits)?)
}

fn keep(job: &Job, tracked: &BTreeSet<String>, is_success: bool) -> Result<(), Failure> {
    let word = if is_success { "successful" } else { "failed" };
    if !job.payload.cache.is_empty() {
        let name = if is_success { "archive_cache" } else { "archive_cache_on_failure" };
        let _section = job.trace.section(name, &format!("Saving cache for {word} job"));
        cache::save(job, tracked, is_success)?;
    }
    if artifacts::artifacts_to_upload(job, is_success).next().is_none() {
        return Ok(());
    }
    let name =
        if is_success { "upload_artifacts_on_success" } else { "upload_artifacts_on_failure" };
    let _section = job.trace.section(name, &format!("Uploading artifacts for {word} job"));
    artifacts::upload(job, tracked, is_success)
}
