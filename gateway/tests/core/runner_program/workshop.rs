//! A server, a project, and a program with one runner that works for it until the test ends.

use std::time::Duration;

use job_runner::{
    config::{Config, Runner},
    fleet::{Fleet, RetryIntervals, StopHandle, Watch},
};
use kernel::{Visibility, ids::ProjectId};
use serde_json::{Value, json};

use crate::support::{Person, Server, TestApp, ci};

/// A test that waits longer has failed.
const PATIENCE: Duration = Duration::from_secs(60);
/// Quick, so that no test waits.
const PACE: RetryIntervals = RetryIntervals {
    update_interval: Duration::from_millis(5),
    keep_alive: Duration::from_millis(50),
    first_retry: Duration::from_millis(1),
    longest_retry: Duration::from_millis(20),
};

/// What blocks, on a thread that may.
pub(super) async fn patiently<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let done = kernel::task::spawn_blocking(work);
    tokio::time::timeout(PATIENCE, done)
        .await
        .expect("no test waits so long")
        .expect("it went well")
}

pub(super) struct RunnerFixture {
    pub(super) app: TestApp,
    pub(super) project: ProjectId,
    /// Of the runner's files, and of what jobs leave outside of their projects.
    pub(super) folder: tempfile::TempDir,
    stop: StopHandle,
    watch: Watch,
    _server: Server,
}

impl Drop for RunnerFixture {
    fn drop(&mut self) {
        self.stop.stop();
        self.stop.stop();
    }
}

impl RunnerFixture {
    /// `olga/one`, private and empty.
    pub(super) async fn open() -> Self {
        let app = TestApp::new();
        let server = app.serve();
        let olga = app.person("olga");
        let project = app.project(&olga, "one", Visibility::Private);
        let new = json!({ "runner_type": "project_type", "project_id": project.0 });
        let made = olga.post("/user/runners", new).await.created();
        drop(olga);
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("http://{}", server.address);
        let runner = Runner {
            clone_url: Some(url.clone()),
            builds_dir: Some(folder.path().join("builds")),
            cache_dir: Some(folder.path().join("cache")),
            ..Runner::shell("test", &url, made["token"].as_str().expect("a token"))
        };
        let config = Config { concurrent: 2, runners: vec![runner], ..Config::default() };
        let interval = Duration::from_millis(5);
        let fleet = Fleet::start_every(&config, "r_test", PACE, interval).expect("it starts");
        let (stop, watch) = (fleet.stop_handle(), fleet.watch());
        Self { app, project, folder, stop, watch, _server: server }
    }

    pub(super) fn olga(&self) -> Person<'_> {
        self.app.person("olga")
    }

    /// Brings a configuration with a commit of its own to `main`.
    pub(super) async fn push(&self, configuration: &str) -> String {
        ci::commit(&self.olga(), self.project, "main", "Say hello", configuration).await
    }

    /// Waits until so many jobs have ended since the beginning.
    pub(super) async fn ended(&self, jobs: u64) {
        let watch = self.watch.clone();
        assert!(patiently(move || watch.wait_for_jobs(jobs, PATIENCE)).await, "jobs still run");
    }

    /// Brings a configuration, and waits until so many jobs have ended: how the pipeline is then.
    pub(super) async fn run(&self, configuration: &str, jobs: u64) -> String {
        self.push(configuration).await;
        self.ended(jobs).await;
        self.status().await
    }

    /// How the newest pipeline is.
    pub(super) async fn status(&self) -> String {
        let listed = ci::pipelines(&self.olga(), self.project, "").await;
        listed[0]["status"].as_str().expect("a status").to_owned()
    }

    /// The newest job of that name.
    pub(super) async fn job(&self, name: &str) -> Value {
        ci::job(&self.olga(), self.project, name).await
    }

    pub(super) fn path_of(&self, job: &Value) -> String {
        format!("/projects/{}/jobs/{}", self.project, job["id"])
    }

    /// What the newest job of that name has written.
    pub(super) async fn log(&self, name: &str) -> String {
        let path = format!("{}/trace", self.path_of(&self.job(name).await));
        let shown = self.olga().get(&path).await;
        assert_eq!(shown.status, 200);
        String::from_utf8(shown.bytes).expect("text")
    }

    /// The archive of the newest job of that name.
    pub(super) async fn archive(&self, name: &str) -> Vec<u8> {
        let path = format!("{}/artifacts", self.path_of(&self.job(name).await));
        let shown = self.olga().get(&path).await;
        assert_eq!(shown.status, 200);
        shown.bytes
    }
}
