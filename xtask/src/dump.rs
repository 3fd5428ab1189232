//! The documents that the gateway writes about itself, kept in `docs/` so that a change of them is seen in a review.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, ensure};
use clap::Args;

use crate::{
    server::target,
    workspace::{self, cargo, root},
};

const FILES: &[&str] = &["openapi.json", "routes.txt", "schema.graphql", "schema.json"];

#[derive(Args)]
pub(crate) struct Options {
    /// Write nothing; fail when a file is stale
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.check {
        return check();
    }
    let folder = root().join("docs");
    std::fs::create_dir_all(&folder)?;
    write(&folder)?;
    for file in FILES {
        println!("docs/{file}");
    }
    Ok(())
}

pub(crate) fn check() -> Result<()> {
    let fresh = tempfile::tempdir()?;
    write(fresh.path())?;
    for file in FILES {
        let written = std::fs::read(root().join("docs").join(file)).unwrap_or_default();
        ensure!(
            written == std::fs::read(fresh.path().join(file))?,
            "docs/{file} is stale: run `cargo xtask dump`"
        );
    }
    Ok(())
}

fn write(folder: &Path) -> Result<()> {
    workspace::run(Command::new(program()?).arg(folder))
}

fn program() -> Result<PathBuf> {
    example("dump")
}

/// An example program, built with the features the tests use, so that nothing is compiled a second time.
pub(crate) fn example(name: &str) -> Result<PathBuf> {
    workspace::run(cargo().args([
        "build",
        "--quiet",
        "--workspace",
        "--all-features",
        "--example",
        name,
    ]))?;
    Ok(target()?.join("debug/examples").join(name))
}
