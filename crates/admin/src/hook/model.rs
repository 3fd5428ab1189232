//! A webhook as it is stored: its address, token and headers sealed.

use std::collections::{BTreeMap, BTreeSet};

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, Ts,
    ids::{HookId, NamespaceId, ProjectId},
};
use secrets::{Secret, UnsealError, Vault};
use serde::{Deserialize, Serialize};

use super::{BranchStrategy, Health, address::fill, health::AlertStatus};
use crate::{
    flags::{Flag, Flags},
    owner::Owner,
};

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::hooks, check_for_backend(db::AnyBackend))]
pub struct Hook {
    pub id: HookId,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub uuid: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub flags: Flags,
    pub sealed: String,
    pub enable_ssl_verification: bool,
    pub branch_filter_strategy: BranchStrategy,
    pub push_events_branch_filter: Option<String>,
    pub custom_webhook_template: Option<String>,
    pub failures: i32,
    pub backoffs: i32,
    pub disabled_until: Option<Ts>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// Secrets of a webhook, and its URL, which may contain some.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct HookSecrets {
    pub url: String,
    pub token: Option<String>,
    pub url_variables: BTreeMap<String, String>,
    pub custom_headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "MissingValues::is_empty")]
    pub missing: MissingValues,
}

/// What a webhook has no values of, because it came out of an archive, which holds none. It is off until it has all of
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MissingValues {
    pub token: bool,
    pub url_variables: BTreeSet<String>,
    pub custom_headers: BTreeSet<String>,
}

impl MissingValues {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses to send to a webhook that would get something else than it was set up for.
    ///
    /// # Errors
    /// `Unprocessable` with their names.
    pub(super) fn ensure_empty(&self) -> Result<()> {
        let token = self.token.then(|| "token".to_owned());
        let variables = self.url_variables.iter().map(|name| format!("url_variables[{name}]"));
        let headers = self.custom_headers.iter().map(|name| format!("custom_headers[{name}]"));
        let all: Vec<String> = token.into_iter().chain(variables).chain(headers).collect();
        if all.is_empty() {
            return Ok(());
        }
        let text = format!(
            "The webhook lacks values that its archive did not hold: {}. Set or remove them first.",
            all.join(", ")
        );
        Err(Error::unprocessable().whole(text))
    }
}

impl std::fmt::Debug for HookSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HookSecrets")
    }
}

impl HookSecrets {
    /// Where to send to.
    pub fn address(&self) -> String {
        fill(&self.url, &self.url_variables)
    }

    /// The names of all URL variables, also of those that have no value yet.
    pub fn url_variable_names(&self) -> BTreeSet<String> {
        self.url_variables.keys().chain(&self.missing.url_variables).cloned().collect()
    }

    /// The names of all custom headers, also of those that have no value yet.
    pub fn custom_header_names(&self) -> BTreeSet<String> {
        self.custom_headers.keys().chain(&self.missing.custom_headers).cloned().collect()
    }
}

impl Hook {
    pub fn home(&self) -> Owner {
        Owner::of(self.project_id, self.namespace_id)
    }

    fn place(&self) -> String {
        format!("hook/{}/{}", self.home().place(), self.uuid)
    }

    pub(crate) fn unseal(&self, vault: &Vault) -> Result<Secret, UnsealError> {
        vault.unseal(&self.place(), &self.sealed)
    }

    pub fn secrets(&self, vault: &Vault) -> Result<HookSecrets> {
        let clear = self.unseal(vault).map_err(Error::internal)?;
        serde_json::from_str(clear.reveal()).map_err(Error::internal)
    }

    pub(super) fn seal(&mut self, vault: &Vault, secrets: &HookSecrets) -> Result<()> {
        let text = Secret::new(serde_json::to_string(secrets).map_err(Error::internal)?);
        self.sealed = vault.seal(&self.place(), &text).map_err(Error::internal)?;
        Ok(())
    }

    pub fn health(&self) -> Health {
        Health {
            failures: self.failures,
            backoffs: self.backoffs,
            disabled_until: self.disabled_until,
        }
    }

    pub fn alert_status(&self, now: Ts) -> AlertStatus {
        alert_status(self.home(), self.health(), now)
    }
}

/// System hooks are always told.
fn alert_status(home: Owner, health: Health, now: Ts) -> AlertStatus {
    match home {
        Owner::Instance => AlertStatus::Executable,
        Owner::Project(_) | Owner::Group(_) => health.status(now),
    }
}

/// The columns of a webhook that say which events it receives: all that is read of it where an event is announced.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::hooks, check_for_backend(db::AnyBackend))]
pub struct HookFilter {
    pub id: HookId,
    project_id: Option<ProjectId>,
    namespace_id: Option<NamespaceId>,
    flags: Flags,
    branch_filter_strategy: BranchStrategy,
    push_events_branch_filter: Option<String>,
    failures: i32,
    backoffs: i32,
    disabled_until: Option<Ts>,
}

impl HookFilter {
    /// Whether the webhook is told of such events; pushes only of the branches that it wants.
    pub fn hears(&self, flag: Flag, branch: Option<&str>, now: Ts) -> bool {
        let home = Owner::of(self.project_id, self.namespace_id);
        let always = flag == Flag::Members && matches!(home, Owner::Group(_));
        let filter = self.push_events_branch_filter.as_deref();
        let is_wanted =
            branch.is_none_or(|branch| self.branch_filter_strategy.matches(filter, branch));
        let (failures, backoffs, disabled_until) =
            (self.failures, self.backoffs, self.disabled_until);
        let health = Health { failures, backoffs, disabled_until };
        (always || self.flags.has(flag))
            && alert_status(home, health, now) != AlertStatus::Disabled
            && (flag != Flag::Push || is_wanted)
    }
}
