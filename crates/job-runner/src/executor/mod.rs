//! Where the commands of a job run.

mod arguments;
mod container;
mod images;
mod shell;

use crate::{
    config::ExecutorKind,
    job::{Failure, Job},
    process::{End, Limits, Sink},
};
use container::Container;
use shell::Shell;

pub(crate) enum Executor {
    Shell(Shell),
    Container(Box<Container>),
}

impl Executor {
    pub(crate) fn of(job: &Job) -> Self {
        match job.runner.executor {
            ExecutorKind::Shell => Self::Shell(Shell::of(&job.runner)),
            kind => Self::Container(Box::new(Container::of(kind, job))),
        }
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
    pub(crate) fn run(&self, job: &Job, sink: Sink, limits: Limits) -> anyhow::Result<End> {
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
