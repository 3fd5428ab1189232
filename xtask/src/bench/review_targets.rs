//! The cost of a commit by the number of merge requests into its branch.

use std::{path::Path, time::Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::{
    people::{id, post},
    review::{commit, git},
    transport::Timing,
};
use crate::{client::Client, server::Installation};

/// So many merge requests lead to the branch, each that git was asked about.
const OPEN: [usize; 3] = [0, 20, 1_000];
/// Commits that are timed, one after the other.
const COMMITS: usize = 40;

pub(super) fn commits(
    installation: &Installation,
    scratch: &Path,
    group: i64,
) -> Result<Vec<Timing>> {
    OPEN.iter().map(|open| commits_beside(installation, scratch, group, *open)).collect()
}

fn commits_beside(
    installation: &Installation,
    scratch: &Path,
    group: i64,
    open: usize,
) -> Result<Timing> {
    let client = installation.client();
    let name = format!("targets-{open}");
    let wanted = json!({ "name": name, "namespace_id": group, "default_branch": "main" });
    let project = id(&post(&client, "/projects", &wanted)?)?;
    push_branches(installation, &scratch.join(&name), &name, open)?;
    for n in 0..open {
        let wanted =
            json!({ "title": "Change", "source_branch": branch(n), "target_branch": "main" });
        post(&client, &format!("/projects/{project}/merge_requests"), &wanted)?;
    }
    let mut seconds = Vec::new();
    for n in 0..COMMITS {
        seconds.push(timed_commit(&client, project, n)?);
    }
    println!("commit beside {open} merge requests: {} timed", seconds.len());
    Ok(Timing { what: format!("commit to a branch with {open} open merge requests"), seconds })
}

fn timed_commit(client: &Client, project: i64, n: usize) -> Result<f64> {
    let action = json!({ "action": "create", "file_path": format!("made-{n}.md"), "content": "x" });
    let body = json!({ "branch": "main", "commit_message": "Write", "actions": [action] });
    let begun = Instant::now();
    let made = post(client, &format!("/projects/{project}/repository/commits"), &body)?;
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(made["id"].is_string(), "no commit: {made}");
    Ok(seconds)
}

fn branch(n: usize) -> String {
    format!("change-{n}")
}

fn push_branches(
    installation: &Installation,
    folder: &Path,
    name: &str,
    count: usize,
) -> Result<()> {
    let mut all = String::from("reset refs/heads/main\n");
    commit(&mut all, "main", "Begin", "README.md", None);
    for n in 0..count {
        commit(&mut all, &branch(n), "Change", &format!("change-{n}.md"), Some("main"));
    }
    git(&["init", "--quiet", "--bare", "--initial-branch=main"], folder, None)?;
    git(&["fast-import", "--quiet"], folder, Some(&all))?;
    let remote = installation.remote(&format!("work/{name}"));
    git(&["push", "--quiet", &remote, "refs/heads/main"], folder, None)?;
    git(&["push", "--quiet", &remote, "refs/heads/*:refs/heads/*"], folder, None)
}
