//! A runner that works while the server dies and comes back: it takes jobs, writes their logs piece by piece, brings an
//! artifact of each, and tells their ends, each as often as it takes until it is acknowledged.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::hand::Hand;
use crate::client::Client;

/// Pipelines without a push, so that the others are not counted wrongly.
const TEXT: &str = "workflow: {rules: [{if: '$CI_PIPELINE_SOURCE == \"api\"'}]}\n\
                    one: {script: x, artifacts: {paths: [out]}}\ntwo: {script: x, artifacts: {paths: [out]}}\n\
                    then: {stage: deploy, script: x, artifacts: {paths: [out]}}\n";
/// Jobs are done by so many at once.
const HANDS: usize = 3;
/// Its work takes no longer once the server stays.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two tries while the server is away.
pub(super) const REST: Duration = Duration::from_millis(10);

/// What was acknowledged of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    /// How often it was handed out.
    pub(super) taken: u32,
    pub(super) log: Vec<u8>,
    pub(super) artifact: Vec<u8>,
    /// Whether its end was acknowledged.
    pub(super) ended: bool,
}

#[derive(Default)]
pub(super) struct Book {
    pub(super) jobs: BTreeMap<i64, Done>,
    pub(super) findings: Vec<String>,
}

/// The runner at work; it goes on over the restarts of the server.
pub(super) struct Runner {
    client: Client,
    pub(super) project: i64,
    stop: Arc<AtomicBool>,
    book: Arc<Mutex<Book>>,
    hands: Vec<JoinHandle<()>>,
}

impl Runner {
    /// Makes a project whose jobs it does, and begins.
    pub(super) fn start(client: &Client) -> Result<Self> {
        let new = json!({ "name": "crash-jobs", "initialize_with_readme": true, "default_branch": "main" });
        let project = client.post("/projects", &new)?.json()?["id"].as_i64().context("an id")?;
        let action = json!({ "action": "create", "file_path": ".gitlab-ci.yml", "content": TEXT });
        let body = json!({ "branch": "main", "commit_message": "Jobs", "actions": [action] });
        client.post(&format!("/projects/{project}/repository/commits"), &body)?.json()?;
        let new = json!({ "runner_type": "project_type", "project_id": project });
        let made = client.post("/user/runners", &new)?.json()?;
        let token = made["token"].as_str().context("a runner without a token")?;
        let mut runner = Self {
            client: client.clone(),
            project,
            stop: Arc::default(),
            book: Arc::default(),
            hands: Vec::new(),
        };
        for _hand in 0..HANDS {
            let hand = Hand {
                client: client.clone(),
                token: token.to_owned(),
                stop: Arc::clone(&runner.stop),
                book: Arc::clone(&runner.book),
            };
            runner.hands.push(std::thread::spawn(move || hand.work()));
        }
        Ok(runner)
    }

    /// Lets it finish what it has, and compares what it was told with what is there. The server must run.
    pub(super) fn finish(mut self) -> Result<Vec<String>> {
        self.settle()?;
        self.stop.store(true, Ordering::SeqCst);
        for hand in self.hands.drain(..) {
            drop(hand.join());
        }
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = std::mem::take(&mut book.findings);
        for (job, done) in &book.jobs {
            found.extend(self.check(*job, done)?);
        }
        let bytes: usize =
            book.jobs.values().map(|done| done.log.len() + done.artifact.len()).sum();
        println!(
            "crash: a runner did {} jobs with {bytes} bytes of logs and artifacts",
            book.jobs.len()
        );
        if book.jobs.is_empty() {
            found.push("the runner got no job".to_owned());
        }
        Ok(found)
    }

    /// Waits until all jobs are done that somebody has. A job may have been handed out by a server that died before it said
    /// so: that one is nobody's until the server's own sweep.
    fn settle(&self) -> Result<()> {
        let begun = Instant::now();
        loop {
            let running = self.jobs("running")?;
            let is_idle = self.jobs("pending")?.is_empty();
            let book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
            if is_idle && !running.iter().any(|job| book.jobs.contains_key(job)) {
                return Ok(());
            }
            drop(book);
            ensure!(begun.elapsed() < PATIENCE, "the runner does not get done: {running:?} run");
            std::thread::sleep(REST);
        }
    }

    fn jobs(&self, scope: &str) -> Result<Vec<i64>> {
        let path = format!("/projects/{}/jobs?scope={scope}&per_page=100", self.project);
        let listed = self.client.get(&path)?.json()?;
        Ok(listed.as_array().into_iter().flatten().filter_map(|job| job["id"].as_i64()).collect())
    }

    fn check(&self, job: i64, done: &Done) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let own = format!("/projects/{}/jobs/{job}", self.project);
        let status = self.client.get(&own)?.json()?["status"].clone();
        if done.taken != 1 {
            found.push(format!("job {job} was handed out {} times", done.taken));
        }
        if !done.ended || status != "success" {
            found.push(format!(
                "job {job} is {status}, and its end was acknowledged: {}",
                done.ended
            ));
        }
        let log = self.client.get(&format!("{own}/trace"))?;
        if log.body != done.log {
            let (has, sent) = (log.body.len(), done.log.len());
            found.push(format!(
                "job {job}: its log has {has} bytes other than the {sent} that were sent"
            ));
        }
        let artifact = self.client.get(&format!("{own}/artifacts"))?;
        if artifact.body != done.artifact {
            found.push(format!(
                "job {job}: its artifact is another one than was brought: {}",
                artifact.told()
            ));
        }
        Ok(found)
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}
