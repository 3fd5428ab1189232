//! Unmodified client libraries, from their own registries, one generated from the OpenAPI document, the requests of the
//! vendor's command line client, and a browser on the GraphQL explorer, against a running server.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, bail};

use crate::{
    bench::import_source::ImportSource,
    explorer, object_store,
    postgres::{Cluster, Durability},
    server::{self, Installation, PASSWORD, Profile, TOKEN},
    workspace::{root, run},
};

/// Issues of the repository that clients have imported.
const IMPORTED_ISSUES: usize = 3;

/// All clients against a fresh server on SQLite, and on PostgreSQL where one is found.
pub(crate) fn smoke(profile: Profile, with_object_store: bool) -> Result<()> {
    let binary = server::build(profile)?;
    let tools = server::target()?.join("clients");
    std::fs::create_dir_all(&tools)?;
    let python = python(&tools.join("python"), "requirements.txt")?;
    node_packages(&root().join("xtask/clients"), &tools)?;
    explorer::check()?;
    let scratch = tempfile::Builder::new().prefix("forgeway-clients-").tempdir()?;
    let mut failed = against(
        &Installation::new(binary.clone(), scratch.path().join("sqlite"), None)?,
        &tools,
        &python,
    )?;
    if with_object_store
        && let Err(failure) = object_store::check(binary.clone(), &tools, scratch.path())
    {
        eprintln!("{failure:#}");
        failed += 1;
    }
    if let Some(cluster) = Cluster::start(Durability::Relaxed)? {
        let database = Some(cluster.create("clients")?);
        failed += against(
            &Installation::new(binary, scratch.path().join("postgres"), database)?,
            &tools,
            &python,
        )?;
    }
    if failed > 0 {
        bail!("{failed} client runs failed");
    }
    Ok(())
}

/// How many of the clients failed.
fn against(installation: &Installation, tools: &Path, python: &Path) -> Result<usize> {
    let server = installation.start()?;
    let source = ImportSource::start(IMPORTED_ISSUES)?;
    let place = if installation.database.is_some() { "PostgreSQL" } else { "SQLite" };
    println!("Clients on {place}");
    let mut failed = 0;
    for (program, name) in [
        (python, "python_gitlab.py"),
        (Path::new("node"), "gitbeaker.mjs"),
        (python, "graphql_calls.py"),
        (Path::new("node"), "graphql_calls.mjs"),
        (Path::new("node"), "graphql_explorer.mjs"),
        (python, "glab_calls.py"),
        (python, "generate.py"),
        (python, "generated.py"),
    ] {
        let mut client = Command::new(program);
        client
            .arg(script(name))
            .current_dir(tools)
            .env("PYTHONPATH", tools.join("generated"))
            .env("FORGEWAY_URL", installation.root())
            .env("FORGEWAY_TOKEN", TOKEN)
            .env("FORGEWAY_PASSWORD", PASSWORD)
            .env("FORGEWAY_IMPORT_SOURCE", source.url())
            .env("PYTHONDONTWRITEBYTECODE", "1");
        if run(&mut client).is_err() {
            failed += 1;
        }
    }
    server.stop()?;
    Ok(failed)
}

pub(crate) fn script(name: &str) -> PathBuf {
    root().join("xtask/clients").join(name)
}

/// A virtual environment with what a file asks for.
pub(crate) fn python(home: &Path, requirements: &str) -> Result<PathBuf> {
    let program = home.join("bin/python");
    if !program.is_file() {
        run(Command::new("python3").args(["-m", "venv"]).arg(home))?;
    }
    let mut install = Command::new(&program);
    install.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--requirement",
    ]);
    run(install.arg(script(requirements)))?;
    Ok(program)
}

/// The files that say which packages of the registry a folder asks for.
pub(crate) const PACKAGE_LISTS: &[&str] = &["package.json", "package-lock.json"];

/// What the lists in a folder ask for, in `node_modules` beside copies of them.
pub(crate) fn node_packages(from: &Path, tools: &Path) -> Result<()> {
    let mut changed = !tools.join("node_modules").is_dir();
    for file in PACKAGE_LISTS {
        let (from, to) = (from.join(file), tools.join(file));
        changed |= std::fs::read(&from)? != std::fs::read(&to).unwrap_or_default();
        std::fs::copy(from, to)?;
    }
    if changed {
        run(Command::new("npm")
            .args(["ci", "--silent", "--no-audit", "--no-fund"])
            .current_dir(tools))?;
    }
    Ok(())
}
