//! Files that people added before their sizes were counted. They are counted once, after an upgrade.

use std::{collections::BTreeMap, time::Duration};

use futures_util::TryStreamExt as _;
use kernel::{Result, ids::ProjectId};
use objects::Objects;
use org::project::statistics::StatisticsStore as _;
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

use super::attachments::owner_of;
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

/// The disk usage of a project.
#[derive(Default)]
struct DiskUsage {
    bytes: i64,
    /// Whether some of it may not be noted yet.
    is_young: bool,
}

/// Whether every size is what was found, with nothing added in between.
async fn count(forge: &Forge) -> Result<bool> {
    let noted = forge.db.read(|tx| tx.upload_sizes()).await?;
    let found = sizes(&forge.uploads).await?;
    let mut is_whole = true;
    for (project, DiskUsage { bytes, is_young }) in found {
        let before = noted.get(&project).copied().unwrap_or_default();
        if before == bytes {
            continue;
        }
        is_whole &= !is_young
            && forge.db.write(move |tx| tx.correct_upload_size(project, before, bytes)).await?;
    }
    Ok(is_whole)
}

/// How many bytes lie there for each project.
async fn sizes(all: &Objects) -> Result<BTreeMap<ProjectId, DiskUsage>> {
    let mut found = BTreeMap::new();
    let mut listed = Box::pin(all.list(""));
    while let Some(one) = listed.try_next().await? {
        let Some(project) = owner_of(&one.name) else { continue };
        let of: &mut DiskUsage = found.entry(project).or_default();
        of.bytes = of.bytes.saturating_add(i64::try_from(one.size).unwrap_or(i64::MAX));
        of.is_young |= !one.is_older_than(NOTED_AFTER);
    }
    Ok(found)
}
