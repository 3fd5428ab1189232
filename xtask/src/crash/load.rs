//! The load of a round: threads that commit through the API, push with git, merge, write rows and do jobs until the server
//! is gone.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread::Scope,
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::{alerts::Monitor, ledger::SharedLedger, pipelines, pushes::Pusher, runners};
use crate::{
    client::{Answer, Client},
    runner::Runner,
    server::Installation,
};

/// The projects and clones that all rounds use.
pub(super) struct Stage<'a> {
    client: Client,
    shared_project: i64,
    own_project: i64,
    merging_project: i64,
    pub(super) running_project: i64,
    monitor: Monitor,
    jobs_project: i64,
    runners: Vec<Runner>,
    pushers: Vec<Pusher<'a>>,
}

/// One thread's place in a round.
struct Worker<'a> {
    client: Client,
    ledger: &'a SharedLedger,
    stop: &'a AtomicBool,
    /// Makes every name of this thread and round its own.
    name: String,
}

impl<'a> Stage<'a> {
    pub(super) fn prepare(installation: &'a Installation, scratch: &Path) -> Result<Self> {
        let client = installation.client();
        let (shared_project, shared_path) = project(&client, "crash-shared")?;
        let (own_project, own_path) = project(&client, "crash-own")?;
        let (merging_project, _) = project(&client, "crash-merging")?;
        let (running_project, _) = project(&client, "crash-running")?;
        pipelines::configure(&client, running_project)?;
        let monitor = Monitor::prepare(&client, own_project)?;
        let (jobs_project, _) = project(&client, "crash-jobs")?;
        let runners = runners::prepare(installation, &client, jobs_project)?;
        let pushers = vec![
            Pusher::prepare(installation, scratch, (shared_project, &shared_path), "first")?,
            Pusher::prepare(installation, scratch, (own_project, &own_path), "second")?,
        ];
        Ok(Self {
            client,
            shared_project,
            own_project,
            merging_project,
            running_project,
            monitor,
            jobs_project,
            runners,
            pushers,
        })
    }

    /// Starts the threads; they end soon after `stop`.
    pub(super) fn begin<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        round: u32,
        ledger: &'scope SharedLedger,
        stop: &'scope AtomicBool,
    ) {
        let worker = move |name: &str| Worker {
            client: self.client.clone(),
            ledger,
            stop,
            name: format!("{name}-{round}"),
        };
        for name in ["one", "two"] {
            let worker = worker(name);
            scope.spawn(move || {
                worker.repeat(|worker, n| worker.commit(self.shared_project, "main", n))
            });
        }
        let branches = worker("branches");
        scope.spawn(move || {
            branches.repeat(|worker, n| worker.branch_and_commit(self.own_project, n))
        });
        for name in ["rows", "more-rows"] {
            let rows = worker(name);
            scope.spawn(move || rows.repeat(Worker::rows));
        }
        for name in ["merges", "more-merges"] {
            let merges = worker(name);
            scope.spawn(move || merges.repeat(|worker, n| worker.merge(self.merging_project, n)));
        }
        for name in ["runs", "more-runs"] {
            let runs = worker(name);
            scope.spawn(move || runs.repeat(|worker, n| worker.run(self.running_project, n)));
        }
        for name in ["alerts", "more-alerts"] {
            let alerts = worker(name);
            scope.spawn(move || {
                alerts.repeat(|worker, n| self.monitor.send(worker.ledger, &worker.name, n))
            });
        }
        let jobs = worker("jobs");
        scope.spawn(move || {
            jobs.repeat(|worker, _| runners::make_pipeline(&worker.client, self.jobs_project))
        });
        for runner in &self.runners {
            scope.spawn(move || runners::work(runner, self.jobs_project, ledger, stop));
        }
        for pusher in &self.pushers {
            scope.spawn(move || pusher.work(round, ledger, stop));
        }
    }
}

fn project(client: &Client, name: &str) -> Result<(i64, String)> {
    let body = json!({ "name": name, "initialize_with_readme": true, "default_branch": "main" });
    let made = client.post("/projects", &body)?.json()?;
    let path = made["path_with_namespace"].as_str().context("a project without a path")?;
    Ok((id(&made)?, path.to_owned()))
}

fn id(record: &Value) -> Result<i64> {
    record["id"].as_i64().context("a record without an id")
}

impl Worker<'_> {
    /// Works until the server is gone; what went wrong before that is noted.
    fn repeat(&self, step: impl Fn(&Self, u64) -> Result<()>) {
        for n in 0.. {
            if self.stop.load(Ordering::SeqCst) {
                return;
            }
            if let Err(error) = step(self, n) {
                if !self.stop.load(Ordering::SeqCst) {
                    self.ledger.refuse(&self.name, &format!("{error:#}"));
                }
                return;
            }
        }
    }

    /// A commit by actions; losing against another writer of the branch is no failure.
    fn commit(&self, project: i64, branch: &str, n: u64) -> Result<()> {
        let path = format!("{}/file-{n}.txt", self.name);
        let action =
            json!({ "action": "create", "file_path": path, "content": format!("line {n}\n") });
        let body = json!({ "branch": branch, "commit_message": format!("Add {path}"), "actions": [action] });
        let answer = self.client.post(&format!("/projects/{project}/repository/commits"), &body)?;
        if answer.status == 400 || answer.status == 409 {
            return Ok(());
        }
        let sha = text(&answer, "id")?;
        let mut ledger = self.ledger.write();
        ledger.pushes += 1;
        ledger.commits.entry((project, format!("refs/heads/{branch}"))).or_default().push(sha);
        Ok(())
    }

    fn branch_and_commit(&self, project: i64, n: u64) -> Result<()> {
        let branch = format!("{}-{n}", self.name);
        let body = json!({ "branch": branch, "ref": "main" });
        let answer =
            self.client.post(&format!("/projects/{project}/repository/branches"), &body)?;
        let sha = answer.json()?["commit"]["id"]
            .as_str()
            .context("a branch without a commit")?
            .to_owned();
        {
            let mut ledger = self.ledger.write();
            ledger.pushes += 1;
            ledger.commits.entry((project, format!("refs/heads/{branch}"))).or_default().push(sha);
        }
        self.commit(project, &branch, n)
    }

    /// A branch with a commit, a merge request of it, and the merge; each second branch goes with it.
    fn merge(&self, project: i64, n: u64) -> Result<()> {
        let branch = format!("{}-{n}", self.name);
        let path = format!("{}/file-{n}.txt", self.name);
        let action =
            json!({ "action": "create", "file_path": path, "content": format!("line {n}\n") });
        let body = json!({ "branch": branch, "start_branch": "main", "actions": [action],
                           "commit_message": format!("Add {path}") });
        let commit = self.client.post(&format!("/projects/{project}/repository/commits"), &body)?;
        let head = text(&commit, "id")?;
        let body = json!({ "source_branch": branch, "target_branch": "main", "title": branch });
        let made = self.client.post(&format!("/projects/{project}/merge_requests"), &body)?;
        let iid = made.json()?["iid"].as_i64().context("a merge request without a number")?;
        let how = json!({ "should_remove_source_branch": n.is_multiple_of(2) });
        let merge = format!("/projects/{project}/merge_requests/{iid}/merge");
        let answer = self.client.put(&merge, &how)?;
        // Others who merge into the same branch may be faster each time.
        if answer.status == 422 {
            return Ok(());
        }
        let sha = text(&answer, "merge_commit_sha")?;
        let mut ledger = self.ledger.write();
        ledger.pushes += 2;
        let main = (project, "refs/heads/main".to_owned());
        ledger.commits.entry(main).or_default().extend([head, sha]);
        ledger.merged.push((project, iid));
        Ok(())
    }

    /// A branch with a commit, and what people do with its pipeline.
    fn run(&self, project: i64, n: u64) -> Result<()> {
        let path = format!("{}/file-{n}.txt", self.name);
        let action =
            json!({ "action": "create", "file_path": path, "content": format!("line {n}\n") });
        let body = json!({ "branch": format!("{}-{n}", self.name), "start_branch": "main",
                           "actions": [action], "commit_message": format!("Add {path}") });
        let commit = self.client.post(&format!("/projects/{project}/repository/commits"), &body)?;
        let sha = text(&commit, "id")?;
        let list = self.client.get(&format!("/projects/{project}/pipelines?sha={sha}"))?.json()?;
        let pipeline = list[0]["id"].as_i64().context("a commit without a pipeline")?;
        {
            let mut ledger = self.ledger.write();
            ledger.pushes += 1;
            ledger.runs.push((project, sha));
        }
        let own = format!("/projects/{project}/pipelines/{pipeline}");
        let jobs = self.client.get(&format!("{own}/jobs"))?.json()?;
        let job = jobs.as_array().and_then(|jobs| jobs.iter().find(|job| job["name"] == "make"));
        let job = id(job.context("a pipeline without its jobs")?)?;
        self.client.post(&format!("/projects/{project}/jobs/{job}/cancel"), &json!({}))?.json()?;
        self.client.post(&format!("{own}/retry"), &json!({}))?.json()?;
        self.client.post(&format!("{own}/cancel"), &json!({}))?.json()?;
        Ok(())
    }

    /// A project, a star on it, a protected branch in it.
    fn rows(&self, n: u64) -> Result<()> {
        let name = format!("{}-{n}", self.name);
        let project = id(&self.client.post("/projects", &json!({ "name": name }))?.json()?)?;
        self.ledger.write().projects.push(project);
        self.client.post(&format!("/projects/{project}/star"), &json!({}))?.json()?;
        self.ledger.write().stars.push(project);
        let rule = format!("release-{n}-*");
        self.client
            .post(&format!("/projects/{project}/protected_branches"), &json!({ "name": rule }))?
            .json()?;
        self.ledger.write().protected.push((project, rule));
        Ok(())
    }
}

fn text(answer: &Answer, field: &str) -> Result<String> {
    answer.json()?[field]
        .as_str()
        .map(str::to_owned)
        .with_context(|| format!("no {field} in {}", answer.told()))
}
