//! `forgeway backup`: everything in one file, while the server runs.
//!
//! The rows are copied first, as they are at one moment; then the repositories, which may have moved on by then. Rows
//! tell where each ref was at that moment, and `restore` puts it back there. No object that a row names is lost
//! meanwhile: git makes a new pack before it removes what went into it, so packs are looked for until none is new.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{ErrorKind, Read, Write},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};
use db::Location;
use flate2::{Compression, write::GzEncoder};
use kernel::ids::{NamespaceId, ProjectId};
use repo::{
    push::journal::JournalStore,
    wiki::journal::{WikiJournal, WikiRef},
};
use serde::{Deserialize, Serialize};
use time::Duration;

use super::output::print;
use crate::{config::Config, server};

pub(super) const SQLITE: &str = "forgeway.sqlite3";
pub(super) const POSTGRES: &str = "forgeway.pgdump";
/// The refs that may have moved, or may have come into being, after the rows were copied.
pub(super) const MOVED: &str = "moved-meanwhile.json";
/// The same of wikis.
pub(super) const WIKIS_MOVED: &str = "wikis-moved-meanwhile.json";
/// Longer than any transaction runs.
const MARGIN: Duration = Duration::minutes(10);

/// What lies in the data folder and is not copied as it is.
const SKIPPED: [&str; 10] = [
    "forgeway.sqlite3",
    "forgeway.sqlite3-commits",
    "forgeway.sqlite3-lost",
    "forgeway.sqlite3-wal",
    "forgeway.sqlite3-shm",
    "forgeway.lock",
    "trash",
    "hooks",
    "runner",
    "tmp",
];

/// What git derives from objects, and might be newer than those in the archive; it is made again when it is needed.
const DERIVED: [&str; 3] = ["commit-graph", "commit-graphs", "multi-pack-index"];
/// What is still being written, in repositories and elsewhere.
const UNFINISHED: [&str; 3] = ["tmp_", "incoming-", ".tmp"];

pub(super) async fn run(config: &Config, file: &Path) -> anyhow::Result<()> {
    ensure!(!file.exists(), "{} exists already; give another name", file.display());
    let app = server::open_shared(config).await?;
    let before = app.db.clock().now().plus(-MARGIN);
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
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let draft = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
        .with_context(|| format!("{} cannot be written", file.display()))?;
    let skip = work.path().to_owned();
    let target = file.to_owned();
    let moved = move || -> anyhow::Result<[(&str, Vec<u8>); 2]> {
        let refs = app.db.read_blocking(|tx| tx.refs_pushed_since(before))?;
        let wikis = app.db.read_blocking(|tx| tx.wiki_refs_moved_since(before))?;
        let wikis: Vec<_> = wikis.into_iter().map(WikiName::from).collect();
        Ok([(MOVED, serde_json::to_vec(&refs)?), (WIKIS_MOVED, serde_json::to_vec(&wikis)?)])
    };
    let archived = move || archive(draft, &data, &rows, &skip, moved, &target);
    let bytes = kernel::task::spawn_blocking(archived).await??;
    print(&format!("wrote {} ({} MB)\n", file.display(), bytes / 1_000_000));
    Ok(())
}

/// A ref of a wiki, by whose wiki it is.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WikiName {
    pub(super) project: Option<ProjectId>,
    pub(super) group: Option<NamespaceId>,
    pub(super) name: String,
}

impl From<WikiRef> for WikiName {
    fn from(row: WikiRef) -> Self {
        Self { project: row.project_id, group: row.namespace_id, name: row.ref_name }
    }
}

fn archive(
    draft: tempfile::NamedTempFile,
    data: &Path,
    rows: &Path,
    skip: &Path,
    moved: impl FnOnce() -> anyhow::Result<[(&'static str, Vec<u8>); 2]>,
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
    for (name, moved) in moved()? {
        let mut header = tar::Header::new_gnu();
        header.set_size(u64::try_from(moved.len())?);
        header.set_mode(0o600);
        tar.append_data(&mut header, name, moved.as_slice())?;
    }
    tar.into_inner()?.finish()?.sync_all()?;
    let kept = draft
        .persist_noclobber(target)
        .with_context(|| format!("{} cannot be written", target.display()))?;
    Ok(kept.metadata()?.len())
}

/// Adds a file or folder. What disappears meanwhile (a lock, a loose object that was packed) is not part of the backup.
fn append<W: Write>(tar: &mut tar::Builder<W>, path: &Path, name: &Path) -> anyhow::Result<()> {
    let Some(found) = there(fs::symlink_metadata(path))? else { return Ok(()) };
    if found.is_file() {
        return match there(File::open(path))? {
            Some(file) => append_file(tar, &file, name),
            None => Ok(()),
        };
    }
    let Some(entries) = there(fs::read_dir(path))?.filter(|_| found.is_dir()) else {
        return Ok(());
    };
    tar.append_dir(name, path)?;
    if path.ends_with("objects/pack") {
        return append_packs(tar, path, name);
    }
    let mut entries: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    entries.sort_by_key(|entry| (turn(entry), entry.clone()));
    for entry in entries.iter().filter(|entry| is_kept(entry)) {
        append(tar, entry, &name.join(entry.file_name().context("a file has a name")?))?;
    }
    Ok(())
}

/// When something in a repository is copied. What moves from one place to another meanwhile is then in one or the other:
/// refs go to the file of packed ones, loose objects go to packs, and objects come before the refs that lead to them.
fn turn(path: &Path) -> u8 {
    match path.file_name().and_then(|name| name.to_str()) {
        Some("refs") => 0,
        Some("packed-refs") => 2,
        Some("objects") => 3,
        Some("pack") => 4,
        _ => 1,
    }
}

fn is_kept(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !name.ends_with(".lock")
        && !DERIVED.contains(&&*name)
        && !UNFINISHED.iter().any(|start| name.starts_with(start))
}

/// Adds packs until a look into the folder finds no new one.
fn append_packs<W: Write>(
    tar: &mut tar::Builder<W>,
    folder: &Path,
    name: &Path,
) -> anyhow::Result<()> {
    let mut done: BTreeSet<PathBuf> = BTreeSet::new();
    loop {
        let mut packs: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if is_kept(&path) {
                packs.entry(path.with_extension("")).or_default().push(path);
            }
        }
        packs.retain(|stem, files| {
            let whole = ["idx", "pack"].iter().all(|end| files.contains(&stem.with_extension(end)));
            whole && !done.contains(stem)
        });
        if packs.is_empty() {
            return Ok(());
        }
        for (stem, files) in packs {
            append_pack(tar, &files, name)?;
            done.insert(stem);
        }
    }
}

/// Adds the files of one pack, or none of them when one has gone: git has put their objects into another pack by then.
fn append_pack<W: Write>(
    tar: &mut tar::Builder<W>,
    files: &[PathBuf],
    folder: &Path,
) -> anyhow::Result<()> {
    let mut open = Vec::new();
    for path in files {
        let Some(file) = there(File::open(path))? else { return Ok(()) };
        open.push((file, folder.join(path.file_name().context("a file has a name")?)));
    }
    open.iter().try_for_each(|(file, name)| append_file(tar, file, name))
}

/// Adds a file as long as it is now: one that grows meanwhile would spoil the archive.
fn append_file<W: Write>(
    tar: &mut tar::Builder<W>,
    file: &File,
    name: &Path,
) -> anyhow::Result<()> {
    let found = file.metadata()?;
    let mut header = tar::Header::new_gnu();
    header.set_metadata(&found);
    Ok(tar.append_data(&mut header, name, file.take(found.len()))?)
}

/// Nothing where the file is not there (any more).
fn there<T>(found: std::io::Result<T>) -> anyhow::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
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
    let (address, password) = without_password(url);
    let status = Command::new(tool)
        .arg(format!("--dbname={address}"))
        .args(arguments)
        .arg(file)
        .envs(password.map(|password| ("PGPASSWORD", password)))
        .status()
        .with_context(|| {
            format!("{tool} cannot be started; it comes with PostgreSQL's client programs")
        })?;
    ensure!(status.success(), "{tool} failed");
    Ok(())
}

/// A database URL without its password, and the password.
fn without_password(url: &str) -> (String, Option<String>) {
    let parts = || {
        let (scheme, rest) = url.split_once("://")?;
        let (account, host) = rest.rsplit_once('@')?;
        let (user, password) = account.split_once(':')?;
        let password = percent_encoding::percent_decode_str(password).decode_utf8_lossy();
        Some((format!("{scheme}://{user}@{host}"), Some(password.into_owned())))
    };
    parts().unwrap_or_else(|| (url.to_owned(), None))
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn a_password_does_not_reach_the_command_line() {
        let check = |url: &str, address: &str, password: Option<&str>| {
            assert_eq!(without_password(url), (address.to_owned(), password.map(str::to_owned)));
        };
        check("postgres://ada:a%40b@db/forge", "postgres://ada@db/forge", Some("a@b"));
        check("postgresql://ada@db:5433/forge", "postgresql://ada@db:5433/forge", None);
        check("postgres://db:5432/forge", "postgres://db:5432/forge", None);
    }
}
