//! The program that makes containers: which one it is, and what it is called.

use std::{
    env,
    ffi::OsStr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, bail};

use crate::{
    config::{ExecutorKind, Runner},
    process,
};

/// The two programs understand the same words but for some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Docker,
    Podman,
}

impl Dialect {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }
}

/// Looked for in this order: podman needs no administrator.
static KNOWN: [Dialect; 2] = [Dialect::Podman, Dialect::Docker];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Engine {
    pub(super) dialect: Dialect,
    program: PathBuf,
}

impl Engine {
    /// The engine of a runner; the file's `program` wins over what lies on the path.
    pub(super) fn of(runner: &Runner) -> Result<Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        let program = runner.container.as_ref().and_then(|container| container.program.as_deref());
        Self::find(runner.executor, program, &path)
    }

    fn find(kind: ExecutorKind, program: Option<&str>, path: &OsStr) -> Result<Self> {
        let wanted = match kind {
            ExecutorKind::Docker => &KNOWN[1..],
            ExecutorKind::Podman => &KNOWN[..1],
            ExecutorKind::Container | ExecutorKind::Shell => &KNOWN[..],
        };
        let found = match program {
            Some(program) => {
                find_on(path, program).map(|found| (dialect_of(wanted, program), found))
            }
            None => {
                wanted.iter().find_map(|dialect| Some((*dialect, find_on(path, dialect.name())?)))
            }
        };
        let Some((dialect, program)) = found else {
            let names: Vec<&str> = wanted.iter().map(|dialect| dialect.name()).collect();
            let missing = program.map_or_else(|| names.join(" nor "), str::to_owned);
            bail!(
                "the executor {} finds no program {missing}; install it, or name it by `program`",
                kind.name()
            );
        };
        Ok(Self { dialect, program })
    }

    /// A call of the program.
    pub(super) fn command(&self, arguments: &[String]) -> Command {
        let mut command = process::command(&self.program);
        // Where the administrator's containers are; nothing of the job reaches this program.
        let own = env::vars_os().filter(|(name, _)| {
            name.to_str()
                .is_some_and(|name| name.starts_with("DOCKER_") || name == "CONTAINER_HOST")
        });
        command.envs(own).args(arguments);
        command
    }
}

/// What a program of another name understands: what the executor says, else what its name says.
fn dialect_of(wanted: &[Dialect], program: &str) -> Dialect {
    match wanted {
        [only] => *only,
        _ if Path::new(program).file_name() == Some(OsStr::new("podman")) => Dialect::Podman,
        _ => Dialect::Docker,
    }
}

/// The file that a name means: one with a slash as it stands, any other in the first folder that has it.
fn find_on(path: &OsStr, name: &str) -> Option<PathBuf> {
    let is_program = |file: &PathBuf| {
        let found = std::fs::metadata(file);
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(is_program);
    }
    env::split_paths(path).map(|folder| folder.join(name)).find(is_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with programs of these names.
    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let file = folder.path().join(name);
            std::fs::write(&file, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    fn find(
        kind: ExecutorKind,
        program: Option<&str>,
        folder: &tempfile::TempDir,
    ) -> Result<Engine> {
        Engine::find(kind, program, folder.path().as_os_str())
    }

    #[test]
    fn the_program_that_is_there_makes_the_containers() {
        let both = folder(&["docker", "podman"]);
        let chosen = find(ExecutorKind::Container, None, &both).unwrap();
        assert_eq!(chosen.dialect, Dialect::Podman);
        assert_eq!(chosen.program, both.path().join("podman"));
        assert_eq!(find(ExecutorKind::Docker, None, &both).unwrap().dialect, Dialect::Docker);
        let one = folder(&["docker"]);
        assert_eq!(find(ExecutorKind::Container, None, &one).unwrap().dialect, Dialect::Docker);
    }

    #[test]
    fn without_a_program_it_is_said_which_one_is_missing() {
        let none = folder(&[]);
        std::fs::write(none.path().join("podman"), "no program").unwrap();
        let failure = find(ExecutorKind::Container, None, &none).unwrap_err().to_string();
        assert!(failure.contains("podman nor docker"), "{failure}");
        assert!(find(ExecutorKind::Docker, Some("nerdctl"), &none).is_err());
    }

    #[test]
    fn a_program_of_another_name_speaks_as_the_executor_says() {
        let other = folder(&["nerdctl", "podman"]);
        let of = |kind, name| find(kind, Some(name), &other).unwrap().dialect;
        assert_eq!(of(ExecutorKind::Podman, "nerdctl"), Dialect::Podman);
        assert_eq!(of(ExecutorKind::Container, "nerdctl"), Dialect::Docker);
        assert_eq!(of(ExecutorKind::Container, "podman"), Dialect::Podman);
    }
}
