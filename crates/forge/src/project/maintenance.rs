//! The care for a repository after pushes.

use kernel::Result;
use repo::jobs::{Housekeeping, MaintainRepository};
use time::Duration;

use super::statistics;
use crate::Forge;

/// Pushes come in bursts: care for a repository waits until one is over.
pub const AFTER_PUSH: Duration = Duration::seconds(30);

pub async fn maintain(forge: Forge, job: MaintainRepository) -> Result<()> {
    let project = job.project;
    job.run(&forge.git, &forge.storage).await?;
    statistics::measure(&forge, project).await
}

pub async fn keep_house(forge: Forge, job: Housekeeping) -> Result<()> {
    maintain(forge, MaintainRepository { project: job.project }).await
}
