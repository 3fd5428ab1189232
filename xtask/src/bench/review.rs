//! The run over issues and merge requests: very many of them over a thousand projects, and one merge request of 6,000
//! commits in a real repository.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::{
    cases::CONSTANT,
    people::{id, person, post},
    report::{Report, megabytes, milliseconds},
    review_cases::{self, Names},
    review_seed::{self, Size, Templates},
    review_targets,
    transport::Timing,
    wrk::{Generator, Measurement},
};
use crate::server::Installation;

/// Commits of the long merge request.
const COMMITS: usize = 6_000;
/// Merges that are timed, one after the other.
const MERGES: usize = 20;
const LARGE: &str = "work/large";

pub(super) struct Run<'a> {
    pub(super) installation: Installation,
    pub(super) generator: &'a Generator,
    pub(super) size: Size,
    pub(super) only: Option<&'a str>,
    pub(super) scratch: PathBuf,
}

impl Run<'_> {
    pub(super) fn report(&self, database: &'static str) -> Result<Report> {
        let server = self.installation.start()?;
        let (group, from, plain) = self.templates()?;
        server.stop()?;
        let begun = Instant::now();
        let made = review_seed::review(&self.installation.database_address(), from, self.size)?;
        println!("filled in {}", milliseconds(begun.elapsed()));
        let mut notes = vec![
            ("issues", self.size.issues.to_string()),
            ("merge requests", self.size.merge_requests.to_string()),
            ("filled in", milliseconds(begun.elapsed())),
        ];
        let server = self.installation.start()?;
        notes.push(("start on these data", milliseconds(server.started_in)));
        let long_iid = 1;
        let names = Names { group, from, made, long_iid };
        let mut cases = vec![self.measured(CONSTANT, &["GET /-/liveness".to_owned()], None)?];
        for wanted in review_cases::cases(&names, self.size, &plain) {
            if self.only.is_none_or(|only| wanted.case.name.contains(only)) {
                let token = wanted.token.as_deref();
                cases.push(self.measured(wanted.case.name, &wanted.case.requests, token)?);
            }
        }
        let mut transport = match self.only {
            None => vec![self.merges(from.large)?],
            Some(_) => Vec::new(),
        };
        if self.only.is_none_or(|only| "commit to a branch".contains(only)) {
            transport.extend(review_targets::commits(&self.installation, &self.scratch, group)?);
        }
        notes.push(("resident after the run", megabytes(&server)?));
        server.stop()?;
        Ok(Report { database, cases, transport, compared: Vec::new(), notes })
    }

    fn measured(
        &self,
        name: &'static str,
        requests: &[String],
        token: Option<&str>,
    ) -> Result<(&'static str, Measurement)> {
        let figures = self.generator.measure_as(&self.installation.root(), requests, token)?;
        println!(
            "{name}: {:.0} a second, p90 {:.1} ms, {} failed",
            figures.per_second, figures.p90, figures.failed
        );
        Ok((name, figures))
    }

    /// One of each kind, made as anybody would; the group, what was made, and the token of a member.
    fn templates(&self) -> Result<(i64, Templates, String)> {
        let client = self.installation.client();
        let [(one, plain), (other, _)] = [person(&client, "plain")?, person(&client, "other")?];
        let group = id(&post(&client, "/groups", &json!({ "name": "Work", "path": "work" }))?)?;
        for user in [one, other] {
            let member = json!({ "user_id": user, "access_level": 30 });
            post(&client, &format!("/groups/{group}/members"), &member)?;
        }
        let project = |name: &str| {
            let wanted = json!({ "name": name, "namespace_id": group, "default_branch": "main" });
            id(&post(&client, "/projects", &wanted)?)
        };
        let (template, large) = (project("template")?, project("large")?);
        self.push_branches()?;
        let there = format!("/projects/{large}");
        let label = json!({ "name": "bug", "color": "#dc143c" });
        let label = id(&post(&client, &format!("{there}/labels"), &label)?)?;
        let milestone =
            id(&post(&client, &format!("{there}/milestones"), &json!({ "title": "v1" }))?)?;
        let issue = json!({ "title": "The template", "description": "Of all", "labels": "bug" });
        let issue = id(&post(&client, &format!("{there}/issues"), &issue)?)?;
        let note = post(&client, &format!("{there}/issues/1/notes"), &json!({ "body": "A word" }))?;
        let request = |branch: &str| {
            let wanted =
                json!({ "title": branch, "source_branch": branch, "target_branch": "main" });
            id(&post(&client, &format!("{there}/merge_requests"), &wanted)?)
        };
        let (long, merge_request) = (request("long")?, request("short")?);
        let (note, people) = (id(&note)?, [one, other]);
        let project = template;
        let made = Templates {
            project,
            large,
            issue,
            merge_request,
            note,
            label,
            milestone,
            long,
            people,
        };
        Ok((group, made, plain))
    }

    /// A repository with one branch of very many commits, and short ones to merge.
    fn push_branches(&self) -> Result<()> {
        let folder = self.scratch.join("branches.git");
        git(&["init", "--quiet", "--bare", "--initial-branch=main"], &folder, None)?;
        git(&["fast-import", "--quiet"], &folder, Some(&branches()))?;
        let remote = self.installation.remote(LARGE);
        git(&["push", "--quiet", &remote, "refs/heads/main"], &folder, None)?;
        git(&["push", "--quiet", &remote, "refs/heads/*:refs/heads/*"], &folder, None)
    }

    fn merges(&self, large: i64) -> Result<Timing> {
        let client = self.installation.client();
        let mut seconds = Vec::new();
        for n in 0..MERGES {
            let branch = format!("topic-{n}");
            let wanted =
                json!({ "title": branch, "source_branch": branch, "target_branch": "main" });
            let made = post(&client, &format!("/projects/{large}/merge_requests"), &wanted)?;
            let path = format!("/projects/{large}/merge_requests/{}/merge", made["iid"]);
            let begun = Instant::now();
            let merged = client.put(&path, &json!({}))?.json()?;
            seconds.push(begun.elapsed().as_secs_f64());
            ensure!(merged["state"] == "merged", "not merged: {merged}");
        }
        Ok(Timing { what: "merge".to_owned(), seconds })
    }
}

/// Everything as git reads it: `main`, `short`, `long` and the branches that are merged, each with files of its own.
fn branches() -> String {
    let mut out = String::from("reset refs/heads/main\n");
    commit(&mut out, "main", "Begin", "README.md", None);
    commit(&mut out, "short", "Change little", "short.md", Some("main"));
    for n in 0..COMMITS {
        // A branch that was begun goes on from itself.
        let from = (n == 0).then_some("main");
        commit(&mut out, "long", &format!("Step {n}"), &format!("d{}/f.txt", n % 300), from);
    }
    for n in 0..MERGES {
        let file = format!("topic-{n}.md");
        commit(&mut out, &format!("topic-{n}"), "Add a topic", &file, Some("main"));
    }
    out
}

pub(super) fn commit(
    out: &mut String,
    branch: &str,
    message: &str,
    file: &str,
    from: Option<&str>,
) {
    let from = from.map_or_else(String::new, |from| format!("from refs/heads/{from}\n"));
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "commit refs/heads/{branch}\ncommitter Bench <bench@example.com> 1700000000 +0000\n\
         data {}\n{message}\n{from}M 100644 inline {file}\ndata {}\n{message}\n\n",
        message.len(),
        message.len(),
    );
}

pub(super) fn git(arguments: &[&str], folder: &Path, input: Option<&str>) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut git = Command::new("git");
    git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    git.current_dir(folder).args(arguments).stdin(Stdio::piped());
    let mut child = git.spawn().context("git")?;
    if let (Some(text), Some(mut stdin)) = (input, child.stdin.take()) {
        std::io::Write::write_all(&mut stdin, text.as_bytes())?;
    }
    let done = child.wait()?;
    ensure!(done.success(), "{git:?} ended with {done}");
    Ok(())
}
