//! Contents of artifacts that no row names: the server was killed after a content was kept and before its row was. They are
//! swept up as those of large files are.

use std::{collections::HashSet, time::Duration};

use ci::artifact::ArtifactStore as _;
use futures_util::TryStreamExt as _;
use kernel::{Result, ids::JobId};
use serde::{Deserialize, Serialize};
use worker::Job;

use super::artifacts::contents;
use crate::Forge;

/// What was kept a moment ago may not have its row yet.
const AGE: Duration = Duration::from_secs(24 * 3600);
/// So many are asked after at once.
const AT_ONCE: usize = 500;

/// Removes the contents of artifacts that no job has.
#[derive(Debug, Serialize, Deserialize)]
pub struct SweepArtifacts {}

impl Job for SweepArtifacts {
    const KIND: &'static str = "artifact.sweep";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

/// The job whose artifact lies there: `project/pipeline/job/…`. What has another name is nothing of ours.
fn job_of(location: &str) -> Option<JobId> {
    let mut parts = location.split('/').skip(2);
    let (job, _own) = (parts.next()?, parts.next()?);
    job.parse().ok().map(JobId)
}

pub(crate) async fn sweep(forge: Forge, _: SweepArtifacts) -> Result<()> {
    forge.artifacts.remove_unfinished(AGE).await?;
    let mut old = Box::pin(forge.artifacts.kept_before(AGE).try_chunks(AT_ONCE));
    while let Some(some) = old.try_next().await.map_err(|failed| failed.1)? {
        let jobs: HashSet<JobId> = some.iter().filter_map(|location| job_of(location)).collect();
        let jobs: Vec<JobId> = jobs.into_iter().collect();
        let known = forge.db.read(move |tx| tx.artifacts_of(&jobs)).await?;
        let known: HashSet<String> =
            known.iter().flat_map(|one| contents(one.file_type, &one.location)).collect();
        for orphan in some.iter().filter(|one| job_of(one).is_some() && !known.contains(*one)) {
            tracing::info!(location = %orphan, "removes an artifact that no job has");
            forge.artifacts.remove(orphan).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::ids::JobId;

    use super::job_of;

    #[test]
    fn only_a_place_of_an_artifact_tells_its_job() {
        assert_eq!(job_of("1/2/3/archive-00ff"), Some(JobId(3)));
        for other in ["", "1/2/3", "1/2/x/archive-00ff", "lost+found"] {
            assert_eq!(job_of(other), None, "{other}");
        }
    }
}
