//! Files that people added before their sizes were counted. They are counted once, after an upgrade.

use std::{collections::BTreeMap, fs, io, path::Path};

use kernel::{Error, Result, ids::ProjectId};
use org::project::statistics::StatisticsStore as _;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use worker::Job;

use crate::app::App;

/// So often is counted again where somebody added a file meanwhile.
const TRIES: usize = 5;

/// Counts what lies there, for every project.
#[derive(Debug, Serialize, Deserialize)]
pub struct CountUploads {}

impl Job for CountUploads {
    const KIND: &'static str = "project.count_uploads";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

impl CountUploads {
    pub async fn run(self, app: &App) -> Result<()> {
        for _ in 0..TRIES {
            if count(app).await? {
                return Ok(());
            }
        }
        Err(Error::Unavailable("files are added without end".to_owned()))
    }
}

/// Whether every size is what was found, with nothing added in between.
async fn count(app: &App) -> Result<bool> {
    let noted = app.db.read(|tx| tx.upload_sizes()).await?;
    let all = app.data().join("uploads");
    let found = spawn_blocking(move || sizes(&all));
    let found = found.await.map_err(Error::internal)?.map_err(Error::internal)?;
    let mut is_whole = true;
    for (project, bytes) in found {
        let before = noted.get(&project).copied().unwrap_or_default();
        if before != bytes {
            is_whole &=
                app.db.write(move |tx| tx.correct_upload_size(project, before, bytes)).await?;
        }
    }
    Ok(is_whole)
}

/// How many bytes lie there for each project: `<secret>/<project>/<name>`.
fn sizes(all: &Path) -> io::Result<BTreeMap<ProjectId, i64>> {
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
                    let sum: &mut i64 = found.entry(ProjectId(id)).or_default();
                    *sum = sum.saturating_add(bytes);
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
