//! The files of the GraphQL explorer, which the program holds: built from their packages, never fetched by a build.

use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::{
    clients::{PACKAGE_LISTS, node_packages},
    server::target,
    workspace::{files, root, run as run_program},
};

/// Where the sources of the page are, with the list of its packages.
const SOURCES: &str = "xtask/explorer";
/// Where the program finds what is made of them.
const FILES: &str = "gateway/src/graphql/explorer";

#[derive(Args)]
pub(crate) struct Options {
    /// Write nothing; fail when a file is stale
    #[arg(long)]
    check: bool,
}

/// Builds the files of the page, or compares them with what their packages make.
pub(crate) fn run(options: &Options) -> Result<()> {
    build(options.check)
}

/// Fails when a file of the page differs from what its packages make.
pub(crate) fn check() -> Result<()> {
    build(true)
}

fn build(only_check: bool) -> Result<()> {
    let tools = target()?.join("explorer");
    std::fs::create_dir_all(&tools)?;
    for source in files(&[SOURCES])? {
        match source.file_name().and_then(|name| name.to_str()) {
            Some(name) if !PACKAGE_LISTS.contains(&name) => {
                std::fs::copy(&source, tools.join(name))?;
            }
            _ => {}
        }
    }
    node_packages(&root().join(SOURCES), &tools)?;
    let mut program = Command::new("node");
    program.arg("build.mjs").arg(root().join(FILES)).current_dir(&tools);
    if only_check {
        program.arg("--check");
    }
    run_program(&mut program)
}
