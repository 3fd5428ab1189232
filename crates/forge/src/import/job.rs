//! The background work of imports as it waits in the queue, and the status that it moves.

use admin::import::{ImportStatus, ImportStep};
use db::Tx;
use kernel::{Result, TextEnum as _, Ts, ids::ProjectId};
use org::project::import::move_status;
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

/// Does the next step of an import.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunImport {
    pub project: ProjectId,
}

impl Job for RunImport {
    const KIND: &'static str = "import.run";

    fn unique_key(&self) -> Option<String> {
        Some(self.project.to_string())
    }
}

/// Has the next step done at that moment, whatever was asked for before.
pub(crate) fn enqueue_step(tx: &mut Tx<'_>, project: ProjectId, at: Ts) -> Result<()> {
    withdraw_step(tx, project)?;
    tx.enqueue_at(&RunImport { project }, at)
}

/// Nothing is to be done any more.
pub(crate) fn withdraw_step(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    tx.withdraw_work(&format!("{}:{project}", RunImport::KIND)).map(drop)
}

/// Moves the status by the table of states; false where somebody was faster.
pub(crate) fn advance(
    tx: &mut Tx<'_>,
    project: ProjectId,
    from: ImportStatus,
    step: ImportStep,
) -> Result<bool> {
    match from.after(step) {
        Some(to) => move_status(tx, project, from.as_str(), to.as_str()),
        None => Ok(false),
    }
}
