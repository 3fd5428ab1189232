//! What a group decides for everything below it: whether shared runners take the jobs there, whether projects there
//! are shared with other groups, whether a second factor is demanded, and from where it is reached.

use db::{
    Tx, each_backend, error,
    schema::{namespaces, projects},
};
use diesel::prelude::*;
use kernel::{
    Error, Result,
    ids::{NamespaceId, ProjectId},
};

use super::{GroupSettings, Namespace, full_path::below, networks};
use crate::{access, faults::Faults, member::store::MemberStore, project::settings::SettingsStore};

kernel::text_enum! {
    /// Whether shared runners take a group's jobs, and whether what is below it may say otherwise.
    pub enum SharedRunners {
        Enabled = "enabled",
        DisabledAndOverridable = "disabled_and_overridable",
        DisabledAndUnoverridable = "disabled_and_unoverridable",
        /// An older name of `disabled_and_overridable`.
        DisabledWithOverride = "disabled_with_override",
    }
}

impl GroupSettings {
    pub fn shared_runners_setting(&self) -> SharedRunners {
        match (self.shared_runners_enabled, self.allow_descendants_override_disabled_shared_runners)
        {
            (true, _) => SharedRunners::Enabled,
            (false, true) => SharedRunners::DisabledAndOverridable,
            (false, false) => SharedRunners::DisabledAndUnoverridable,
        }
    }

    /// Forgets what only top-level groups say: from where they are reached, whether they keep to themselves, whether groups
    /// below may demand a second factor, and how much may be downloaded.
    fn leave_the_top(&mut self) {
        let plain = Self::default();
        self.ip_restriction_ranges = None;
        self.prevent_sharing_groups_outside_hierarchy = false;
        self.allow_mfa_for_subgroups = plain.allow_mfa_for_subgroups;
        self.unique_project_download_limit = plain.unique_project_download_limit;
        self.unique_project_download_limit_interval_in_seconds =
            plain.unique_project_download_limit_interval_in_seconds;
        self.unique_project_download_limit_allowlist = Vec::new();
        self.unique_project_download_limit_alertlist = Vec::new();
        self.auto_ban_user_on_excessive_projects_download = false;
    }

    pub fn set_shared_runners(&mut self, wanted: SharedRunners) {
        self.shared_runners_enabled = wanted == SharedRunners::Enabled;
        self.allow_descendants_override_disabled_shared_runners = matches!(
            wanted,
            SharedRunners::DisabledAndOverridable | SharedRunners::DisabledWithOverride
        );
    }
}

/// What the group above has against a change.
pub(super) fn faults(old: &GroupSettings, new: &GroupSettings, parent: &GroupSettings) -> Faults {
    let mut faults = Faults::default();
    if parent.shared_runners_setting() != SharedRunners::DisabledAndUnoverridable {
        return faults;
    }
    if new.shared_runners_enabled && !old.shared_runners_enabled {
        faults.add(
            "shared_runners_enabled",
            "cannot be enabled because parent group has shared Runners disabled",
        );
    }
    let overrides =
        |settings: &GroupSettings| settings.allow_descendants_override_disabled_shared_runners;
    if overrides(new) && !overrides(old) {
        faults.add(
            "allow_descendants_override_disabled_shared_runners",
            "cannot be enabled because parent group does not allow it",
        );
    }
    faults
}

/// Whether a group with this parent may demand a second factor: the group at the top decides.
pub(super) fn may_demand_second_factor(
    tx: &mut Tx<'_>,
    parent: Option<&Namespace>,
) -> Result<bool> {
    let Some(parent) = parent else { return Ok(true) };
    let line = tx.lineage(parent.id)?;
    Ok(line.last().is_none_or(|top| top.settings().allow_mfa_for_subgroups))
}

/// Hands a change of a group's settings down to what is below it.
pub(super) fn apply_to_descendants(
    tx: &mut Tx<'_>,
    old: &GroupSettings,
    group: &Namespace,
) -> Result<()> {
    let new = group.settings();
    if new.share_with_group_lock && !old.share_with_group_lock {
        each_below(tx, group, |settings| settings.share_with_group_lock = true)?;
    }
    if new.share_with_group_lock != old.share_with_group_lock {
        access::refresh_projects_in(tx, group.id)?;
    }
    let setting = new.shared_runners_setting();
    if setting != SharedRunners::Enabled && setting != old.shared_runners_setting() {
        switch_off_below(tx, group)?;
    }
    if old.allow_mfa_for_subgroups && !new.allow_mfa_for_subgroups {
        each_below(tx, group, |settings| settings.require_two_factor_authentication = false)?;
    }
    if new.ip_restriction_ranges != old.ip_restriction_ranges {
        networks::keep(tx, group, new.ip_restriction_ranges.as_deref())?;
    }
    Ok(())
}

/// A group that moved obeys its new parent.
pub(super) fn follow(tx: &mut Tx<'_>, group: &Namespace, parent: &Namespace) -> Result<()> {
    let above = parent.settings();
    let old = group.settings();
    let mut own = old.clone();
    own.share_with_group_lock |= above.share_with_group_lock;
    if above.shared_runners_setting() == SharedRunners::DisabledAndUnoverridable {
        own.set_shared_runners(SharedRunners::DisabledAndUnoverridable);
    }
    own.leave_the_top();
    if !may_demand_second_factor(tx, Some(parent))? {
        own.require_two_factor_authentication = false;
        each_below(tx, group, |settings| settings.require_two_factor_authentication = false)?;
    }
    if own == old {
        return Ok(());
    }
    keep(tx, group.id, &own)?;
    let settings_text = serde_json::to_string(&own).map_err(Error::internal)?;
    apply_to_descendants(tx, &old, &Namespace { settings_text, ..group.clone() })
}

fn switch_off_below(tx: &mut Tx<'_>, group: &Namespace) -> Result<()> {
    each_below(tx, group, |settings| {
        settings.set_shared_runners(SharedRunners::DisabledAndUnoverridable);
    })?;
    let (from, to) = below(&group.full_path);
    let inside = projects::table
        .filter(projects::path_key.ge(from).and(projects::path_key.lt(to)))
        .filter(projects::deleted_at.is_null())
        .select(projects::id);
    let inside: Vec<ProjectId> =
        each_backend!(tx, |conn| inside.load(conn).map_err(error("Project")))?;
    for some in inside.chunks(AT_ONCE) {
        for (project, mut settings) in tx.settings_by_project(some)? {
            if settings.shared_runners_enabled {
                settings.shared_runners_enabled = false;
                tx.save_settings(project, &settings)?;
            }
        }
    }
    Ok(())
}

/// Projects whose settings are read in one go.
const AT_ONCE: usize = 500;

/// Changes the settings of every group below one; only rows that change are written.
fn each_below(
    tx: &mut Tx<'_>,
    group: &Namespace,
    change: impl Fn(&mut GroupSettings),
) -> Result<()> {
    let (from, to) = below(&group.full_path);
    let inside = namespaces::table
        .filter(namespaces::path_key.ge(from).and(namespaces::path_key.lt(to)))
        .filter(namespaces::deleted_at.is_null())
        .select((namespaces::id, namespaces::settings));
    let inside: Vec<(NamespaceId, String)> =
        each_backend!(tx, |conn| inside.load(conn).map_err(error("Group")))?;
    for (id, text) in inside {
        let old: GroupSettings = serde_json::from_str(&text).unwrap_or_default();
        let mut new = old.clone();
        change(&mut new);
        if new != old {
            keep(tx, id, &new)?;
        }
    }
    Ok(())
}

fn keep(tx: &mut Tx<'_>, group: NamespaceId, settings: &GroupSettings) -> Result<()> {
    let text = serde_json::to_string(settings).map_err(Error::internal)?;
    let row = namespaces::table.find(group);
    each_backend!(tx, |conn| diesel::update(row)
        .set(namespaces::settings.eq(text))
        .execute(conn)
        .map_err(error("Group")))?;
    Ok(())
}
