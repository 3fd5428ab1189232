//! `forgeway restore`: a data folder from a backup.

use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::ErrorKind,
    path::Path,
};

use anyhow::{Context, bail, ensure};
use db::Location;
use flate2::read::GzDecoder;
use forge::wiki::MaintainWiki;
use kernel::ids::ProjectId;
use repo::{
    git::{
        Oid, RefName, RepoPath, Wiki,
        refs::{self, ExpectedValue, RefMove},
    },
    jobs::MaintainRepository,
    push::journal::JournalStore,
    wiki::journal::WikiJournal,
};
use worker::Queue;

use super::{
    backup::{MOVED, POSTGRES, SQLITE, WIKIS_MOVED, WikiName, run_postgres},
    output::print,
};
use crate::{app::App, config::Config, server};

pub(super) async fn run(config: &Config, file: &Path, dry_run: bool) -> anyhow::Result<()> {
    let open = || -> anyhow::Result<tar::Archive<GzDecoder<File>>> {
        let file =
            File::open(file).with_context(|| format!("{} cannot be read", file.display()))?;
        Ok(tar::Archive::new(GzDecoder::new(file)))
    };
    let data = config.data_folder()?;
    if dry_run {
        return show(open()?);
    }
    let used = data.is_dir() && std::fs::read_dir(&data)?.next().is_some();
    ensure!(!used, "{} is not empty; give an empty folder with --data", data.display());
    let _lock = server::take_folder(config)?;
    let moved = fill(config, &data, open()?).await.with_context(|| {
        format!("{} is incomplete now; remove it before you try again", data.display())
    })?;
    print(&format!(
        "restored into {}; {moved} refs were put back to the moment of the backup\n",
        data.display()
    ));
    Ok(())
}

async fn fill(
    config: &Config,
    data: &Path,
    mut archive: tar::Archive<GzDecoder<File>>,
) -> anyhow::Result<usize> {
    print("unpacking\n");
    archive.unpack(data).context("the archive cannot be unpacked")?;
    match config.location(data) {
        Location::File(path) => {
            ensure!(path.is_file(), "the backup is of a PostgreSQL database; set database_url")
        }
        Location::Postgres(url) => {
            let dump = data.join(POSTGRES);
            ensure!(dump.is_file(), "the backup is of a SQLite database; leave database_url out");
            run_postgres("pg_restore", &url, &["--no-owner", "--single-transaction"], &dump)?;
            std::fs::remove_file(dump)?;
        }
    }
    let list = data.join(MOVED);
    let meanwhile: Vec<(ProjectId, String)> =
        serde_json::from_slice(&std::fs::read(&list).context("the backup was cut short")?)?;
    let of_wikis = data.join(WIKIS_MOVED);
    let wikis: Vec<WikiName> = match std::fs::read(&of_wikis) {
        Ok(text) => serde_json::from_slice(&text)?,
        // A backup that an older release made.
        Err(absent) if absent.kind() == ErrorKind::NotFound => Vec::new(),
        Err(cause) => return Err(cause).context("the backup cannot be read"),
    };
    let app = server::open_shared(config).await?;
    let moved = align(&app, meanwhile).await? + align_wikis(&app, wikis).await?;
    repo::push::recover(&app.db, &app.storage, None).await.context("the journal")?;
    // Refs that keep commits were copied a little later than the rows.
    app.db.write(db::checksum::refs::recount_all).await?;
    std::fs::remove_file(list)?;
    if of_wikis.exists() {
        std::fs::remove_file(of_wikis)?;
    }
    Ok(moved)
}

fn show(mut archive: tar::Archive<GzDecoder<File>>) -> anyhow::Result<()> {
    let (mut repositories, mut bytes, mut rows) = (0_u64, 0_u64, None);
    for entry in archive.entries()? {
        let entry = entry.context("the archive is damaged")?;
        let path = entry.path()?.into_owned();
        bytes += entry.size();
        repositories += u64::from(path.extension().is_some_and(|end| end == "git"));
        for name in [SQLITE, POSTGRES] {
            if path == Path::new(name) {
                rows = Some(name);
            }
        }
    }
    let Some(rows) = rows else {
        bail!("this is no backup: it holds neither {SQLITE} nor {POSTGRES}")
    };
    print(&format!("{rows}, {repositories} repositories, {} MB unpacked\n", bytes / 1_000_000));
    Ok(())
}

/// The expected targets of refs; `None` for one that must not exist.
type ExpectedRefs = BTreeMap<String, Option<Oid>>;

/// Puts every ref where the rows say it was: the repositories were copied a little later than they. What came into
/// being in between goes again.
async fn align(app: &App, meanwhile: Vec<(ProjectId, String)>) -> anyhow::Result<usize> {
    let mut wanted: BTreeMap<ProjectId, ExpectedRefs> = BTreeMap::new();
    for (project, name) in meanwhile {
        wanted.entry(project).or_default().insert(name, None);
    }
    for project in app.db.read(|tx| tx.projects_with_pushes()).await? {
        let refs = wanted.entry(project).or_default();
        for event in app.db.read(move |tx| tx.push_events(project)).await? {
            refs.insert(event.ref_name, event.after_sha.as_deref().map(str::parse).transpose()?);
        }
    }
    let mut moved = 0;
    for (project, refs) in wanted {
        if app.storage.exists(project) {
            moved += align_one(app.storage.repository(project), refs).await?;
            // What git derives from objects was not in the backup.
            app.db.write(move |tx| tx.enqueue(&MaintainRepository { project })).await?;
        }
    }
    Ok(moved)
}

/// The same for wikis. One that was written before its refs were kept in rows stays as it was copied.
async fn align_wikis(app: &App, meanwhile: Vec<WikiName>) -> anyhow::Result<usize> {
    let mut wanted: HashMap<Wiki, ExpectedRefs> = HashMap::new();
    for WikiName { project, group, name } in meanwhile {
        let Some(wiki) = project.map(Wiki::Project).or(group.map(Wiki::Group)) else { continue };
        wanted.entry(wiki).or_default().insert(name, None);
    }
    for row in app.db.read(|tx| tx.all_wiki_refs()).await? {
        let Some(wiki) = row.wiki() else { continue };
        let new = row.step()?.new;
        wanted.entry(wiki).or_default().insert(row.ref_name, new);
    }
    let mut moved = 0;
    for (wiki, refs) in wanted {
        if app.storage.wiki_exists(wiki) {
            moved += align_one(app.storage.wiki(wiki), refs).await?;
            app.db.write(move |tx| tx.enqueue(&MaintainWiki::from(wiki))).await?;
        }
    }
    Ok(moved)
}

async fn align_one(repository: RepoPath, wanted: ExpectedRefs) -> anyhow::Result<usize> {
    let names: Vec<RefName> = wanted.keys().map(RefName::full).collect::<Result<_, _>>()?;
    let now = refs::read(&repository, &names).await?;
    let mut moves: Vec<RefMove> = Vec::new();
    for (name, new) in names.into_iter().zip(wanted.into_values()) {
        let old = now.get(&name).copied();
        if old != new {
            moves.push(RefMove { name, old: ExpectedValue::from(old), new });
        }
    }
    // Deletions first: `a` may have to make room for `a/b`.
    let (made, gone): (Vec<_>, Vec<_>) = moves.into_iter().partition(|step| step.new.is_some());
    for together in [&gone, &made] {
        refs::move_now(&repository, together).await?;
    }
    Ok(made.len() + gone.len())
}
