//! Changing the settings.

use db::Tx;
use kernel::{Grant, Result, access::Administrate};

use super::{Settings, store::SettingsStore};

/// Keeps what `change` made of the settings, if that can be.
pub fn update(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    change: impl FnOnce(&mut Settings),
) -> Result<Settings> {
    let mut settings = tx.settings()?;
    change(&mut settings);
    settings.faults().into_result()?;
    tx.keep_settings(&settings)?;
    Ok(settings)
}
