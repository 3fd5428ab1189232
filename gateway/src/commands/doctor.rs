//! `forgeway doctor`: what is wrong, and what to do about it.

use std::collections::BTreeMap;

use anyhow::bail;
use db::{Tx, each_backend, error, schema::projects};
use diesel::prelude::*;
use kernel::ids::ProjectId;
use repo::{
    git::RefName,
    push::journal::{JournalStore, PushEvent},
};
use worker::Queue;

use super::print;
use crate::{app::App, config::Config, server};

/// Counts what was found, and says it.
#[derive(Default)]
struct Findings {
    wrong: u32,
}

impl Findings {
    fn good(&self, what: &str) {
        print(&format!("ok     {what}\n"));
    }

    fn wrong(&mut self, what: &str, remedy: &str) {
        self.wrong += 1;
        print(&format!("WRONG  {what}\n       {remedy}\n"));
    }
}

pub(super) async fn run(config: &Config, fsck: bool) -> anyhow::Result<()> {
    let mut findings = Findings::default();
    let app = server::open_shared(config).await?;
    findings.good(&format!("git {}", app.git.version()));
    findings.good("the database opens and is up to date");
    check_journal(&app, &mut findings).await?;
    check_work(&app, &mut findings).await?;
    let all = app.db.read(projects_alive).await?;
    for (project, path, default_branch) in &all {
        check_repository(&app, *project, path, default_branch.as_deref(), &mut findings).await?;
        if fsck {
            check_objects(&app, *project, path, &mut findings).await;
        }
    }
    print(&format!("checked {} repositories, {} problems\n", all.len(), findings.wrong));
    if findings.wrong > 0 {
        bail!("{} problems were found", findings.wrong);
    }
    Ok(())
}

type Alive = (ProjectId, String, Option<String>);

fn projects_alive(tx: &mut Tx<'_>) -> kernel::Result<Vec<Alive>> {
    let query = projects::table.filter(projects::deleted_at.is_null()).order(projects::id);
    each_backend!(tx, |conn| query
        .select((projects::id, projects::full_path, projects::default_branch))
        .load(conn)
        .map_err(error("Project")))
}

async fn check_journal(app: &App, findings: &mut Findings) -> anyhow::Result<()> {
    let open = repo::push::unsettled(&app.db, &app.git, &app.storage).await?;
    match open.len() {
        0 => findings.good("the journal agrees with the refs"),
        many => findings.wrong(
            &format!("{many} pushes were decided and not carried out"),
            "restart the server: it finishes them",
        ),
    }
    Ok(())
}

async fn check_work(app: &App, findings: &mut Findings) -> anyhow::Result<()> {
    let depth = app.db.read(|tx| tx.work_depth()).await?;
    match depth.given_up {
        0 => findings.good(&format!("{} pieces of background work wait", depth.waiting)),
        many => findings.wrong(
            &format!("{many} pieces of background work were given up"),
            "see last_error in the table work; set run_at to 0 to try again",
        ),
    }
    Ok(())
}

async fn check_repository(
    app: &App,
    project: ProjectId,
    path: &str,
    default_branch: Option<&str>,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    if !app.storage.exists(project) {
        findings.wrong(
            &format!("{path} (project {project}) has no repository"),
            "restore it from a backup",
        );
        return Ok(());
    }
    let events = app.db.read(move |tx| tx.push_events(project)).await?;
    let mut last: BTreeMap<String, Option<String>> = BTreeMap::new();
    for PushEvent { ref_name, after_sha, .. } in events {
        last.insert(ref_name, after_sha);
    }
    let mut names: Vec<RefName> = Vec::new();
    for name in last.keys() {
        names.push(RefName::full(name)?);
    }
    let default = default_branch.map(RefName::branch).transpose()?;
    let repository = app.storage.repository(project);
    let now = repo::git::refs::read(&app.git, &repository, names.iter().chain(&default)).await?;
    for name in &names {
        let told = last.get(&name.as_bstr().to_string()).cloned().flatten();
        let is = now.get(name).map(ToString::to_string);
        if told != is {
            let what = format!("{path}: {} is {is:?}, its last push says {told:?}", name.as_bstr());
            findings.wrong(&what, "somebody changed the repository by hand; push the branch again");
        }
    }
    if let Some(default) = default.filter(|default| !now.contains_key(default)) {
        let what = format!("{path}: the default branch {} is not there", default.short());
        findings.wrong(&what, "set another default branch, or push this one");
    }
    Ok(())
}

async fn check_objects(app: &App, project: ProjectId, path: &str, findings: &mut Findings) {
    if !app.storage.exists(project) {
        return;
    }
    let repository = app.storage.repository(project);
    let check =
        app.git.at(&repository, "fsck").args(["--strict", "--no-dangling", "--no-progress"]);
    if let Err(cause) = check.time_limit(std::time::Duration::from_secs(3_600)).succeed().await {
        findings.wrong(
            &format!("{path}: git fsck says: {cause}"),
            "restore the repository from a backup",
        );
    }
}
