//! `forgeway backup`: everything in one file, while the server runs.
//!
//! The rows are copied first, as they are at one moment; then the repositories, which may have moved on by then. Rows
//! tell where each ref was at that moment, and `restore` puts it back there: objects are never lost meanwhile.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    process::Command,
};

use anyhow::{Context, ensure};
use db::Location;
use flate2::{Compression, write::GzEncoder};

use super::print;
use crate::{config::Config, server};

pub(super) const SQLITE: &str = "forgeway.sqlite3";
pub(super) const POSTGRES: &str = "forgeway.pgdump";

/// What lies in the data folder and is not copied as it is.
const SKIPPED: [&str; 7] = [
    "forgeway.sqlite3",
    "forgeway.sqlite3-wal",
    "forgeway.sqlite3-shm",
    "forgeway.lock",
    "trash",
    "hooks",
    "tmp",
];

pub(super) async fn run(config: &Config, file: &Path) -> anyhow::Result<()> {
    ensure!(!file.exists(), "{} exists already; give another name", file.display());
    let app = server::open_shared(config).await?;
    let data = config.data_folder()?;
    let work = tempfile::tempdir_in(&data).context("the data folder cannot be written")?;
    print("copying the rows\n");
    let rows = match config.location(&data) {
        Location::File(_) => {
            let copy = work.path().join(SQLITE);
            app.db.copy_to(&copy)?;
            copy
        }
        Location::Postgres(url) => {
            let copy = work.path().join(POSTGRES);
            run_postgres("pg_dump", &url, &["--format=custom", "--file"], &copy)?;
            copy
        }
    };
    let draft = tempfile::NamedTempFile::new_in(
        file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")),
    )
    .with_context(|| format!("{} cannot be written", file.display()))?;
    let skip = work.path().to_owned();
    let target = file.to_owned();
    let bytes =
        tokio::task::spawn_blocking(move || archive(draft, &data, &rows, &skip, &target)).await??;
    print(&format!("wrote {} ({} MB)\n", file.display(), bytes / 1_000_000));
    Ok(())
}

fn archive(
    draft: tempfile::NamedTempFile,
    data: &Path,
    rows: &Path,
    skip: &Path,
    target: &Path,
) -> anyhow::Result<u64> {
    let mut tar = tar::Builder::new(GzEncoder::new(draft.as_file(), Compression::fast()));
    tar.follow_symlinks(false);
    tar.append_path_with_name(rows, rows.file_name().context("the copy has a name")?)?;
    for entry in fs::read_dir(data)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.path() == skip || SKIPPED.iter().any(|skipped| name.as_os_str() == *skipped) {
            continue;
        }
        print(&format!("copying {}\n", name.to_string_lossy()));
        append(&mut tar, &entry.path(), Path::new(&name))?;
    }
    tar.into_inner()?.finish()?.sync_all()?;
    let kept = draft
        .persist_noclobber(target)
        .with_context(|| format!("{} cannot be written", target.display()))?;
    Ok(kept.metadata()?.len())
}

/// Adds a file or folder. What disappears meanwhile (a lock, a file that was packed) is not part of the backup.
fn append<W: Write>(tar: &mut tar::Builder<W>, path: &Path, name: &Path) -> anyhow::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(cause) => return Err(cause.into()),
    };
    if found.is_dir() {
        tar.append_dir(name, path)?;
        // Packs come last: what they took over from loose files is then in one or the other.
        let mut entries: Vec<_> = fs::read_dir(path)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(|entry| (entry.file_name() == "pack", entry.file_name()));
        for entry in entries {
            append(tar, &entry.path(), &name.join(entry.file_name()))?;
        }
        return Ok(());
    }
    let passing = path.extension().is_some_and(|end| end == "lock");
    if passing || !found.is_file() {
        return Ok(());
    }
    match File::open(path) {
        Ok(mut file) => Ok(tar.append_file(name, &mut file)?),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(cause) => Err(cause.into()),
    }
}

/// Runs one of PostgreSQL's own tools. The password goes through the environment, where other people cannot see it.
pub(super) fn run_postgres(
    tool: &str,
    url: &str,
    arguments: &[&str],
    file: &Path,
) -> anyhow::Result<()> {
    let (before, host) =
        url.rsplit_once('@').unwrap_or(("postgres://", url.trim_start_matches("postgres://")));
    let (user, password) = match before.rsplit_once(':') {
        Some((user, password)) if user.contains("://") => (user, password),
        _ => (before, ""),
    };
    let at = if user.ends_with("://") { "" } else { "@" };
    let status = Command::new(tool)
        .arg(format!("--dbname={user}{at}{host}"))
        .args(arguments)
        .arg(file)
        .env("PGPASSWORD", password)
        .status()
        .with_context(|| {
            format!("{tool} cannot be started; it comes with PostgreSQL's client programs")
        })?;
    ensure!(status.success(), "{tool} failed");
    Ok(())
}
