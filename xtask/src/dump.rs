//! The documents that the gateway writes about itself, kept in `docs/` so that a change of them is seen in a review.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};

use crate::{
    server::target,
    workspace::{self, cargo, root},
};

/// Documents that belong together.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Interface {
    /// docs/schema.graphql and docs/schema.json, the answer to introspection
    Graphql,
    /// docs/openapi.json and docs/routes.txt
    Openapi,
}

impl Interface {
    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Graphql => &["schema.graphql", "schema.json"],
            Self::Openapi => &["openapi.json", "routes.txt"],
        }
    }
}

#[derive(Args)]
pub(crate) struct Options {
    /// Only the documents of this interface; those of both otherwise
    #[arg(value_enum)]
    interface: Option<Interface>,
    /// Write nothing; fail when a file is stale
    #[arg(long)]
    check: bool,
}

impl Options {
    fn files(&self) -> Vec<&'static str> {
        files_of(self.interface)
    }
}

fn files_of(interface: Option<Interface>) -> Vec<&'static str> {
    let both = [Interface::Openapi, Interface::Graphql];
    let chosen = both.iter().filter(|one| interface.is_none_or(|only| only.files() == one.files()));
    chosen.flat_map(|one| one.files()).copied().collect()
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let fresh = dumped()?;
    if options.check {
        return compare(fresh.path(), &options.files());
    }
    let folder = root().join("docs");
    std::fs::create_dir_all(&folder)?;
    for file in options.files() {
        std::fs::copy(fresh.path().join(file), folder.join(file))?;
        println!("docs/{file}");
    }
    Ok(())
}

/// Fails when a document is stale.
pub(crate) fn check() -> Result<()> {
    compare(dumped()?.path(), &files_of(None))
}

fn compare(fresh: &Path, files: &[&str]) -> Result<()> {
    for file in files {
        let written = std::fs::read(root().join("docs").join(file)).unwrap_or_default();
        ensure!(
            written == std::fs::read(fresh.join(file))?,
            "docs/{file} is stale: run `cargo xtask dump`"
        );
    }
    Ok(())
}

/// A folder with all documents as the gateway writes them now.
fn dumped() -> Result<tempfile::TempDir> {
    let fresh = tempfile::tempdir()?;
    workspace::run(Command::new(example("dump")?).arg(fresh.path()))?;
    Ok(fresh)
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

#[cfg(test)]
mod tests {
    use super::{Interface, files_of};

    #[test]
    fn one_interface_is_dumped_or_both() {
        assert_eq!(files_of(Some(Interface::Graphql)), ["schema.graphql", "schema.json"]);
        assert_eq!(files_of(Some(Interface::Openapi)), ["openapi.json", "routes.txt"]);
        assert_eq!(files_of(None).len(), 4);
    }
}
