//! Every fact, and who hears it.

use std::any::Any;

use db::Tx;
use kernel::{Result, event::Event};

/// Heard before the commit, in the same transaction.
pub fn inside(tx: &mut Tx<'_>, fact: &dyn Event) -> Result<()> {
    let fact: &dyn Any = fact;
    match fact.downcast_ref() {
        Some(repo::Event::RefsMoved { project, becomes_default, .. }) => {
            org::project::push::note(tx, *project, becomes_default.as_deref())
        }
        None => Ok(()),
    }
}
