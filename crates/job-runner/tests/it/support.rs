//! Jobs as the server hands them out, and a program that does them.

use std::{sync::Arc, time::Duration};

use job_runner::{
    config::Config,
    fleet::{Fleet, RetryIntervals, StopHandle, StopReason},
};
use serde_json::{Value, json};

use crate::server::Server;

/// Quick, so that no test waits.
pub(crate) const PACE: RetryIntervals = RetryIntervals {
    update_interval: Duration::from_millis(5),
    keep_alive: Duration::from_millis(50),
    first_retry: Duration::from_millis(1),
    longest_retry: Duration::from_millis(20),
};

/// A server, and a program with one runner that works for it until the test ends.
pub(crate) struct Bench {
    pub(crate) server: Arc<Server>,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) stop: StopHandle,
    pub(crate) ended: std::sync::mpsc::Receiver<StopReason>,
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stop.stop();
        self.stop.stop();
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with("executor = \"shell\"")
    }

    /// At a server that holds requests while there is no job.
    pub(crate) fn holding() -> Self {
        let server = Server::start();
        server.lock().holds = true;
        Self::at(server, "executor = \"shell\"")
    }

    /// With further lines of the runner's configuration.
    pub(crate) fn with(lines: &str) -> Self {
        Self::at(Server::start(), lines)
    }

    fn at(server: Arc<Server>, lines: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("runner.toml");
        let url = server.url();
        let text = format!(
            "[[runners]]\nname = \"test\"\nurl = \"{url}\"\ntoken = \"glrt-0123456789abcdef\"\n{lines}\n"
        );
        std::fs::write(&file, text).expect("a file");
        let config = Config::load(&file).expect("a configuration");
        let fleet =
            Fleet::start_every(&config, "r_test", PACE, Duration::from_millis(5)).expect("starts");
        let stop = fleet.stop_handle();
        let (sender, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(fleet.wait()));
        Self { server, folder, stop, ended }
    }

    /// Hands out a job and waits for its end.
    pub(crate) fn run(&self, job: Value) -> (Value, String) {
        self.give(job);
        self.server.end()
    }

    pub(crate) fn give(&self, job: Value) {
        self.server.lock().jobs.push_back(job);
    }
}

/// A job of these commands in an empty folder.
pub(crate) fn job(script: &[&str]) -> Value {
    json!({
        "id": 7,
        "token": "glcbt-job-token",
        "allow_git_fetch": true,
        "job_info": { "id": 7, "name": "build", "project_id": 3, "project_full_path": "group/project" },
        "git_info": { "repo_url": "http://gitlab-ci-token:glcbt-job-token@127.0.0.1:9/g/p.git", "ref": "main", "sha": "0".repeat(40), "refspecs": [], "depth": 20 },
        "runner_info": { "timeout": 3600, "runner_session_url": null },
        "variables": [{ "key": "GIT_STRATEGY", "value": "empty", "public": true, "masked": false }],
        "steps": [{ "name": "script", "script": script, "timeout": 3600, "when": "on_success", "allow_failure": false }],
        "image": null, "services": [], "artifacts": null, "cache": null, "credentials": [],
        "dependencies": [], "hooks": null,
        "features": { "trace_sections": true, "failure_reasons": [
            "unknown_failure", "script_failure", "runner_system_failure", "job_execution_timeout",
        ] },
    })
}

pub(crate) trait JobExt {
    fn variable(self, variable: Value) -> Self;
    fn after(self, script: &[&str]) -> Self;
    fn set(self, key: &str, value: Value) -> Self;
}

impl JobExt for Value {
    fn variable(mut self, variable: Value) -> Self {
        self["variables"].as_array_mut().expect("a list").push(variable);
        self
    }

    fn after(mut self, script: &[&str]) -> Self {
        let step = json!({ "name": "after_script", "script": script, "when": "always", "allow_failure": true });
        self["steps"].as_array_mut().expect("a list").push(step);
        self
    }

    fn set(mut self, key: &str, value: Value) -> Self {
        self[key] = value;
        self
    }
}
