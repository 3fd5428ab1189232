//! Checksums of repositories and stored files: written down while they are stored, and held against what lies there now
//! and then. What differs, is missing, or cannot be read is a row with the reason, and is looked at again each hour.
//!
//! One turn a minute, for the whole installation, reads a bounded part of what is due; what has waited longest comes
//! first, so that a turn goes on where the last one ended. What was there before checksums were kept is due at once:
//! the first check of it writes the checksum down.

mod acceptance;
mod check_rate;
mod files;
mod ledger;
mod repositories;

use kernel::Result;
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::Job;

use crate::Forge;

pub use acceptance::{accept_refs, has_other_refs};
use check_rate::CheckRate;
pub(crate) use ledger::FileLedger;

/// The kinds of stored files, as their folders are called; large files have [`repo::lfs::KIND`].
pub(crate) const ARTIFACTS: &str = "artifacts";
pub(crate) const UPLOADS: &str = "uploads";
pub(crate) const AVATARS: &str = "avatars";

/// So long a check that found nothing wrong holds, where no node says otherwise.
pub(crate) const GOOD_FOR: Duration = Duration::days(7);
/// So long after a failure it is looked again.
const AGAIN_AFTER: Duration = Duration::hours(1);
/// So long a repository is left alone whose refs are being moved.
const BUSY_FOR: Duration = Duration::minutes(1);
/// By then a new project has its repository.
pub(crate) const FIRST_CHECK: Duration = Duration::hours(1);

/// Checks what is due.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CheckChecksums {}

impl Job for CheckChecksums {
    const KIND: &'static str = "checksums.check";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

pub(crate) async fn check(forge: Forge, _: CheckChecksums) -> Result<()> {
    let pace = CheckRate::of(&forge).await?;
    pace.hasten(&forge).await?;
    files::find(&forge, pace).await?;
    if pace.at_once > 0 {
        repositories::check_due(&forge, pace).await?;
        files::check_due(&forge, pace).await?;
    }
    Ok(())
}
