//! Changing the settings.

use db::Tx;
use kernel::{Grant, Result, access::Administrate};

use super::{PlanLimits, Settings, store::SettingsStore};

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

/// Keeps what `change` made of the limits of the plan, if that can be.
pub fn update_plan_limits(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    change: impl FnOnce(&mut PlanLimits),
) -> Result<PlanLimits> {
    let mut settings = tx.settings()?;
    change(&mut settings.plan_limits);
    settings.plan_limits.faults().into_result()?;
    tx.keep_settings(&settings)?;
    Ok(settings.plan_limits)
}
