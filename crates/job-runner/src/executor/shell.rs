//! Commands run on this machine as the user who runs this program. Nothing keeps them from what that user may do.

use std::path::Path;

use crate::{
    config::Runner,
    job::{Failure, Job},
    process::{self, End, Limits, Sink},
    trace::WARNING,
};

const SHELLS: &[&str] = &["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

pub(crate) struct Shell {
    program: String,
}

impl Shell {
    pub(super) fn of(runner: &Runner) -> Self {
        let found = || SHELLS.iter().find(|shell| Path::new(shell).exists());
        let program = match &runner.shell {
            Some(shell) => shell.clone(),
            None => (*found().unwrap_or(&"sh")).to_owned(),
        };
        Self { program }
    }

    pub(super) fn prepare(&self, job: &Job) -> Result<(), Failure> {
        job.trace.line(&format!("Using Shell ({}) executor...", self.program));
        if !job.payload.services.is_empty() {
            let said = "the job has `services`, which the shell executor cannot run; use a runner with the executor \
                        docker or podman, and tags that lead the job there";
            return Err(Failure::Configuration(said.to_owned()));
        }
        if job.payload.image.as_ref().is_some_and(|image| !image.name.is_empty()) {
            job.trace.styled(WARNING, "The shell executor ignores the job's `image`");
        }
        Ok(())
    }

    pub(super) fn run(&self, job: &Job, sink: Sink, limits: Limits) -> anyhow::Result<End> {
        let mut command = process::command(&self.program);
        command.arg(job.layout.seen_script()).current_dir(&job.layout.project);
        process::run(command, sink, &job.control, limits)
    }
}
