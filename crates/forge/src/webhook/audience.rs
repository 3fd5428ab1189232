//! The receivers of events of a project or group.

use admin::{
    delivery::Receiver,
    flags::Flag,
    hook::{HookFilter, HookStore as _},
    integration::{EffectiveIntegration, actions::effective},
    owner::Owner,
};
use db::Tx;
use kernel::{
    Result, Ts,
    ids::{NamespaceId, ProjectId},
};
use org::{
    hierarchy::group_chain,
    project::{Project, store::ProjectStore as _},
};

use crate::integration::{EventTraits, asks_for_fixes, asks_for_protection, is_wanted};

/// The webhooks and integrations that may receive events of one project or group.
#[derive(Debug, Default)]
pub(super) struct Audience {
    /// Of a project; nothing where it is gone, or where nobody is told of anything.
    pub(super) project: Option<Project>,
    hooks: Vec<HookFilter>,
    system: Vec<HookFilter>,
    integrations: Vec<EffectiveIntegration>,
    now: Option<Ts>,
}

impl Audience {
    /// Of a project and the groups above it.
    pub(super) fn of_project(tx: &mut Tx<'_>, project: ProjectId) -> Result<Self> {
        if !tx.has_receivers()? {
            return Ok(Self::default());
        }
        let Some(row) = tx.find_project(project)? else { return Self::of_instance(tx) };
        let groups = group_chain(tx, row.namespace_id)?;
        let integrations = effective(tx, Owner::Project(project), &groups)?;
        Ok(Self {
            hooks: tx.hook_filters_around(Some(project), &groups)?,
            system: tx.system_hook_filters()?,
            integrations: integrations.into_iter().filter(|one| one.source.active).collect(),
            now: Some(tx.now),
            project: Some(row),
        })
    }

    /// Of a group and those above it.
    pub(super) fn of_group(tx: &mut Tx<'_>, group: NamespaceId) -> Result<Self> {
        if !tx.has_receivers()? {
            return Ok(Self::default());
        }
        let groups = group_chain(tx, group)?;
        Ok(Self {
            hooks: tx.hook_filters_around(None, &groups)?,
            system: tx.system_hook_filters()?,
            now: Some(tx.now),
            ..Self::default()
        })
    }

    /// Of the installation.
    pub(super) fn of_instance(tx: &mut Tx<'_>) -> Result<Self> {
        let system = tx.system_hook_filters()?;
        Ok(Self { system, now: Some(tx.now), ..Self::default() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.system.is_empty() && self.integrations.is_empty()
    }

    /// Whether anybody may be told of such events.
    pub(super) fn hears(&self, flag: Flag) -> bool {
        let any = EventTraits::default();
        !self.receivers(flag, &any).is_empty() || !self.system(Some(flag)).is_empty()
    }

    /// Whether somebody is told of such events who asks if branches are protected.
    pub(super) fn asks_for_protection(&self, flag: Flag) -> bool {
        self.integrations.iter().any(|one| one.hears(flag) && asks_for_protection(&one.source))
    }

    /// Whether somebody is told of such events who asks what a pipeline has mended.
    pub(super) fn asks_for_fixes(&self, flag: Flag) -> bool {
        self.integrations.iter().any(|one| one.hears(flag) && asks_for_fixes(&one.source))
    }

    /// Leaves out webhooks and integrations that do not hear of these events, too.
    pub(super) fn retain_hearers(&mut self, flag: Flag) {
        let Some(now) = self.now else { return };
        self.hooks.retain(|hook| hook.hears(flag, None, now));
        self.integrations.retain(|one| one.hears(flag));
    }

    /// Webhooks and integrations that want to hear of such events on this occasion.
    pub(super) fn receivers(&self, flag: Flag, occasion: &EventTraits<'_>) -> Vec<Receiver> {
        let Some(now) = self.now else { return Vec::new() };
        let hooks = self.hooks.iter().filter(|hook| hook.hears(flag, occasion.branch, now));
        let hooks = hooks.map(|hook| Receiver::Hook(hook.id));
        let others = self.integrations.iter();
        let others = others.filter(|one| one.hears(flag) && is_wanted(&one.source, occasion));
        hooks.chain(others.map(|one| Receiver::Integration(one.source.id))).collect()
    }

    /// System hooks that have the flag; all of them where an event has none.
    pub(super) fn system(&self, flag: Option<Flag>) -> Vec<Receiver> {
        let Some(now) = self.now else { return Vec::new() };
        let hooks = self.system.iter();
        let hooks = hooks.filter(|hook| flag.is_none_or(|flag| hook.hears(flag, None, now)));
        hooks.map(|hook| Receiver::Hook(hook.id)).collect()
    }
}
