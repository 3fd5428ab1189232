//! The product's own binary, started on a free port with a data folder that only this task uses.

use std::{
    fs::File,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::{
    client::Client,
    workspace::{self, cargo, output},
};

/// Fixed, so that scripts and load generators need not ask for them.
pub(crate) const TOKEN: &str = "forgeway-scratch-token-0123456789";
pub(crate) const PASSWORD: &str = "scratch-Passw0rd-for-tests";

const START_LIMIT: Duration = Duration::from_secs(60);
const STOP_LIMIT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    Debug,
    Release,
}

/// What stays the same over the restarts of one server.
pub(crate) struct Installation {
    pub(crate) binary: PathBuf,
    pub(crate) data: PathBuf,
    /// Where its rows are, when not in its own data folder.
    pub(crate) database: Option<String>,
    pub(crate) port: u16,
    /// Further settings, as variables of the environment.
    pub(crate) settings: Vec<(&'static str, String)>,
}

pub(crate) struct Server {
    child: Child,
    /// From exec to the first readiness.
    pub(crate) started_in: Duration,
}

/// Compiles the server and answers where it lies.
/// The binary that was given, else one that is built.
pub(crate) fn binary(given: Option<&Path>, profile: Profile) -> Result<PathBuf> {
    match given {
        Some(binary) => Ok(std::path::absolute(binary)?),
        None => build(profile),
    }
}

pub(crate) fn build(profile: Profile) -> Result<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--bin", "forgeway"]);
    let folder = match profile {
        // As the tests are built, with what they alone depend on, so that nothing is compiled a second time.
        Profile::Debug => {
            build.args(["--workspace", "--all-features", "--tests"]);
            "debug"
        }
        Profile::Release => {
            build.args(["--package", "forgeway-gateway", "--release"]);
            "release"
        }
    };
    workspace::run(&mut build)?;
    Ok(target()?.join(folder).join("forgeway"))
}

/// The folder cargo builds into.
pub(crate) fn target() -> Result<PathBuf> {
    let described: Value = serde_json::from_str(&output(cargo().args([
        "metadata",
        "--no-deps",
        "--format-version",
        "1",
    ]))?)?;
    Ok(Path::new(
        described["target_directory"].as_str().context("cargo metadata names no target folder")?,
    )
    .to_owned())
}

impl Installation {
    pub(crate) fn new(binary: PathBuf, data: PathBuf, database: Option<String>) -> Result<Self> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        Ok(Self { binary, data, database, port, settings: Vec::new() })
    }

    pub(crate) fn root(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.root(), TOKEN)
    }

    /// The address git takes for a project, with root's password in it.
    pub(crate) fn remote(&self, project: &str) -> String {
        format!("http://root:{PASSWORD}@127.0.0.1:{}/{project}.git", self.port)
    }

    /// What `migrate::Connection` opens.
    pub(crate) fn database_address(&self) -> String {
        self.database
            .clone()
            .unwrap_or_else(|| self.data.join("forgeway.sqlite3").display().to_string())
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.data.with_extension("log")
    }

    pub(crate) fn start(&self) -> Result<Server> {
        let log = File::options().create(true).append(true).open(self.log())?;
        let begun = Instant::now();
        let mut child = self
            .command()
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("starting the server")?;
        loop {
            if let Some(status) = child.try_wait()? {
                bail!("the server ended with {status}; its log is {}", self.log().display());
            }
            if self.client().page("/-/readiness").is_ok_and(|answer| answer.is_success()) {
                return Ok(Server { child, started_in: begun.elapsed() });
            }
            if begun.elapsed() > START_LIMIT {
                child.kill()?;
                child.wait()?;
                bail!(
                    "the server is not ready after {START_LIMIT:?}; its log is {}",
                    self.log().display()
                );
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Any subcommand of the binary, on this data.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .env("FORGEWAY_LISTEN", format!("127.0.0.1:{}", self.port))
            .env("FORGEWAY_DATA", &self.data);
        command.env("FORGEWAY_ROOT_PASSWORD", PASSWORD).env("FORGEWAY_ROOT_TOKEN", TOKEN);
        match &self.database {
            Some(address) => command.env("FORGEWAY_DATABASE_URL", address),
            None => command.env_remove("FORGEWAY_DATABASE_URL"),
        };
        command.envs(self.settings.iter().map(|(name, value)| (name, value))).stdin(Stdio::null());
        command
    }
}

impl Server {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL: no chance to finish anything.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// SIGTERM, and an end that reports success.
    pub(crate) fn stop(mut self) -> Result<()> {
        signal("TERM", &[self.id()])?;
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "after SIGTERM the server ended with {status}");
                return Ok(());
            }
            ensure!(
                begun.elapsed() < STOP_LIMIT,
                "the server still runs {STOP_LIMIT:?} after SIGTERM"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which is just as well.
        if self.child.kill().is_ok() {
            drop(self.child.wait());
        }
    }
}

/// Sends a signal to processes that may already be gone.
pub(crate) fn signal(name: &str, processes: &[u32]) -> Result<()> {
    let numbers = processes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("kill -{name} {numbers} 2>/dev/null || true")]);
    shell.status()?;
    Ok(())
}

/// All processes below one, however deep.
pub(crate) fn descendants(process: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut waiting = vec![process];
    while let Some(parent) = waiting.pop() {
        let threads =
            std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
        for thread in threads {
            let children =
                std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            let children = children
                .split_whitespace()
                .filter_map(|number| number.parse().ok())
                .collect::<Vec<u32>>();
            found.extend(&children);
            waiting.extend(&children);
        }
    }
    found
}
/// Resident memory in MiB: all of it, and what is no mapped file.
pub(crate) fn resident(process: u32) -> Result<(f64, f64)> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let read = |label: &str| -> Result<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(label));
        let text = line.with_context(|| format!("no {label} in /proc"))?;
        Ok(text.trim().trim_end_matches(" kB").trim().parse::<f64>()? / 1024.0)
    };
    Ok((read("VmRSS:")?, read("RssAnon:")?))
}
