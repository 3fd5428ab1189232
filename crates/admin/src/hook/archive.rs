//! Webhooks of a project in archives. Tokens and the values of URL variables and headers stay behind; a webhook that had
//! some is off until it has them again.

use std::collections::BTreeSet;

use db::Tx;
use kernel::{
    Error, Result, TextEnum as _, Ts,
    ids::{HookId, ProjectId},
    page::PageRequest,
};
use secrets::Vault;
use serde::{Deserialize, Serialize};

use super::{
    AlertStatus, BranchStrategy, Health, Hook, HookSecrets, HookStore as _, MissingValues,
    actions::{MOST_OF_PROJECT, ensure_valid, set_health},
    address::{bare, placeholders, without_credentials, without_query},
};
use crate::{
    flags::{Flag, Flags},
    integration::UrlRule,
    owner::Owner,
    uuid,
};

/// Events of integrations alone.
const NOT_OF_HOOKS: [Flag; 5] =
    [Flag::Commits, Flag::Comments, Flag::Incidents, Flag::Alerts, Flag::ArchivedTraces];

/// A webhook as archives hold it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HookRecord {
    /// With places for values where it had a user, a password or a query.
    url: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    description: Option<String>,
    /// The events that are switched on.
    #[serde(default)]
    events: Vec<Flag>,
    enable_ssl_verification: bool,
    branch_filter_strategy: BranchStrategy,
    #[serde(default)]
    push_events_branch_filter: Option<String>,
    #[serde(default)]
    custom_webhook_template: Option<String>,
    /// Names of URL variables and headers.
    #[serde(default)]
    url_variables: Vec<String>,
    #[serde(default)]
    custom_headers: Vec<String>,
    #[serde(default)]
    has_token: bool,
    /// Whether nothing was sent to it any more.
    #[serde(default)]
    is_disabled: bool,
    created_at: String,
    updated_at: String,
}

/// The most webhooks of one project.
pub fn limit() -> usize {
    usize::try_from(MOST_OF_PROJECT).unwrap_or_default()
}

/// The webhooks of a project, oldest first.
///
/// # Errors
/// When they cannot be read.
pub fn records(tx: &mut Tx<'_>, project: ProjectId, vault: &Vault) -> Result<Vec<HookRecord>> {
    let (all, now) = (PageRequest { page: 1, per_page: MOST_OF_PROJECT }, tx.now);
    let rows = tx.hooks_of(Owner::Project(project), all)?.items;
    let records: Result<Vec<_>> = rows.iter().map(|row| HookRecord::new(row, vault, now)).collect();
    let mut records = records?;
    // What earlier versions took and this one does not.
    records.retain(|record| record.ensure_sound().is_ok());
    Ok(records)
}

/// Looks whether there can be such webhooks.
///
/// # Errors
/// As where one is made, but for addresses that this installation does not go to.
pub fn ensure_sound(records: &[HookRecord]) -> Result<()> {
    records.iter().try_for_each(HookRecord::ensure_sound)
}

/// Gives a project its webhooks, as many as it may have. Those that lack values are off, and so are those whose address
/// this installation does not go to.
///
/// # Errors
/// When the database cannot be written.
pub fn restore(
    tx: &mut Tx<'_>,
    project: ProjectId,
    (vault, urls): (&Vault, &impl UrlRule),
    records: &[HookRecord],
) -> Result<()> {
    let room = limit().saturating_sub(tx.hook_filters_around(Some(project), &[])?.len());
    let mut rows = Vec::new();
    for record in records.iter().take(room) {
        let (mut row, secrets) = record.parts(project, tx.now);
        let is_whole = secrets.missing.is_empty() && ensure_valid(&row, &secrets, urls).is_ok();
        if record.is_disabled || !is_whole {
            set_health(&mut row, Health::disabled());
        }
        row.seal(vault, &secrets)?;
        rows.push(row);
    }
    match rows.is_empty() {
        true => Ok(()),
        false => tx.insert_hooks(&rows),
    }
}

/// Every address, for archives whose form alone is looked at.
struct AnyAddress;

impl UrlRule for AnyAddress {
    fn allows(&self, _: &str) -> bool {
        true
    }
}

fn is_of_hooks(flag: Flag) -> bool {
    !NOT_OF_HOOKS.contains(&flag)
}

impl HookRecord {
    fn new(row: &Hook, vault: &Vault, now: Ts) -> Result<Self> {
        let secrets = row.secrets(vault)?;
        let known = secrets.url_variable_names();
        let (url, new) = without_credentials(&secrets.url, &known);
        let is_on = |flag: &Flag| is_of_hooks(*flag) && row.flags.has(*flag);
        let mut record = Self {
            url,
            name: row.name.clone(),
            description: row.description.clone(),
            events: Flag::ALL.iter().copied().filter(is_on).collect(),
            enable_ssl_verification: row.enable_ssl_verification,
            branch_filter_strategy: row.branch_filter_strategy,
            push_events_branch_filter: row.push_events_branch_filter.clone(),
            custom_webhook_template: row.custom_webhook_template.clone(),
            url_variables: known.iter().cloned().chain(new).collect(),
            custom_headers: secrets.custom_header_names().into_iter().collect(),
            has_token: secrets.token.is_some() || secrets.missing.token,
            is_disabled: row.alert_status(now) == AlertStatus::Disabled,
            created_at: row.created_at.iso(),
            updated_at: row.updated_at.iso(),
        };
        // There are more values in a long query than a webhook can have variables, and more signs in their names.
        let shorter = [without_query(&secrets.url, &known), (bare(&secrets.url), BTreeSet::new())];
        for (url, new) in shorter {
            if record.ensure_sound().is_err() {
                record.url = url;
                record.url_variables = known.iter().cloned().chain(new).collect();
            }
        }
        Ok(record)
    }

    fn ensure_sound(&self) -> Result<()> {
        if !self.events.iter().copied().all(is_of_hooks) {
            return Err(Error::unprocessable().parameters("Invalid event given"));
        }
        let (row, secrets) = self.parts(ProjectId(0), Ts(0));
        ensure_valid(&row, &secrets, &AnyAddress)
    }

    /// As a new webhook of a project.
    fn parts(&self, project: ProjectId, now: Ts) -> (Hook, HookSecrets) {
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let moment = |text: &str| Ts::parse(text).filter(|at| *at <= now).unwrap_or(now);
        let places = placeholders(&self.url).into_iter().map(str::to_owned);
        let missing = MissingValues {
            token: self.has_token,
            url_variables: self.url_variables.iter().cloned().chain(places).collect(),
            custom_headers: self.custom_headers.iter().cloned().collect(),
        };
        let row = Hook {
            id: HookId(0),
            project_id: Some(project),
            namespace_id: None,
            uuid: uuid::new(),
            name: filled(&self.name),
            description: filled(&self.description),
            flags: Flags::of(&self.events),
            sealed: String::new(),
            enable_ssl_verification: self.enable_ssl_verification,
            branch_filter_strategy: self.branch_filter_strategy,
            push_events_branch_filter: filled(&self.push_events_branch_filter),
            custom_webhook_template: filled(&self.custom_webhook_template),
            failures: 0,
            backoffs: 0,
            disabled_until: None,
            created_at: moment(&self.created_at),
            updated_at: moment(&self.updated_at),
        };
        (row, HookSecrets { url: self.url.clone(), missing, ..HookSecrets::default() })
    }
}
