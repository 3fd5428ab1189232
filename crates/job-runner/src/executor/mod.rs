//! Executors, which run the commands of a job.

mod arguments;
mod container;
mod engine;
mod images;
mod leftovers;
mod shell;

use anyhow::{Context as _, Result};

use crate::{
    config::{ExecutorKind, Runner},
    job::{Failure, Job},
    process::{End, Limits, Sink},
};
use container::Container;
use engine::Engine;
use shell::Shell;

/// Finds the program that a runner needs, and removes what an earlier run of it has left.
///
/// # Errors
/// Where there is no such program.
pub(crate) fn make_ready(runner: &Runner, system_id: &str) -> Result<()> {
    if runner.executor == ExecutorKind::Shell {
        return Ok(());
    }
    let engine = Engine::of(runner).with_context(|| format!("runner {:?}", runner.name))?;
    if let Err(error) = leftovers::remove(&engine, &leftovers::mark(runner, system_id)) {
        tracing::warn!(runner = runner.name, %error, "containers of an earlier run may be left");
    }
    Ok(())
}

pub(crate) enum Executor {
    Shell(Shell),
    Container(Box<Container>),
}

impl Executor {
    pub(crate) fn of(job: &Job) -> Result<Self> {
        Ok(match job.runner.executor {
            ExecutorKind::Shell => Self::Shell(Shell::of(&job.runner)),
            ExecutorKind::Docker | ExecutorKind::Podman | ExecutorKind::Container => {
                Self::Container(Box::new(Container::of(job)?))
            }
        })
    }

    /// Makes everything ready that commands need besides files.
    pub(crate) fn prepare(&mut self, job: &Job) -> Result<(), Failure> {
        match self {
            Self::Shell(shell) => shell.prepare(job),
            Self::Container(container) => container.prepare(job),
        }
    }

    /// Where commands run, for people.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Shell(_) => {
                let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
                name.map_or_else(|_| "this machine".to_owned(), |name| name.trim().to_owned())
            }
            Self::Container(container) => container.place(),
        }
    }

    /// Runs the script that was staged.
    pub(crate) fn run(&self, job: &Job, sink: Sink, limits: Limits) -> Result<End> {
        match self {
            Self::Shell(shell) => shell.run(job, sink, limits),
            Self::Container(container) => container.run(job, sink, limits),
        }
    }

    /// Takes away what `prepare` has made.
    pub(crate) fn clean_up(&mut self, job: &Job) {
        if let Self::Container(container) = self {
            container.clean_up(job);
        }
    }
}
