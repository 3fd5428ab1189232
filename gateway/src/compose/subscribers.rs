//! Every fact, and who hears it.

use std::any::Any;

use db::Tx;
use kernel::{Result, event::Event};
use repo::jobs::MaintainRepository;
use worker::Queue;

use super::jobs::AFTER_PUSH;

/// Heard before the commit, in the same transaction.
pub fn inside(tx: &mut Tx<'_>, fact: &dyn Event) -> Result<()> {
    let fact: &dyn Any = fact;
    match fact.downcast_ref() {
        Some(repo::Event::RefsMoved { project, becomes_default, .. }) => {
            org::project::push::note(tx, *project, becomes_default.as_deref())?;
            let later = tx.now.plus(AFTER_PUSH);
            tx.enqueue_at(&MaintainRepository { project: *project }, later)
        }
        None => Ok(()),
    }
}
