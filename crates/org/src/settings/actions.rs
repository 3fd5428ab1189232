//! Changing the settings.

use db::Tx;
use kernel::{Grant, Result, access::Administrate};
use serde_json::Value;

use super::{
    Change, PlanLimits, SettingValues, Settings, SettingsUpdate,
    store::SettingsStore,
    table::{self, Form, Setting},
};
use crate::access;

/// Keeps the given values of settings, if that can be, and announces what that changes. `seal` makes of the clear text of a
/// secret what is stored; it is given the settings as they are until then.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    given: &SettingValues,
    seal: impl Fn(&Settings, &Setting, &str) -> Result<String>,
) -> Result<Settings> {
    access::lock_access_projection(tx)?;
    let stored = tx.settings()?;
    let seal = |setting: &Setting, clear: &str| seal(&stored, setting, clear);
    let (settings, changes) = stored.changed(&completed(&stored, given)?, seal)?;
    if !changes.is_empty() {
        tx.store_settings(&settings)?;
        tx.emit(SettingsUpdate { changes, by: grant.actor().id })?;
    }
    Ok(settings)
}

/// The given values. Of several switches under one name, those that are not given stay as they are.
fn completed(stored: &Settings, given: &SettingValues) -> Result<SettingValues> {
    let mut values = given.0.clone();
    for (setting, value) in &mut values {
        let (Form::Switches(_), Value::Object(switches)) = (setting.form, value) else { continue };
        // What was stored may lack some of them.
        for known in [stored.value(setting.name)?, table::default(setting.name).clone()] {
            let Value::Object(known) = known else { continue };
            for (name, on) in known {
                switches.entry(name).or_insert(on);
            }
        }
    }
    Ok(SettingValues(values))
}

/// Keeps what `change` made of the limits of the plan, if that can be, and announces what that changes.
pub fn update_plan_limits(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    change: impl FnOnce(&mut PlanLimits),
) -> Result<PlanLimits> {
    access::lock_access_projection(tx)?;
    let mut settings = tx.settings()?;
    let before = settings.plan_limits.clone();
    change(&mut settings.plan_limits);
    settings.plan_limits.faults().into_result()?;
    let changes: Vec<Change> = before
        .changes(&settings.plan_limits)
        .into_iter()
        .map(|(name, from, to)| Change { name, from: from.into(), to: to.into() })
        .collect();
    if !changes.is_empty() {
        tx.store_settings(&settings)?;
        tx.emit(SettingsUpdate { changes, by: grant.actor().id })?;
    }
    Ok(settings.plan_limits)
}
