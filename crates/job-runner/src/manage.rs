//! Adding runners to the configuration file, looking after them, and removing them.

use std::{io::Read as _, process::ExitCode};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{
    api::{Client, Registration},
    command::{File, Register},
    config::{Config, ContainerConfig, ExecutorKind, Runner},
    system_id,
};

/// What tokens of runners that were made on the server begin with.
const AUTHENTICATION: &str = "glrt-";

pub(crate) fn register(given: &Register) -> Result<ExitCode> {
    let path = &given.file.file;
    let mut config = match path.exists() {
        true => Config::read(path)?,
        false => Config::default(),
    };
    let name = given.name.clone().unwrap_or_else(host_name);
    ensure!(
        !config.runners.iter().any(|runner| runner.name == name),
        "{} has a runner {name:?} already; choose another --name",
        path.display()
    );
    let token = token(&given.token)?;
    let mut runner = new_runner(given, &name, &token)?;
    if runner.token.contains(AUTHENTICATION) {
        ensure_plain(given)?;
        let client = Client::new(&runner, &system_id::load_or_create(path)?)?;
        let known = client.verify()?.context("the server does not know this token")?;
        runner.id = known.id;
    } else {
        let client = Client::new(&runner, "")?;
        let made = client.register(&registration(given, &runner))?;
        runner.id = made.id;
        runner.token = made.token.context("the server gave no token")?;
    }
    config.runners.push(runner);
    config.save(path)?;
    say(&format!(
        "runner {name:?} is registered; `forgeway runner run --file {}` starts it",
        path.display()
    ));
    Ok(ExitCode::SUCCESS)
}

fn new_runner(given: &Register, name: &str, token: &str) -> Result<Runner> {
    let is_contained = given.executor != ExecutorKind::Shell;
    ensure!(
        is_contained || given.image.is_none(),
        "--image needs --executor docker, podman or container"
    );
    let container = is_contained.then(|| ContainerConfig {
        image: given.image.clone().unwrap_or_default(),
        ..ContainerConfig::default()
    });
    Ok(Runner {
        executor: given.executor,
        limit: given.limit,
        tls_ca_file: given.tls_ca_file.as_deref().map(std::path::absolute).transpose()?,
        container,
        ..Runner::shell(name, &given.url, token)
    })
}

/// What a registration token could say, a runner that was made on the server has already.
fn ensure_plain(given: &Register) -> Result<()> {
    let is_plain = given.tag_list.is_none()
        && given.run_untagged.is_none()
        && !given.locked
        && !given.paused
        && given.maximum_timeout.is_none();
    ensure!(
        is_plain,
        "--tag-list, --run-untagged, --locked, --paused and --maximum-timeout are settings of the server for a runner \
         that was made there; change them there"
    );
    Ok(())
}

fn registration(given: &Register, runner: &Runner) -> Registration {
    let tag_list = given.tag_list.clone().unwrap_or_default();
    Registration {
        token: runner.token.clone(),
        description: runner.name.clone(),
        run_untagged: given.run_untagged.unwrap_or(tag_list.trim().is_empty()),
        tag_list,
        locked: given.locked,
        paused: given.paused,
        maximum_timeout: given.maximum_timeout,
    }
}

fn token(given: &str) -> Result<String> {
    let token = match given {
        "-" => {
            let mut text = String::new();
            std::io::stdin().take(4096).read_to_string(&mut text)?;
            text.trim().to_owned()
        }
        given => given.to_owned(),
    };
    ensure!(!token.is_empty(), "the token is empty");
    Ok(token)
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "forgeway-runner".to_owned() } else { name.to_owned() }
}

pub(crate) fn verify(file: &File) -> Result<ExitCode> {
    let config = Config::load(&file.file)?;
    let system_id = system_id::load_or_create(&file.file)?;
    let mut is_well = true;
    for runner in &config.runners {
        let said = match Client::new(runner, &system_id)?.verify() {
            Ok(Some(_)) => "is known",
            Ok(None) => {
                is_well = false;
                "is not known to its server any more"
            }
            Err(error) => {
                is_well = false;
                say(&format!("{error:#}"));
                "could not be verified"
            }
        };
        say(&format!("{} at {}: {said}", runner.name, runner.url));
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Shows the runners of a file, without their tokens.
pub(crate) fn list(file: &File) -> Result<ExitCode> {
    for runner in &Config::read(&file.file)?.runners {
        say(&listed(runner));
    }
    Ok(ExitCode::SUCCESS)
}

fn listed(runner: &Runner) -> String {
    let (name, kind, url) = (&runner.name, runner.executor.name(), &runner.url);
    format!("{name}  {kind}  {url}  number {}, token {}…", runner.id, runner.short_token())
}

/// Removes one runner by its name, or all of them.
pub(crate) fn unregister(file: &File, name: Option<&str>) -> Result<ExitCode> {
    let path = &file.file;
    let mut config = Config::read(path)?;
    let loaded = Config::load(path)?;
    let system_id = system_id::load_or_create(path)?;
    let is_meant = |runner: &&Runner| name.is_none_or(|name| runner.name == name);
    let meant: Vec<&Runner> = loaded.runners.iter().filter(is_meant).collect();
    if meant.is_empty() {
        bail!("{} has no such runner", path.display());
    }
    let mut is_well = true;
    for runner in meant {
        match Client::new(runner, &system_id)?.unregister() {
            Ok(()) => {
                config.runners.retain(|own| own.token != runner.token || own.url != runner.url);
                config.save(path)?;
                say(&format!("runner {:?} is removed", runner.name));
            }
            Err(error) => {
                is_well = false;
                say(&format!("runner {:?} stays in the file: {error:#}", runner.name));
            }
        }
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[expect(clippy::print_stdout, reason = "this is what the commands are for")]
fn say(text: &str) {
    println!("{text}");
}

#[cfg(test)]
mod tests {
    use super::{Runner, listed};

    #[test]
    fn a_list_shows_the_beginning_of_a_token_alone() {
        let runner = Runner { id: 3, ..Runner::shell("b", "http://h/", "glrt-abcdefghijklmnop") };
        assert_eq!(listed(&runner), "b  shell  http://h  number 3, token abcdefghi…");
    }
}
