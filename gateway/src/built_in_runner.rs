//! The runner that the server brings along where the setting `with_runner` says so: a program of the protocol like any
//! other, on threads of this process.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use forge::runner::{built_in, built_in_rule::JobOwners};
use job_runner::{
    config::{Config as Runners, Runner},
    fleet::{Fleet, RetryIntervals, StopHandle, StopReason},
    system_id,
};
use runners::runner::RunnerToken;
use rustix::process::{DumpableBehavior, getuid, set_dumpable_behavior};
use tokio::{sync::oneshot, time::timeout};

use crate::{
    app::App,
    config::{BuiltInRunnerScope, Config},
};

const FOLDER: &str = "runner";
const TOKEN: &str = "token";
/// Between two requests for a job. The server holds the second one and all further ones, and is near.
const BETWEEN: Duration = Duration::from_millis(100);
/// How long jobs may still run when the server stops.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long jobs that are ended may take to end: longer than the ten seconds that their commands have.
const LAST: Duration = Duration::from_secs(15);

/// A runner that is known to the server and does not work yet.
pub struct PreparedRunner {
    runners: Runners,
    system_id: String,
    asked: BuiltInRunnerScope,
    folder: PathBuf,
}

/// Makes the server's own runner known, and says whose jobs it does. Where there is to be none, one that an earlier start
/// has made does nobody's.
pub async fn prepare(app: &App, config: &Config) -> anyhow::Result<Option<PreparedRunner>> {
    let folder = config.data_folder()?.join(FOLDER);
    let file = folder.join(TOKEN);
    let Some(asked) = config.with_runner.as_deref().map(BuiltInRunnerScope::parse).transpose()?
    else {
        if let Some(token) = read_token(&file)?
            && let Some(runner) = built_in::find(app, RunnerToken::given(token)).await?
        {
            app.built_in.set(runner.id, JobOwners::Nobody);
        }
        return Ok(None);
    };
    hide_memory();
    let token = match read_token(&file)? {
        Some(token) => token,
        None => make_token(&folder, &file)?,
    };
    let whose = whose(app, &asked).await?;
    let runner = built_in::enroll(app, RunnerToken::given(token.as_str())).await?;
    app.built_in.set(runner.id, whose);
    let left = built_in::fail_orphaned_jobs(app, runner.id).await?;
    if left > 0 {
        tracing::warn!(jobs = left, "jobs of the built-in runner ended with the server before");
    }
    let server = own_address(&config.listen);
    let own = Runner {
        // Git goes to this server, too, and not around by its address in the world.
        clone_url: Some(server.clone()),
        builds_dir: Some(folder.join("builds")),
        cache_dir: Some(folder.join("cache")),
        ..Runner::shell("built-in", &server, &token)
    };
    let concurrent = std::thread::available_parallelism().map_or(1, usize::from);
    let runners = Runners { concurrent, runners: vec![own], ..Runners::default() };
    Ok(Some(PreparedRunner {
        runners,
        system_id: system_id::load_or_create(&file)?,
        asked,
        folder,
    }))
}

async fn whose(app: &App, asked: &BuiltInRunnerScope) -> anyhow::Result<JobOwners> {
    Ok(match asked {
        BuiltInRunnerScope::Administrators => JobOwners::Administrators,
        BuiltInRunnerScope::Everybody => JobOwners::Everybody,
        BuiltInRunnerScope::Places(paths) => {
            let (places, unknown) = built_in::places(app, paths.clone()).await?;
            for path in unknown {
                tracing::warn!(
                    path,
                    "there is no such project or group; the built-in runner learns of it at the next start"
                );
            }
            JobOwners::Places(places)
        }
    })
}

fn read_token(file: &Path) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|token| !token.is_empty())),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(cause).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// It is on disk before the server knows it: so no start makes a second runner.
fn make_token(folder: &Path, file: &Path) -> anyhow::Result<String> {
    let token = RunnerToken::registered().reveal().to_owned();
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(token.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(file).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(token)
}

/// Jobs run as the same user, who could otherwise read this process and the environment that it was started with.
fn hide_memory() {
    if let Err(cause) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        tracing::warn!(error = %cause, "jobs may be able to read the memory of the server");
    }
    if getuid().is_root() {
        tracing::warn!(
            "the built-in runner runs as root: its jobs may do everything on this machine"
        );
    }
}

/// Where this machine reaches what listens there.
fn own_address(listen: &str) -> String {
    let (host, port) = listen.rsplit_once(':').unwrap_or((listen, "80"));
    let host = match host {
        "0.0.0.0" | "" => "127.0.0.1",
        "[::]" => "[::1]",
        host => host,
    };
    format!("http://{host}:{port}")
}

/// Who runs this program.
fn user() -> String {
    let id = getuid().as_raw();
    let people = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let own = people
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|person| person.get(2).and_then(|number| number.parse::<u32>().ok()) == Some(id));
    own.and_then(|person| person.first().map(ToString::to_string))
        .unwrap_or_else(|| format!("number {id}"))
}

impl PreparedRunner {
    /// What it runs as, for whoever starts the server.
    pub fn said(&self) -> String {
        format!(
            "A built-in runner does {} as user {} (shell executor) in {}",
            self.asked.said(),
            user(),
            self.folder.display()
        )
    }

    /// Begins to ask for jobs.
    pub fn start(self) -> anyhow::Result<BuiltInRunner> {
        let pace = RetryIntervals::default();
        let fleet = Fleet::start_every(&self.runners, &self.system_id, pace, BETWEEN)?;
        Ok(BuiltInRunner::of(fleet))
    }
}

/// A runner at work.
pub struct BuiltInRunner {
    stop: StopHandle,
    ended: oneshot::Receiver<StopReason>,
}

impl BuiltInRunner {
    pub fn of(fleet: Fleet) -> Self {
        let (sender, ended) = oneshot::channel();
        let stop = fleet.stop_handle();
        // Not one of the runtime's threads, which the end of the program waits for.
        std::thread::spawn(move || sender.send(fleet.wait()));
        Self { stop, ended }
    }

    /// Takes no more jobs, and waits for those that run, though not for ever, and not once somebody says so `again`.
    pub async fn stop(mut self, again: impl Future<Output = ()>) {
        self.stop.stop();
        tokio::select! {
            _ended = &mut self.ended => return,
            () = again => {}
            () = tokio::time::sleep(PATIENCE) => {}
        }
        tracing::warn!("jobs of the built-in runner are ended");
        self.stop.stop();
        if timeout(LAST, self.ended).await.is_err() {
            tracing::warn!(
                "jobs of the built-in runner were left behind; the next start fails them"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::own_address;

    #[test]
    fn the_servers_own_address_is_one_that_can_be_reached() {
        assert_eq!(own_address("0.0.0.0:80"), "http://127.0.0.1:80");
        assert_eq!(own_address("[::]:8080"), "http://[::1]:8080");
        assert_eq!(own_address("127.0.0.1:8080"), "http://127.0.0.1:8080");
        assert_eq!(own_address("forge.example:8080"), "http://forge.example:8080");
    }
}
