//! Checks that must hold for every commit, besides the tests.

mod circles;
mod duplicates;
mod folders;
mod graph;
mod names;
mod outcome;
mod owners;
mod sealed;
mod snapshots;
mod text;
mod unused;
mod workflows;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;

use self::outcome::Outcome;
use crate::{
    dump, format, schema,
    workspace::{self, cargo, command, root, run as run_program},
};

#[derive(Args)]
pub(crate) struct Options {
    /// Only these steps, by name; none means all
    steps: Vec<String>,
}

struct Step {
    name: &'static str,
    check: fn() -> Result<Outcome>,
}

const STEPS: &[Step] = &[
    Step { name: "format", check: format },
    Step { name: "text", check: text::check },
    Step { name: "graph", check: graph::check },
    Step { name: "circles", check: circles::check },
    Step { name: "folders", check: folders::check },
    Step { name: "names", check: names::check },
    Step { name: "unused", check: unused::check },
    Step { name: "owners", check: owners::check },
    Step { name: "duplicates", check: duplicates::check },
    Step { name: "sealed", check: sealed::check },
    Step { name: "snapshots", check: snapshots::check },
    Step { name: "workflows", check: workflows::check },
    Step { name: "schema", check: schema_of_both },
    Step { name: "deny", check: deny },
    Step { name: "clippy", check: clippy },
    Step { name: "doc", check: doc },
    Step { name: "dumps", check: dumps },
    Step { name: "coverage", check: coverage },
];

pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(unknown) =
        options.steps.iter().find(|name| STEPS.iter().all(|step| step.name != *name))
    {
        let names = STEPS.iter().map(|step| step.name).collect::<Vec<_>>().join(", ");
        bail!("no step is called {unknown}; there are: {names}");
    }
    let mut failed = Vec::new();
    for step in STEPS
        .iter()
        .filter(|step| options.steps.is_empty() || options.steps.iter().any(|s| s == step.name))
    {
        match (step.check)() {
            Ok(Outcome::Clean) => println!("check {}: ok", step.name),
            Ok(Outcome::Partly(why)) => println!("check {}: ok ({why})", step.name),
            Err(error) => {
                println!("check {}: FAILED\n{error:#}", step.name);
                failed.push(step.name);
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    bail!("failed: {}", failed.join(", "))
}

fn format() -> Result<Outcome> {
    format::run(&format::Options { check: true })?;
    Ok(Outcome::Clean)
}

/// Whether cargo compiles with `.ci/compile`, which lints each crate and reads its documentation.
fn compiler_checks() -> bool {
    workspace::environment("RUSTC_WORKSPACE_WRAPPER")
        .is_some_and(|path| Path::new(&path) == root().join(".ci/compile"))
}

/// Compiles all that there is; what is compiled already is checked.
fn compile() -> Result<Outcome> {
    run_program(cargo().args(["build", "--workspace", "--all-features", "--all-targets"]))?;
    Ok(Outcome::Clean)
}

fn clippy() -> Result<Outcome> {
    if compiler_checks() {
        return compile();
    }
    run_program(cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ]))?;
    Ok(Outcome::Clean)
}

/// With an example, because cargo then takes the features that clippy took, and checks no crate a second time.
fn doc() -> Result<Outcome> {
    if compiler_checks() {
        return compile();
    }
    let mut doc = cargo();
    doc.args(["doc", "--workspace", "--all-features", "--no-deps", "--document-private-items"]);
    doc.args(["--lib", "--bins", "--example", "dump"]);
    run_program(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Clean)
}

fn schema_of_both() -> Result<Outcome> {
    Ok(schema::check()?.map_or(Outcome::Clean, Outcome::Partly))
}

/// Advisories need the network, so they are left to those who run `cargo deny check` by hand.
fn deny() -> Result<Outcome> {
    let home = workspace::environment("CARGO_HOME")
        .or_else(|| Some(workspace::environment("HOME")? + "/.cargo"));
    let folders = home.map(|home| PathBuf::from(home).join("bin"));
    if workspace::find_program("cargo-deny", folders.as_slice()).is_none() {
        return Ok(Outcome::Partly(
            "left out: cargo-deny is not installed; `cargo install --locked cargo-deny`".to_owned(),
        ));
    }
    run_program(cargo().args(["deny", "--all-features", "check", "bans", "licenses", "sources"]))?;
    Ok(Outcome::Clean)
}

fn dumps() -> Result<Outcome> {
    dump::check()?;
    Ok(Outcome::Clean)
}

/// The operations that the specification names, where its folder stands beside this one.
fn coverage() -> Result<Outcome> {
    let tool = root().join("../shared/tools/coverage");
    if !tool.is_file() {
        return Ok(Outcome::Partly("left out: the specification's folder is not here".to_owned()));
    }
    run_program(command("python3").arg(tool))?;
    Ok(Outcome::Clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_names_of_their_own() {
        let mut names = STEPS.iter().map(|step| step.name).collect::<Vec<_>>();
        names.sort_unstable();
        names.dedup();

        assert_eq!(names.len(), STEPS.len());
    }
}
