//! Files that people added before their sizes were counted. They are counted once, after an upgrade.

use std::{collections::BTreeMap, fs, io, path::Path, time::Duration};

use kernel::{Error, Result, ids::ProjectId};
use org::project::statistics::StatisticsStore as _;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use worker::{Job, Queue as _};

use crate::Forge;

/// A file lies there a moment before it is noted. One that is younger than this may not be noted yet: where it was
/// counted now, it would be counted twice.
const NOTED_AFTER: Duration = Duration::from_secs(60);
/// So long it is waited where somebody added a file meanwhile.
const PAUSE: time::Duration = time::Duration::minutes(2);

/// Counts what lies there, for every project.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CountUploads {}

impl Job for CountUploads {
    const KIND: &'static str = "project.count_uploads";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

impl CountUploads {
    pub async fn run(self, forge: &Forge) -> Result<()> {
        if count(forge).await? {
            return Ok(());
        }
        let again = forge.db.write(move |tx| {
            let later = tx.now.plus(PAUSE);
            tx.enqueue_at(&self, later)
        });
        again.await
    }
}

/// What lies there for a project.
#[derive(Default)]
struct Found {
    bytes: i64,
    /// Whether some of it may not be noted yet.
    is_young: bool,
}

/// Whether every size is what was found, with nothing added in between.
async fn count(forge: &Forge) -> Result<bool> {
    let noted = forge.db.read(|tx| tx.upload_sizes()).await?;
    let all = forge.data().join("uploads");
    let found = spawn_blocking(move || sizes(&all));
    let found = found.await.map_err(Error::internal)?.map_err(Error::internal)?;
    let mut is_whole = true;
    for (project, Found { bytes, is_young }) in found {
        let before = noted.get(&project).copied().unwrap_or_default();
        if before == bytes {
            continue;
        }
        is_whole &= !is_young
            && forge.db.write(move |tx| tx.correct_upload_size(project, before, bytes)).await?;
    }
    Ok(is_whole)
}

/// How many bytes lie there for each project: `<secret>/<project>/<name>`.
fn sizes(all: &Path) -> io::Result<BTreeMap<ProjectId, Found>> {
    let mut found = BTreeMap::new();
    for secret in entries(all)? {
        for owner in entries(&secret.path())? {
            let Some(id) = owner.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            for file in entries(&owner.path())? {
                let about = file.metadata()?;
                if about.is_file() {
                    let bytes = i64::try_from(about.len()).unwrap_or(i64::MAX);
                    let of: &mut Found = found.entry(ProjectId(id)).or_default();
                    of.bytes = of.bytes.saturating_add(bytes);
                    let age = about.modified()?.elapsed();
                    of.is_young |= age.is_ok_and(|age| age < NOTED_AFTER);
                }
            }
        }
    }
    Ok(found)
}

/// What is in a folder; nothing in what is no folder, or not there any more.
fn entries(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}
