//! Compares what was acknowledged with what is there after the restart.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use sha2::{Digest as _, Sha256};

use super::{
    alerts, facts,
    ledger::{Ledger, Ref, SharedLedger},
    merges, pipelines,
    pushes::plain,
    runners,
};
use crate::{client::Client, migrate::Connection, server::Installation};

/// Orphaned git processes may hold a lock for a moment longer than the server needs to restart.
const ORPHANS: Duration = Duration::from_secs(10);

const FSCK_LOOKS: usize = 4;

/// Queued work is done by then; what a killed worker held is not given to another one earlier than this.
const WORK: Duration = Duration::from_secs(150);

/// What one round was told, and the repositories it worked on.
pub(super) fn after_crash(
    installation: &Installation,
    ledger: &SharedLedger,
    started: i64,
) -> Result<Vec<String>> {
    rest(installation)?;
    let mut found = locks(installation);
    let mut ledger = ledger.write();
    found.extend(runners::resume(&mut ledger)?);
    found.extend(runners::check(installation, &ledger)?);
    found.extend(refs_and_events(installation, &ledger, started)?);
    found.extend(merges::check(installation, &ledger)?);
    found.extend(pipelines::check(installation, &ledger)?);
    found.extend(alerts::check(installation, &ledger)?);
    found.extend(rows(&installation.client(), &ledger)?);
    for project in touched(&ledger) {
        found.extend(fsck(&repository(installation, project)));
    }
    Ok(found)
}

/// Everything all rounds were told, and every repository.
pub(super) fn at_the_end(
    installation: &Installation,
    everything: &SharedLedger,
    started: i64,
    running_project: i64,
) -> Result<Vec<String>> {
    let mut found = locks(installation);
    let ledger = everything.write();
    found.extend(runners::check(installation, &ledger)?);
    found.extend(refs_and_events(installation, &ledger, started)?);
    found.extend(merges::check(installation, &ledger)?);
    found.extend(pipelines::check(installation, &ledger)?);
    found.extend(alerts::check(installation, &ledger)?);
    found.extend(rows(&installation.client(), &ledger)?);
    for project in touched(&ledger).into_iter().chain(ledger.projects.iter().copied()) {
        found.extend(fsck(&repository(installation, project)));
    }
    wait_until_idle(installation)?;
    found.extend(pipelines::check_pushes(installation, running_project)?);
    found.extend(doctor(installation)?);
    Ok(found)
}

/// Waits for the work that the new server found undone and does now, such as removing the branches of what was merged.
fn rest(installation: &Installation) -> Result<()> {
    let mut connection = Connection::open(&installation.database_address())?;
    let deadline = Instant::now() + WORK;
    while facts::due(&mut connection)? > 0 {
        ensure!(Instant::now() < deadline, "work that is due is not done");
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Waits for queued work: some of it makes good what a crash left out, a minute later.
fn wait_until_idle(installation: &Installation) -> Result<()> {
    let mut connection = Connection::open(&installation.database_address())?;
    let deadline = Instant::now() + WORK;
    while facts::waiting(&mut connection)? > 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// What the product itself says of its state.
pub(super) fn doctor(installation: &Installation) -> Result<Vec<String>> {
    let done = installation.command().arg("doctor").output()?;
    let told = String::from_utf8_lossy(&done.stdout);
    let wrong = told.lines().filter(|line| line.starts_with("WRONG"));
    let mut found = wrong.map(|line| format!("doctor: {line}")).collect::<Vec<_>>();
    if !done.status.success() && found.is_empty() {
        found.push(format!("doctor: {}", String::from_utf8_lossy(&done.stderr)));
    }
    Ok(found)
}

fn touched(ledger: &Ledger) -> BTreeSet<i64> {
    ledger.commits.keys().chain(ledger.refs.keys()).map(|(project, _)| *project).collect()
}

/// `repositories/<aa>/<bb>/<sha256 of the project's id>.git`
pub(super) fn repository(installation: &Installation, project: i64) -> PathBuf {
    let name = hex::encode(Sha256::digest(project.to_string()));
    installation
        .data
        .join("repositories")
        .join(&name[..2])
        .join(&name[2..4])
        .join(format!("{name}.git"))
}

fn refs_and_events(
    installation: &Installation,
    ledger: &Ledger,
    started: i64,
) -> Result<Vec<String>> {
    let told = facts::read(&mut Connection::open(&installation.database_address())?, started)?;
    let mut found = told.gaps;
    if told.unfinished > 0 {
        found.push(format!("the journal still holds {} rows", told.unfinished));
    }
    for project in touched(ledger) {
        let repository = repository(installation, project);
        let refs = refs(&repository)?;
        found.extend(disagreements(project, &refs, &told.refs));
        found.extend(lost_refs(project, &refs, ledger));
        found.extend(lost_commits(project, &repository, ledger)?);
    }
    Ok(found)
}

/// Refs that moved without an event, and events without their ref.
fn disagreements(
    project: i64,
    refs: &BTreeMap<String, String>,
    told: &BTreeMap<Ref, String>,
) -> Vec<String> {
    let told = told.iter().filter(|((owner, _), _)| *owner == project);
    let told = told.map(|((_, name), sha)| (name, sha)).collect::<BTreeMap<_, _>>();
    let names = refs.keys().chain(told.keys().copied()).collect::<BTreeSet<_>>();
    let differing = names.into_iter().filter(|name| refs.get(*name) != told.get(name).copied());
    differing
        .map(|name| {
            format!(
                "project {project} {name}: git has {:?}, the events say {:?}",
                refs.get(name),
                told.get(name)
            )
        })
        .collect()
}

fn lost_refs(project: i64, refs: &BTreeMap<String, String>, ledger: &Ledger) -> Vec<String> {
    let promised = ledger.refs.iter().filter(|((owner, _), _)| *owner == project);
    let broken = promised.filter(|((_, name), sha)| refs.get(name) != sha.as_ref());
    broken
        .map(|((_, name), sha)| {
            format!("project {project} {name}: acknowledged {sha:?}, git has {:?}", refs.get(name))
        })
        .collect()
}

fn lost_commits(project: i64, repository: &Path, ledger: &Ledger) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for ((_, name), commits) in ledger.commits.iter().filter(|((owner, _), _)| *owner == project) {
        let Ok(listed) = git(repository, &["rev-list", name]) else {
            found.push(format!("project {project} {name}: acknowledged, and not there"));
            continue;
        };
        let reachable = listed.lines().collect::<BTreeSet<_>>();
        let lost = commits.iter().filter(|sha| !reachable.contains(sha.as_str()));
        found.extend(
            lost.map(|sha| {
                format!("project {project} {name}: the acknowledged commit {sha} is lost")
            }),
        );
    }
    Ok(found)
}

fn refs(repository: &Path) -> Result<BTreeMap<String, String>> {
    let listed = git(
        repository,
        &["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags"],
    )?;
    let pairs = listed.lines().filter_map(|line| line.split_once(' '));
    Ok(pairs.map(|(name, sha)| (name.to_owned(), sha.to_owned())).collect())
}

fn rows(client: &Client, ledger: &Ledger) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for project in &ledger.projects {
        let answer = client.get(&format!("/projects/{project}"))?;
        if !answer.is_success() {
            found.push(format!("the acknowledged project {project} is lost: {}", answer.told()));
        }
    }
    for project in &ledger.stars {
        let stars = client.get(&format!("/projects/{project}"))?.json()?["star_count"].clone();
        if stars != 1 {
            found.push(format!("project {project} was starred once and has {stars} stars"));
        }
    }
    for (project, rule) in &ledger.protected {
        let name = rule.replace('*', "%2A");
        let answer = client.get(&format!("/projects/{project}/protected_branches/{name}"))?;
        if !answer.is_success() {
            found.push(format!(
                "project {project}: the acknowledged rule {rule} is lost: {}",
                answer.told()
            ));
        }
    }
    Ok(found)
}

/// What is wrong stays wrong; what only a repack beside it moved meanwhile is found at the second look.
fn fsck(repository: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for _ in 0..FSCK_LOOKS {
        found = match git(
            repository,
            &["fsck", "--strict", "--full", "--no-dangling", "--no-progress"],
        ) {
            Ok(told) => {
                told.lines().map(|line| format!("fsck {}: {line}", repository.display())).collect()
            }
            Err(error) => vec![format!("{error:#}")],
        };
        if found.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    found
}

/// Lock files that stay.
fn locks(installation: &Installation) -> Vec<String> {
    let deadline = Instant::now() + ORPHANS;
    loop {
        let mut found = Vec::new();
        collect_locks(&installation.data.join("repositories"), &mut found);
        if found.is_empty() || Instant::now() > deadline {
            return found;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn collect_locks(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect_locks(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "lock") {
            found.push(format!("a lock is left: {}", path.display()));
        }
    }
}

pub(super) fn git(repository: &Path, arguments: &[&str]) -> Result<String> {
    let mut git = Command::new("git");
    git.arg("--git-dir").arg(repository).args(arguments);
    let done = plain(&mut git).output()?;
    let told = String::from_utf8_lossy(&done.stderr);
    ensure!(
        done.status.success(),
        "git {} in {}: {} {told}",
        arguments[0],
        repository.display(),
        done.status
    );
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
