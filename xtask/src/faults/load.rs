//! Somebody who writes and reads, and remembers what was acknowledged.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::{client::Client, server::Installation};

/// How long a server may take to be itself again.
const RECOVERY: Duration = Duration::from_secs(20);

/// A project, and what was acknowledged in it.
pub(super) struct Load {
    pub(super) client: Client,
    pub(super) project: i64,
    pub(super) path: String,
    issues: Vec<i64>,
    commits: Vec<String>,
    /// How often each status came.
    statuses: BTreeMap<u16, usize>,
    pub(super) slowest: Duration,
}

impl Load {
    pub(super) fn begin(installation: &Installation) -> Result<Self> {
        let client = installation.client();
        let body = json!({ "name": "faults", "initialize_with_readme": true });
        let made = client.post("/projects", &body)?.json()?;
        let project = made["id"].as_i64().context("a project without an id")?;
        let path = made["path_with_namespace"].as_str().context("a path")?.to_owned();
        let statuses = BTreeMap::new();
        let (issues, commits) = (Vec::new(), Vec::new());
        Ok(Self { client, project, path, issues, commits, statuses, slowest: Duration::ZERO })
    }

    /// A row, a commit and a read. Says whether both writes succeeded.
    pub(super) fn round(&mut self, n: usize) -> Result<bool> {
        let issue = json!({ "title": format!("Issue {n}") });
        let issue = self.send("issues", Some(&issue))?;
        let action = json!({ "action": "create", "file_path": format!("file-{n}.txt"),
            "content": "x".repeat(4000) });
        let commit =
            json!({ "branch": "main", "commit_message": format!("Add {n}"), "actions": [action] });
        let commit = self.send("repository/commits", Some(&commit))?;
        self.send("issues?per_page=1", None)?;
        let both = issue.is_some() && commit.is_some();
        self.issues.extend(issue.and_then(|made| made["iid"].as_i64()));
        self.commits.extend(commit.and_then(|made| made["id"].as_str().map(str::to_owned)));
        Ok(both)
    }

    fn send(&mut self, what: &str, body: Option<&Value>) -> Result<Option<Value>> {
        let path = format!("/projects/{}/{what}", self.project);
        let begun = Instant::now();
        let answer = match body {
            Some(body) => self.client.post(&path, body)?,
            None => self.client.get(&path)?,
        };
        self.slowest = self.slowest.max(begun.elapsed());
        *self.statuses.entry(answer.status).or_default() += 1;
        ensure!(answer.status != 500, "{}", answer.told());
        ensure!(answer.status != 503 || answer.retry_after, "no Retry-After: {}", answer.told());
        Ok(if answer.is_success() { Some(answer.json()?) } else { None })
    }

    /// Works until both writes succeed; how long that took.
    pub(super) fn until_good(&mut self) -> Result<Duration> {
        let begun = Instant::now();
        for n in 100_000.. {
            if self.is_ready()? && self.round(n)? {
                break;
            }
            ensure!(begun.elapsed() < RECOVERY, "not good again after {RECOVERY:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(begun.elapsed())
    }

    pub(super) fn is_ready(&self) -> Result<bool> {
        Ok(self.client.page("/-/readiness")?.is_success())
    }

    /// Forgets the statuses so far.
    pub(super) fn count_anew(&mut self) {
        self.statuses.clear();
        self.slowest = Duration::ZERO;
    }

    pub(super) fn came(&self, status: u16) -> usize {
        self.statuses.get(&status).copied().unwrap_or_default()
    }

    pub(super) fn note(&mut self, status: u16) {
        *self.statuses.entry(status).or_default() += 1;
    }

    /// Each status with how often it came.
    pub(super) fn told(&self) -> String {
        let all = self.statuses.iter().map(|(status, times)| format!("{times} × {status}"));
        all.collect::<Vec<_>>().join(", ")
    }

    /// Looks for everything that was acknowledged; how much that was.
    pub(super) fn ensure_kept(&self) -> Result<usize> {
        for issue in &self.issues {
            let path = format!("/projects/{}/issues/{issue}", self.project);
            self.client.get(&path)?.json().context("an acknowledged issue is lost")?;
        }
        for commit in &self.commits {
            let path =
                format!("/projects/{}/repository/commits/{commit}/refs?type=branch", self.project);
            let on = self.client.get(&path)?.json().context("an acknowledged commit is lost")?;
            let on_main = on.as_array().is_some_and(|all| !all.is_empty());
            ensure!(on_main, "the commit {commit} was acknowledged and is on no branch");
        }
        Ok(self.issues.len() + self.commits.len())
    }
}
