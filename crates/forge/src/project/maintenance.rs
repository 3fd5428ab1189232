//! The care for a repository after pushes.

use kernel::Result;
use repo::jobs::{Housekeeping, MaintainRepository};
use time::Duration;

use super::statistics;
use crate::Forge;

/// Pushes come in bursts: care for a repository waits until one is over.
pub const AFTER_PUSH: Duration = Duration::seconds(30);

/// After pushes; where the installation wants no housekeeping, only the size is measured.
pub async fn maintain(forge: Forge, job: MaintainRepository) -> Result<()> {
    match forge.settings().housekeeping_enabled() {
        true => tidy(forge, job).await,
        false => statistics::measure(&forge, job.project).await,
    }
}

async fn tidy(forge: Forge, job: MaintainRepository) -> Result<()> {
    let project = job.project;
    job.run(&forge.git, &forge.storage).await?;
    statistics::measure(&forge, project).await
}

/// On somebody's word, whatever the settings say.
pub async fn run_maintenance(forge: Forge, job: Housekeeping) -> Result<()> {
    tidy(forge, MaintainRepository { project: job.project }).await
}
