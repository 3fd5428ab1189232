//! A group with a project, somebody who owns both, and a vault.

use std::sync::Arc;

use admin::{
    flags::Flag,
    hook::{
        Hook,
        actions::{HookChange, create},
    },
    integration::{
        EffectiveIntegration, Kind, UrlRule, Values,
        actions::{IntegrationChange, set},
    },
    policy::{AdminGroupIntegrations, AdminHooks, AdminIntegrations},
};
use db::{
    Tx,
    testing::{facts, rows, transaction},
};
use kernel::{
    AccessLevel, Actor, Error, Grant, Result, Standing, Visibility,
    access::{Administrate, Group, Instance, Project},
    ids::{NamespaceId, ProjectId, UserId},
};
use secrets::Vault;
use serde_json::Value;

pub(crate) struct World {
    pub(crate) owner: UserId,
    pub(crate) group: NamespaceId,
    pub(crate) project: ProjectId,
    pub(crate) vault: Vault,
}

/// Lets the server go everywhere but to one host.
pub(crate) struct FakeRule;

impl UrlRule for FakeRule {
    fn allows(&self, url: &str) -> bool {
        !url.contains("inner.example.com")
    }
}

/// Runs a test in one transaction of a database of its own.
pub(crate) fn test(body: fn(&mut Tx<'_>, &World) -> Result<()>) {
    transaction(move |tx| {
        let world = World::new(tx)?;
        body(tx, &world)
    });
}

impl World {
    fn new(tx: &mut Tx<'_>) -> Result<Self> {
        let owner = rows::user(tx, "ada")?;
        let group = rows::group(tx, "tools")?;
        let project = rows::project(tx, group, owner, "tools/tea")?;
        let folder = tempfile::tempdir().map_err(Error::internal)?;
        let vault = Vault::find_or_make(folder.path()).map_err(Error::internal)?;
        Ok(Self { owner, group, project, vault })
    }

    fn standing(&self, level: AccessLevel) -> Standing {
        let actor = Actor { id: Some(self.owner), ..Actor::ANONYMOUS };
        Standing::in_scope(actor, level, Visibility::Public)
    }

    /// What somebody with a role may do with the webhooks of the project.
    pub(crate) fn as_member(&self, level: AccessLevel) -> Result<Grant<AdminHooks>> {
        let scope = Project(Arc::new(facts::project(self.project, self.group)));
        Grant::check(&self.standing(level), scope)
    }

    pub(crate) fn hooks(&self) -> Grant<AdminHooks> {
        self.as_member(AccessLevel::Maintainer).unwrap()
    }

    pub(crate) fn integrations(&self) -> Grant<AdminIntegrations> {
        let scope = Project(Arc::new(facts::project(self.project, self.group)));
        Grant::check(&self.standing(AccessLevel::Maintainer), scope).unwrap()
    }

    pub(crate) fn group_integrations(&self) -> Grant<AdminGroupIntegrations> {
        let scope = Group(Arc::new(facts::group(self.group)));
        Grant::check(&self.standing(AccessLevel::Maintainer), scope).unwrap()
    }

    pub(crate) fn administers(&self) -> Grant<Administrate> {
        let actor = Actor { id: Some(self.owner), admin: true, ..Actor::ANONYMOUS };
        Grant::check(&Standing::in_instance(actor), Instance).unwrap()
    }

    /// A webhook of the project.
    pub(crate) fn hook(&self, tx: &mut Tx<'_>, change: HookChange) -> Result<Hook> {
        create(tx, &self.hooks(), (&self.vault, &FakeRule), change)
    }

    /// Sets an integration of the project.
    pub(crate) fn set(
        &self,
        tx: &mut Tx<'_>,
        slug: &str,
        settings: &Value,
    ) -> Result<EffectiveIntegration> {
        let (rule, change) = ((&self.vault, &FakeRule), change(settings));
        set(tx, &self.integrations(), rule, &[self.group], kind(slug), &change)
    }

    /// Sets an integration of the group.
    pub(crate) fn set_in_group(
        &self,
        tx: &mut Tx<'_>,
        slug: &str,
        settings: &Value,
    ) -> Result<EffectiveIntegration> {
        let (rule, change) = ((&self.vault, &FakeRule), change(settings));
        set(tx, &self.group_integrations(), rule, &[], kind(slug), &change)
    }
}

pub(crate) fn kind(slug: &str) -> &'static Kind {
    Kind::find(slug).unwrap()
}

pub(crate) fn change(settings: &Value) -> IntegrationChange {
    let values: Values = settings.as_object().cloned().unwrap_or_default();
    IntegrationChange { values, ..IntegrationChange::default() }
}

/// A webhook that is told of pushes.
pub(crate) fn to(url: &str) -> HookChange {
    let flags = vec![(Flag::Push, true)];
    HookChange { url: Some(url.to_owned()), flags, ..HookChange::default() }
}
