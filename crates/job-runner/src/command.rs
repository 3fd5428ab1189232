//! The command line of the runner program.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};

use crate::{
    config::{Config, ExecutorKind},
    fleet::{Fleet, RetryIntervals, StopHandle, StopReason},
    manage, system_id,
};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Add a runner to the configuration file
    #[command(
        after_help = "Examples:\n  forgeway runner register --url https://forge.example --token glrt-…\n  forgeway runner register --url https://forge.example --token - --executor container --image debian:13 < token.txt\n  forgeway runner register --url https://forge.example --token REGISTRATION --tag-list linux,rust"
    )]
    Register(Box<Register>),
    /// Take jobs and do them, until a signal comes
    #[command(
        after_help = "Examples:\n  forgeway runner run\n  forgeway runner run --file /etc/forgeway/runner.toml\n\nSIGTERM or SIGINT: no more jobs are taken, and those that run are waited for. A second one ends them."
    )]
    Run(File),
    /// Ask the servers whether they know the runners; exits with 1 when one does not
    #[command(
        after_help = "Examples:\n  forgeway runner verify\n  forgeway runner verify --file /etc/forgeway/runner.toml"
    )]
    Verify(File),
    /// Show the runners of the configuration file
    #[command(
        after_help = "Examples:\n  forgeway runner list\n  forgeway runner list --file /etc/forgeway/runner.toml"
    )]
    List(File),
    /// Remove a runner from its server and from the configuration file
    #[command(
        after_help = "Examples:\n  forgeway runner unregister --name build-1\n  forgeway runner unregister --all"
    )]
    Unregister {
        #[command(flatten)]
        file: File,
        /// Name of the runner to remove
        #[arg(long, required_unless_present = "all")]
        name: Option<String>,
        /// Remove all runners of the file
        #[arg(long, conflicts_with = "name")]
        all: bool,
    },
}

#[derive(Clone, Debug, Args)]
pub struct File {
    /// Configuration file of the runners (TOML)
    #[arg(long, value_name = "FILE", default_value = "forgeway-runner.toml")]
    pub(crate) file: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct Register {
    #[command(flatten)]
    pub(crate) file: File,
    /// Address of the server
    #[arg(long)]
    pub(crate) url: String,
    /// Token of a runner that was made on the server (glrt-…), or a registration token; `-` reads it from the input
    #[arg(long)]
    pub(crate) token: String,
    /// Name of the runner [default: name of this machine]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Where commands of jobs run
    #[arg(long, value_enum, default_value = "shell")]
    pub(crate) executor: ExecutorKind,
    /// Image of jobs that name none (container, docker, podman)
    #[arg(long)]
    pub(crate) image: Option<String>,
    /// Jobs that this runner does at once; 0 for as many as the file's `concurrent`
    #[arg(long, default_value_t = 0)]
    pub(crate) limit: usize,
    /// PEM file with the certificate authority of the server
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_ca_file: Option<PathBuf>,
    /// Tags, joined by commas (with a registration token only)
    #[arg(long)]
    pub(crate) tag_list: Option<String>,
    /// Whether jobs without tags are taken, too (with a registration token only) [default: without tags]
    #[arg(long)]
    pub(crate) run_untagged: Option<bool>,
    /// Keep the runner to its project (with a registration token only)
    #[arg(long)]
    pub(crate) locked: bool,
    /// Register the runner paused (with a registration token only)
    #[arg(long)]
    pub(crate) paused: bool,
    /// Longest time of a job in seconds (with a registration token only)
    #[arg(long)]
    pub(crate) maximum_timeout: Option<u64>,
}

/// Runs what the command line asks for. It blocks until that is done.
///
/// # Errors
/// What went wrong, in words that say what to do.
pub fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Register(register) => manage::register(&register),
        Command::Run(file) => serve(&file),
        Command::Verify(file) => manage::verify(&file),
        Command::List(file) => manage::list(&file),
        Command::Unregister { file, name, .. } => manage::unregister(&file, name.as_deref()),
    }
}

fn serve(file: &File) -> Result<ExitCode> {
    let config = Config::load(&file.file)?;
    let system_id = system_id::load_or_create(&file.file)?;
    // What it finds of its own at the start it takes for what a killed one left.
    let _alone = system_id::wait_for_others(&file.file)?;
    let fleet = Fleet::start(&config, &system_id, RetryIntervals::default())?;
    // Before anybody can know that it runs.
    heed_signals(fleet.stop_handle())?;
    tracing::info!(
        runners = config.runners.len(),
        concurrent = config.concurrent,
        "waiting for jobs"
    );
    Ok(match fleet.wait() {
        StopReason::Stopped => ExitCode::SUCCESS,
        StopReason::Refused => ExitCode::FAILURE,
    })
}

/// Stops the runners on SIGTERM and SIGINT.
fn heed_signals(stop: StopHandle) -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let entered = runtime.enter();
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen to signals")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen to signals")?;
    drop(entered);
    std::thread::spawn(move || {
        runtime.block_on(async move {
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                tracing::info!("stopping; a second signal ends jobs that run");
                stop.stop();
            }
        });
    });
    Ok(())
}
