//! Validation of project settings by role.

use std::ops::RangeInclusive;

use kernel::{Actor, Error, Result, Visibility};

use super::{ProjectChange, STORAGE, Settings, SettingsChange};
use crate::{
    faults::Faults,
    namespace::{Namespace, runners::SharedRunners},
};

/// Refuses a reach that the installation keeps to its administrators.
pub(super) fn ensure_unrestricted(
    actor: Actor,
    installation: &crate::settings::Settings,
    wanted: Visibility,
) -> Result<()> {
    if actor.admin || !installation.restricted_visibility_levels.contains(&wanted) {
        return Ok(());
    }
    let text = format!("{wanted} has been restricted by your GitLab administrator");
    Err(Error::invalid("visibility_level", text))
}

/// Refuses to switch shared runners on where the group keeps them off for all below it.
pub(super) fn ensure_runners(
    home: &Namespace,
    old: &Settings,
    change: &SettingsChange,
) -> Result<()> {
    let switched_on = change.shared_runners_enabled == Some(true) && !old.shared_runners_enabled;
    let above = home.settings().shared_runners_setting();
    match switched_on && above == SharedRunners::DisabledAndUnoverridable {
        false => Ok(()),
        true => Err(Error::invalid(
            "shared_runners_enabled",
            "cannot be enabled because parent group does not allow it",
        )),
    }
}

/// Refuses an administrator a storage that is not there; from anybody else the wish does not count.
pub(super) fn ensure_storage(actor: Actor, change: &ProjectChange) -> Result<()> {
    let wanted = change.repository_storage.as_deref().filter(|_| actor.admin);
    match wanted.is_none_or(|wanted| wanted.is_empty() || wanted == STORAGE) {
        true => Ok(()),
        false => Err(Error::invalid("repository_storage", "is not included in the list")),
    }
}

/// Refuses a new project where no storage takes any, unless an administrator names the one that it goes to.
pub(super) fn ensure_storage_for_new(
    actor: Actor,
    named: Option<&str>,
    installation: &crate::settings::Settings,
) -> Result<()> {
    let is_named = actor.admin && named.is_some_and(|storage| !storage.is_empty());
    match is_named || installation.has_storage_for_projects() {
        true => Ok(()),
        false => Err(Error::invalid(
            "repository_storage",
            "cannot be chosen, since every storage has the weight 0 in the application settings",
        )),
    }
}

/// Refuses settings that no job could run with.
pub(super) fn ensure_possible(change: &SettingsChange) -> Result<()> {
    /// Ten minutes to a month.
    const TIMEOUT: RangeInclusive<i64> = 600..=2_678_400;
    const DEPTH: RangeInclusive<i64> = 0..=1000;
    let mut faults = Faults::default();
    if change.build_timeout.is_some_and(|seconds| !TIMEOUT.contains(&seconds)) {
        faults.add("build_timeout", "needs to be between 10 minutes and 1 month");
    }
    faults.range("ci_default_git_depth", change.ci_default_git_depth.flatten(), DEPTH);
    faults.into_result()
}
