//! Formatting: what `cargo fmt` reaches, and the resources of the REST API, whose modules `resources!` declares where
//! `cargo fmt` does not look.

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::workspace::{cargo, files, run as run_program, rustfmt};

#[derive(Args)]
pub(crate) struct Options {
    /// Write nothing; fail when a file is not formatted
    #[arg(long)]
    pub(crate) check: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let check = options.check.then_some("--check");
    run_program(cargo().args(["fmt", "--all"]).args(check))?;
    let resources = files(&["gateway/src/rest/*.rs"])?;
    let status = rustfmt().args(check).args(resources).status().context("starting rustfmt")?;
    ensure!(status.success(), "files below gateway/src/rest are not formatted: cargo xtask format");
    Ok(())
}
