//! `forgeway restore`: a data folder from a backup.

use std::{fs::File, path::Path};

use anyhow::{Context, bail, ensure};
use db::Location;
use flate2::read::GzDecoder;
use kernel::ids::ProjectId;
use repo::{
    git::{
        Oid, RefName,
        refs::{self, Expect, RefMove},
    },
    push::journal::JournalStore,
};

use super::{
    backup::{POSTGRES, SQLITE, run_postgres},
    print,
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
    std::fs::create_dir_all(&data)?;
    print("unpacking\n");
    open()?.unpack(&data).context("the archive cannot be unpacked")?;
    match config.location(&data) {
        Location::File(path) => {
            ensure!(path.is_file(), "the backup is of a PostgreSQL database; set database_url")
        }
        Location::Postgres(url) => {
            let dump = data.join(POSTGRES);
            ensure!(dump.is_file(), "the backup is of a SQLite database; leave database_url out");
            run_postgres("pg_restore", &url, &["--no-owner", "--exit-on-error"], &dump)?;
            std::fs::remove_file(dump)?;
        }
    }
    let opened = server::open_and_recover(config).await?;
    let moved = align(&opened.app).await?;
    print(&format!(
        "restored into {}; {moved} refs were put back to the moment of the backup\n",
        data.display()
    ));
    Ok(())
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

/// Puts every ref where the rows say it was: the repositories were copied a little later than they.
async fn align(app: &App) -> anyhow::Result<usize> {
    let projects: Vec<ProjectId> = app.db.read(|tx| tx.projects_with_pushes()).await?;
    let mut moved = 0;
    for project in projects {
        if !app.storage.exists(project) {
            continue;
        }
        let events = app.db.read(move |tx| tx.push_events(project)).await?;
        let mut wanted: std::collections::BTreeMap<String, Option<Oid>> =
            std::collections::BTreeMap::new();
        for event in events {
            wanted.insert(event.ref_name, event.after_sha.as_deref().map(str::parse).transpose()?);
        }
        let repository = app.storage.repository(project);
        for (name, new) in wanted {
            let name = RefName::full(&name)?;
            let now = refs::read(&app.git, &repository, [&name]).await?.get(&name).copied();
            if now != new {
                refs::move_now(
                    &app.git,
                    &repository,
                    &[RefMove { name, old: Expect::from(now), new }],
                )
                .await?;
                moved += 1;
            }
        }
    }
    Ok(moved)
}
