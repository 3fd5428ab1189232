//! The workspace as cargo and git describe it, and the programs the tasks start in it.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// A package of the workspace, by the name of its folder.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) folder: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

pub(crate) struct Dependency {
    /// The package's own name, whatever it is called here.
    pub(crate) package: String,
    /// The name the source uses, with `_` for `-`.
    pub(crate) identifier: String,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Development,
    Build,
}

/// The folder that holds the root manifest.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// A program that starts in the root folder.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// What cargo tells this tool of its own package. Build scripts of some crates run again where it differs, and with them all
/// that is built on those crates: `cargo test` by hand would find nothing of what was built from here.
const OWN_PACKAGE: [&str; 8] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_LINKS",
    "CARGO_PKG_NAME",
    "CARGO_PKG_VERSION",
    "CARGO_PKG_VERSION_MAJOR",
    "CARGO_PKG_VERSION_MINOR",
    "CARGO_PKG_VERSION_PATCH",
    "CARGO_PKG_VERSION_PRE",
];

pub(crate) fn cargo() -> Command {
    let mut cargo = command(option_env!("CARGO").unwrap_or("cargo"));
    for name in OWN_PACKAGE {
        cargo.env_remove(name);
    }
    cargo
}

/// The formatter that belongs to the compiler, set up as `cargo fmt` does.
pub(crate) fn rustfmt() -> Command {
    let beside = Path::new(cargo().get_program()).with_file_name("rustfmt");
    let program = if beside.is_file() { beside } else { "rustfmt".into() };
    let mut command = Command::new(program);
    command.current_dir(root()).args(["--edition", "2024", "--config-path"]).arg(root());
    command
}

/// Runs a program to its end, showing its output.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", words(command));
    let status = command.status().with_context(|| words(command))?;
    ensure!(status.success(), "{} ended with {status}", words(command));
    Ok(())
}

/// Runs a program and keeps what it wrote to its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let done = command.stderr(Stdio::inherit()).output().with_context(|| words(command))?;
    ensure!(done.status.success(), "{} ended with {}", words(command), done.status);
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn words(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Where a program is found, looking through `PATH` and then through `more`.
pub(crate) fn find_program(name: &str, more: &[PathBuf]) -> Option<PathBuf> {
    let path = environment("PATH").unwrap_or_default();
    let listed = std::env::split_paths(&path).collect::<Vec<_>>();
    listed.iter().chain(more).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// A variable of the environment that is set and not empty.
#[expect(
    clippy::disallowed_methods,
    reason = "this tool is not the product; it has no settings file to read them from"
)]
pub(crate) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Tracked files, and new ones that are not ignored, whose path matches one of git's patterns.
pub(crate) fn files(patterns: &[&str]) -> Result<Vec<PathBuf>> {
    let mut git = command("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]).args(patterns);
    let listed = output(&mut git)?;
    let names = listed.split_terminator('\0').map(|name| root().join(name));
    Ok(names.filter(|path| path.is_file()).collect())
}

/// A path as the developer writes it, from the root.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

pub(crate) fn packages() -> Result<Vec<Package>> {
    let text = output(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let document: Value = serde_json::from_str(&text)?;
    document["packages"]
        .as_array()
        .context("cargo metadata lists no packages")?
        .iter()
        .map(package)
        .collect()
}

fn package(described: &Value) -> Result<Package> {
    let manifest =
        Path::new(described["manifest_path"].as_str().context("a package without a manifest")?);
    let folder = manifest.parent().context("a manifest outside any folder")?.to_owned();
    let dependencies =
        described["dependencies"].as_array().into_iter().flatten().map(dependency).collect();
    Ok(Package {
        name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        id: text(&described["id"]),
        folder,
        dependencies,
    })
}

fn dependency(described: &Value) -> Dependency {
    let package = text(&described["name"]);
    let here = described["rename"].as_str().unwrap_or(&package).replace('-', "_");
    let kind = match described["kind"].as_str() {
        Some("dev") => Kind::Development,
        Some("build") => Kind::Build,
        _ => Kind::Normal,
    };
    Dependency { package, identifier: here, kind }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
