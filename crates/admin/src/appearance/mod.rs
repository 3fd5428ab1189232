//! The appearance of the installation: names, texts and pictures.

mod model;
mod store;

use db::Tx;
use kernel::{Grant, Result, access::Administrate};

pub use model::{Appearance, Picture};
pub use store::AppearanceStore;

/// Keeps what `change` made of the appearance, if that can be.
pub fn update(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    change: impl FnOnce(&mut Appearance),
) -> Result<Appearance> {
    tx.lock_appearance()?;
    let mut appearance = tx.appearance()?;
    change(&mut appearance);
    appearance.check()?;
    tx.save_appearance(&appearance)?;
    Ok(appearance)
}
