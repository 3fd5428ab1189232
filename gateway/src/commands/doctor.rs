//! `forgeway doctor`: what is wrong, and what to do about it.

mod checksums;

use std::collections::BTreeMap;

use anyhow::bail;
use db::LostCommits;
use kernel::ids::ProjectId;
use org::{
    namespace::store::NamespaceStore,
    project::{Project, store::ProjectStore},
};
use repo::{
    git::{RefName, RepoPath, Wiki, refs},
    push::journal::{JournalStore, PushEvent},
    wiki::journal::{self, WikiJournal, WikiRef},
};
use worker::Queue;

use super::output::print;
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

pub(super) async fn run(config: &Config, fsck: bool, accept: &[String]) -> anyhow::Result<()> {
    let mut findings = Findings::default();
    let app = server::open_shared(config).await?;
    checksums::accept(&app, accept).await?;
    findings.good(&format!("git {}", app.git.version()));
    findings.good("the database opens and is up to date");
    check_commits(&app, &mut findings);
    check_journal(&app, &mut findings).await?;
    check_work(&app, &mut findings).await?;
    checksums::check(&app, &mut findings).await?;
    let all = app.db.read(|tx| tx.all_projects()).await?;
    for Project { id, full_path, default_branch, .. } in &all {
        check_repository(&app, *id, full_path, default_branch.as_deref(), &mut findings).await?;
        if fsck && app.storage.exists(*id) {
            check_objects(&app, app.storage.repository(*id), full_path, &mut findings).await;
        }
    }
    let wikis = check_wikis(&app, &all, fsck, &mut findings).await?;
    let checked = all.len() + wikis;
    print(&format!("checked {checked} repositories, {} problems\n", findings.wrong));
    if findings.wrong > 0 {
        bail!("{} problems were found", findings.wrong);
    }
    Ok(())
}

fn check_commits(app: &App, findings: &mut Findings) {
    match app.db.loss() {
        Some(LostCommits { noted, there }) => findings.wrong(
            &format!(
                "the database ended at commit {there} where commit {noted} was durable: its write-ahead log was cut or \
                 removed, or an older copy was put in its place"
            ),
            "see what is missing (refs that no push tells of stand below), or restore a backup; remove \
             forgeway.sqlite3-lost when you are done",
        ),
        None if app.db.is_sqlite() => findings.good("the database has every commit that was noted"),
        None => {}
    }
}

async fn check_journal(app: &App, findings: &mut Findings) -> anyhow::Result<()> {
    let unsettled = || repo::push::unsettled(&app.db, &app.storage);
    let mut open = unsettled().await?;
    if !open.is_empty() {
        // A push that is under way looks like one that was interrupted; the second time it is over.
        let again = unsettled().await?;
        open.retain(|row| again.iter().any(|other| other.id == row.id));
    }
    let of_wikis = || journal::unsettled(&app.db, &app.storage);
    let mut wikis = of_wikis().await?;
    if !wikis.is_empty() {
        let again = of_wikis().await?;
        wikis.retain(|row| again.iter().any(|other| other.id == row.id));
    }
    // Which these are, and what holds them up, is told with their repositories.
    if open.is_empty() && wikis.is_empty() {
        findings.good("the journal agrees with the refs");
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
    let repository = app.storage.repository(project);
    let mut astray = strays(app, project, &repository).await?;
    if !astray.is_empty() {
        // A push may have come between the two looks; what it moved is somewhere else the next time.
        let again = strays(app, project, &repository).await?;
        astray.retain(|stray| again.contains(stray));
    }
    astray.iter().for_each(|stray| stray.tell(path, findings));
    let Some(default) = default_branch.map(RefName::branch).transpose()? else { return Ok(()) };
    let now = refs::read(&repository, [&default]).await?;
    let events = app.db.read(move |tx| tx.push_events(project)).await?;
    if now.is_empty() && events.last().is_some_and(|event| event.after_sha.is_some()) {
        let what = format!("{path}: the default branch {} is not there", default.short());
        findings.wrong(&what, "set another default branch, or push this one");
    }
    Ok(())
}

/// The expected target of a ref.
struct RefRecord {
    now: Option<String>,
    /// Where it was before a move that is not known to have been carried out.
    before: Option<Option<String>>,
}

/// The reason for which a ref is not where its last push has put it.
#[derive(PartialEq, Eq)]
enum Cause {
    ByHand,
    /// The push was decided, and the ref did not follow yet.
    Waiting,
    /// The same, and somebody keeps it locked.
    Locked,
}

impl Cause {
    fn remedy(&self) -> &'static str {
        match self {
            Self::ByHand => "somebody changed the repository by hand; push the branch again",
            Self::Waiting => {
                "the push was decided and not carried out; the server finishes it within a minute, or at its start"
            }
            Self::Locked => {
                "the push was decided and the ref is locked; when the process that locked it has ended, the server finishes it within a minute, or at its start"
            }
        }
    }
}

/// A ref that is elsewhere than its last push has put it.
#[derive(PartialEq, Eq)]
struct StrayRef {
    name: String,
    told: Option<String>,
    is: Option<String>,
    cause: Cause,
}

impl StrayRef {
    fn tell(&self, path: &str, findings: &mut Findings) {
        let Self { name, told, is, cause } = self;
        let shown = |id: &Option<String>| id.clone().unwrap_or_else(|| "not there".to_owned());
        let what = format!("{path}: {name} is {}, its last push says {}", shown(is), shown(told));
        findings.wrong(&what, cause.remedy());
    }
}

async fn strays(
    app: &App,
    project: ProjectId,
    repository: &RepoPath,
) -> anyhow::Result<Vec<StrayRef>> {
    let rows = app.db.read(move |tx| Ok((tx.push_events(project)?, tx.journal_of(project)?)));
    let (events, open) = rows.await?;
    let mut last: BTreeMap<String, RefRecord> = BTreeMap::new();
    for PushEvent { ref_name, after_sha, .. } in events {
        last.insert(ref_name, RefRecord { now: after_sha, before: None });
    }
    for row in open {
        if let Some(told) = last.get_mut(&row.ref_name) {
            told.before = Some(row.old_sha).filter(|_| told.now == row.new_sha);
        }
    }
    compared(repository, last).await
}

/// The refs that are elsewhere than rows tell.
async fn compared(
    repository: &RepoPath,
    last: BTreeMap<String, RefRecord>,
) -> anyhow::Result<Vec<StrayRef>> {
    let names: Vec<RefName> = last.keys().map(RefName::full).collect::<Result<_, _>>()?;
    let now = refs::read(repository, &names).await?;
    let mut strays = Vec::new();
    for ((name, told), full) in last.into_iter().zip(&names) {
        let is = now.get(full).map(ToString::to_string);
        if told.now == is {
            continue;
        }
        let cause = match told.before {
            Some(before) if before == is => match refs::lock_of(repository, full).exists() {
                true => Cause::Locked,
                false => Cause::Waiting,
            },
            _ => Cause::ByHand,
        };
        strays.push(StrayRef { name, told: told.now, is, cause });
    }
    Ok(strays)
}

/// Wikis that somebody has written to; how many these are.
async fn check_wikis(
    app: &App,
    projects: &[Project],
    fsck: bool,
    findings: &mut Findings,
) -> anyhow::Result<usize> {
    let groups = app.db.read(|tx| tx.all_groups()).await?;
    let of_projects = projects.iter().map(|one| (Wiki::Project(one.id), &one.full_path));
    let of_groups = groups.iter().map(|one| (Wiki::Group(one.id), &one.full_path));
    let mut checked = 0;
    for (wiki, path) in of_projects.chain(of_groups) {
        let path = format!("the wiki of {path}");
        if !app.storage.wiki_exists(wiki) {
            if app
                .db
                .read(move |tx| tx.wiki_refs(wiki))
                .await?
                .iter()
                .any(|row| row.new_sha.is_some())
            {
                findings.wrong(&format!("{path} has no repository"), "restore it from a backup");
            }
            continue;
        }
        checked += 1;
        let mut astray = wiki_strays(app, wiki).await?;
        if !astray.is_empty() {
            let again = wiki_strays(app, wiki).await?;
            astray.retain(|stray| again.contains(stray));
        }
        astray.iter().for_each(|stray| stray.tell(&path, findings));
        if fsck {
            check_objects(app, app.storage.wiki(wiki), &path, findings).await;
        }
    }
    Ok(checked)
}

async fn wiki_strays(app: &App, wiki: Wiki) -> anyhow::Result<Vec<StrayRef>> {
    let rows = app.db.read(move |tx| tx.wiki_refs(wiki)).await?;
    let told = |row: WikiRef| {
        let before = (!row.settled).then_some(row.old_sha);
        (row.ref_name, RefRecord { now: row.new_sha, before })
    };
    let told = rows.into_iter().map(told).collect();
    compared(&app.storage.wiki(wiki), told).await
}

async fn check_objects(app: &App, repository: RepoPath, path: &str, findings: &mut Findings) {
    let check =
        app.git.at(&repository, "fsck").args(["--strict", "--no-dangling", "--no-progress"]);
    if let Err(cause) = check.time_limit(std::time::Duration::from_secs(3_600)).succeed().await {
        findings.wrong(
            &format!("{path}: git fsck says: {cause}"),
            "restore the repository from a backup",
        );
    }
}
