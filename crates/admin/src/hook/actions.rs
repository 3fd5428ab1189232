//! Reading, making, changing and taking away webhooks.

use std::collections::{BTreeMap, BTreeSet};

use db::Tx;
use kernel::{
    Error, Faults, Result, Ts,
    audit::AuditRecord,
    error::Kind as ErrorKind,
    ids::{HookId, HookLogId},
    page::{Page, PageRequest},
    values::is_web_url,
};
use secrets::Vault;

use super::{
    BranchStrategy, Health, Hook, HookSecrets, HookStore as _, MissingValues,
    address::{illegal_pair, origin, placeholders},
};
use crate::{
    delivery::{DeliveryLog, DeliveryQueue as _, LogStore as _, StatusFilter},
    flags::{Flag, Flags},
    integration::UrlRule,
    owner::{HookKeeper, Owner},
    uuid,
};

/// Webhooks of a project, and of a group.
pub(super) const MOST_OF_PROJECT: i64 = 100;
const MOST_OF_GROUP: i64 = 50;
/// System hooks.
const MOST_OF_INSTANCE: i64 = 100;
/// Characters of a URL, and of a token.
const LONGEST_URL: usize = 8_192;
const LONGEST_NAME: usize = 255;
const LONGEST_DESCRIPTION: usize = 2_048;
const LONGEST_TEMPLATE: usize = 4_096;
/// Headers, and URL variables, of one webhook.
const MOST_PAIRS: usize = 20;
/// Stands for the value of a URL variable that has none yet.
const ANY_VALUE: &str = "x";

pub fn list(tx: &mut Tx<'_>, keeper: &impl HookKeeper, page: PageRequest) -> Result<Page<Hook>> {
    tx.hooks_of(keeper.home(), page)
}

pub fn read(tx: &mut Tx<'_>, keeper: &impl HookKeeper, id: HookId) -> Result<Hook> {
    tx.find_hook(keeper.home(), id)?.ok_or_else(Error::missing)
}

/// Fields of a webhook to change; the rest stays.
#[derive(Clone, Debug, Default)]
pub struct HookChange {
    pub url: Option<String>,
    pub token: Option<Option<String>>,
    pub name: Option<Option<String>>,
    pub description: Option<Option<String>>,
    pub flags: Vec<(Flag, bool)>,
    pub enable_ssl_verification: Option<bool>,
    pub branch_filter_strategy: Option<BranchStrategy>,
    pub push_events_branch_filter: Option<Option<String>>,
    pub custom_webhook_template: Option<Option<String>>,
    pub url_variables: Option<BTreeMap<String, String>>,
    pub custom_headers: Option<BTreeMap<String, String>>,
}

pub fn create(
    tx: &mut Tx<'_>,
    keeper: &impl HookKeeper,
    (vault, urls): (&Vault, &impl UrlRule),
    change: HookChange,
) -> Result<Hook> {
    let home = keeper.home();
    ensure_room(tx, home)?;
    let (project_id, namespace_id) = home.columns();
    let first = match home {
        Owner::Instance => Flag::RepositoryUpdate,
        Owner::Project(_) | Owner::Group(_) => Flag::Push,
    };
    let mut row = Hook {
        id: HookId(0),
        project_id,
        namespace_id,
        uuid: uuid::new(),
        name: None,
        description: None,
        flags: Flags::of(&[first]),
        sealed: String::new(),
        enable_ssl_verification: true,
        branch_filter_strategy: BranchStrategy::Wildcard,
        push_events_branch_filter: None,
        custom_webhook_template: None,
        failures: 0,
        backoffs: 0,
        disabled_until: None,
        created_at: tx.now,
        updated_at: tx.now,
    };
    let mut secrets = HookSecrets::default();
    apply(&mut row, &mut secrets, change);
    ensure_valid(&row, &secrets, urls)?;
    row.seal(vault, &secrets)?;
    let made = tx.insert_hook(&row)?;
    record(tx, &made, AuditRecord::addition("webhook_created", home.audit_place(), "webhook"));
    Ok(made)
}

/// Writes down who did it; its address may hold secrets.
fn record(tx: &mut Tx<'_>, hook: &Hook, action: AuditRecord) {
    let name = hook.name.clone().unwrap_or_else(|| hook.id.to_string());
    tx.mention(action.target("WebHook", hook.id.0, name));
}

fn ensure_room(tx: &mut Tx<'_>, home: Owner) -> Result<()> {
    let (most, of) = match home {
        Owner::Project(_) => (MOST_OF_PROJECT, "project"),
        Owner::Group(_) => (MOST_OF_GROUP, "group"),
        Owner::Instance => (MOST_OF_INSTANCE, "system"),
    };
    // The last one that there may be.
    let last = PageRequest { page: most, per_page: 1 };
    if tx.hooks_of(home, last)?.items.is_empty() {
        return Ok(());
    }
    let text = format!("Maximum number of {of} hooks ({most}) exceeded");
    Err(Error::unprocessable().fields(vec![("base".to_owned(), vec![text])]))
}

/// Changes one; it is told again where it was left alone.
pub fn update(
    tx: &mut Tx<'_>,
    keeper: &impl HookKeeper,
    (vault, urls): (&Vault, &impl UrlRule),
    id: HookId,
    change: HookChange,
) -> Result<Hook> {
    let mut row = read(tx, keeper, id)?;
    let mut secrets = row.secrets(vault)?;
    let (old_row, old_secrets) = (row.clone(), secrets.clone());
    let before = secrets.address();
    let is_given = (change.token.is_some(), change.custom_headers.is_some());
    if change.url.as_deref().is_some_and(|url| url.trim() != secrets.url) {
        // What was meant for one receiver is not sent to another.
        (secrets.token, secrets.url_variables) = (None, BTreeMap::new());
        secrets.custom_headers.clear();
        secrets.missing = MissingValues::default();
    }
    apply(&mut row, &mut secrets, change);
    forget_for_others(&mut secrets, &before, is_given);
    ensure_valid(&row, &secrets, urls)?;
    row.seal(vault, &secrets)?;
    let health = match secrets.missing.is_empty() {
        true => Health::default(),
        false => Health::disabled(),
    };
    set_health(&mut row, health);
    row.updated_at = tx.now;
    tx.save_hook(&row)?;
    let now = tx.now;
    tx.postpone_hook(id, now)?;
    record_changes(tx, (&old_row, &row), (&old_secrets, &secrets));
    Ok(row)
}

/// Writes down what changed: of an address no more than its scheme and host, of other secrets only that they changed.
fn record_changes(
    tx: &mut Tx<'_>,
    (before, after): (&Hook, &Hook),
    (old, new): (&HookSecrets, &HookSecrets),
) {
    let place = after.home().audit_place();
    let change = |what: &str| AuditRecord::change("webhook_updated", place, what);
    if old.url != new.url {
        record(tx, after, change("url").values(shown_origin(&old.url), shown_origin(&new.url)));
    }
    let (lacked, lacks) = (&old.missing, &new.missing);
    let variables = (&old.url_variables, &lacked.url_variables);
    let headers = (&old.custom_headers, &lacked.custom_headers);
    let changed = [
        ("url_variables", variables != (&new.url_variables, &lacks.url_variables)),
        ("token", (&old.token, lacked.token) != (&new.token, lacks.token)),
        ("custom_headers", headers != (&new.custom_headers, &lacks.custom_headers)),
        ("settings", has_other_settings(before, after)),
    ];
    for (what, _) in changed.into_iter().filter(|(_, is_changed)| *is_changed) {
        record(tx, after, change(what));
    }
}

/// An address as its values are left out of it, without what may be secret in the rest.
fn shown_origin(url: &str) -> String {
    match origin(url) {
        (scheme, host) if scheme.is_empty() => host,
        (scheme, host) => format!("{scheme}://{host}"),
    }
}

/// Whether anything beside the secrets is another.
fn has_other_settings(before: &Hook, after: &Hook) -> bool {
    before.name != after.name
        || before.description != after.description
        || before.flags != after.flags
        || before.enable_ssl_verification != after.enable_ssl_verification
        || before.branch_filter_strategy != after.branch_filter_strategy
        || before.push_events_branch_filter != after.push_events_branch_filter
        || before.custom_webhook_template != after.custom_webhook_template
}

/// What was meant for one receiver is not sent to another, unless it was given just now.
fn forget_for_others(secrets: &mut HookSecrets, before: &str, (token, headers): (bool, bool)) {
    if origin(before) == origin(&secrets.address()) {
        return;
    }
    if !token {
        secrets.token = None;
    }
    if !headers {
        secrets.custom_headers.clear();
    }
}

pub(super) fn set_health(row: &mut Hook, health: Health) {
    Health { failures: row.failures, backoffs: row.backoffs, disabled_until: row.disabled_until } =
        health;
}

fn set<T>(place: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *place = value;
    }
}

fn apply(row: &mut Hook, secrets: &mut HookSecrets, change: HookChange) {
    let filled =
        |text: Option<Option<String>>| text.map(|text| text.filter(|text| !text.is_empty()));
    forget_missing(&mut secrets.missing, &change);
    set(&mut secrets.url, change.url.map(|url| url.trim().to_owned()));
    set(&mut secrets.token, filled(change.token));
    secrets.url_variables.extend(change.url_variables.unwrap_or_default());
    set(&mut secrets.custom_headers, change.custom_headers);
    set(&mut row.name, filled(change.name));
    set(&mut row.description, filled(change.description));
    set(&mut row.enable_ssl_verification, change.enable_ssl_verification);
    set(&mut row.branch_filter_strategy, change.branch_filter_strategy);
    set(&mut row.push_events_branch_filter, filled(change.push_events_branch_filter));
    set(&mut row.custom_webhook_template, filled(change.custom_webhook_template));
    row.flags = row.flags.changed(&change.flags);
}

/// What is given, or replaced by what is given, is missing no more.
fn forget_missing(missing: &mut MissingValues, change: &HookChange) {
    missing.token &= change.token.is_none();
    if let Some(given) = &change.url_variables {
        missing.url_variables.retain(|name| !given.contains_key(name));
    }
    if change.custom_headers.is_some() {
        missing.custom_headers.clear();
    }
}

/// Whether requests may go to the address. Nothing is sent to one that lacks values, so that only its form counts.
fn is_usable(secrets: &HookSecrets, urls: &impl UrlRule) -> bool {
    let names = secrets.url_variable_names();
    let is_set = placeholders(&secrets.url).into_iter().all(|name| names.contains(name));
    let address = secrets.address();
    let is_open = match secrets.missing.url_variables.is_empty() {
        true => is_web_url(&address) && urls.allows(&address),
        false => !address.contains(|sign: char| sign.is_whitespace() || sign.is_control()),
    };
    is_set && is_open && secrets.url.chars().count() <= LONGEST_URL
}

pub(super) fn ensure_valid(row: &Hook, secrets: &HookSecrets, urls: &impl UrlRule) -> Result<()> {
    if !is_usable(secrets, urls) {
        return Err(Error::unprocessable().parameters("Invalid url given"));
    }
    if !row.branch_filter_strategy.takes(row.push_events_branch_filter.as_deref()) {
        return Err(Error::unprocessable().parameters("Invalid branch filter given"));
    }
    let missing = &secrets.missing;
    let illegal = secrets.url_variables.iter().any(|(name, value)| illegal_pair(name, value))
        || missing.url_variables.iter().any(|name| illegal_pair(name, ANY_VALUE));
    if illegal || secrets.url_variable_names().len() > MOST_PAIRS {
        return Err(Error::unprocessable().parameters("Illegal key or value"));
    }
    let mut faults = Faults::default();
    let token = secrets.token.as_deref();
    if token.is_some_and(|token| token.contains(['\n', '\r'])) {
        faults.add("token", "cannot contain line breaks");
    } else if token.is_some_and(|token| token.contains(is_unsendable)) {
        faults.add("token", "cannot contain control characters");
    }
    faults.at_most("token", token, LONGEST_URL);
    faults.at_most("name", row.name.as_deref(), LONGEST_NAME);
    faults.at_most("description", row.description.as_deref(), LONGEST_DESCRIPTION);
    let template = row.custom_webhook_template.as_deref();
    faults.at_most("custom_webhook_template", template, LONGEST_TEMPLATE);
    let is_sendable = secrets.custom_headers.iter().all(is_header)
        && missing.custom_headers.iter().all(|name| is_header_name(name));
    if secrets.custom_header_names().len() > MOST_PAIRS || !is_sendable {
        faults.add("custom_headers", "must be a valid json schema");
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Error::unprocessable().fields(faults.into_fields())),
    }
}

/// Whether no header can hold a character.
fn is_unsendable(sign: char) -> bool {
    sign.is_ascii_control() && sign != '\t'
}

/// Headers that say where a request ends and what becomes of its connection. With one of them a webhook could put words into
/// the next request on a connection that others share.
const FRAMING_HEADERS: [&str; 9] = [
    "connection",
    "content-length",
    "expect",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Whether it can be sent as a header of one's own.
fn is_header((name, value): (&String, &String)) -> bool {
    is_header_name(name)
        && value.len() <= 2_048
        && !value.is_empty()
        && value.chars().all(|sign| sign == ' ' || sign.is_ascii_graphic())
}

fn is_header_name(name: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || "-_.".contains(sign);
    let ends = |sign: char| sign.is_ascii_alphanumeric();
    name.starts_with(ends)
        && name.ends_with(ends)
        && name.chars().all(sign)
        && name.len() <= LONGEST_NAME
        && !FRAMING_HEADERS.contains(&name.to_ascii_lowercase().as_str())
}

/// Takes one away with what waits for it, unless it changed after `unmodified_since`.
pub fn remove(
    tx: &mut Tx<'_>,
    keeper: &impl HookKeeper,
    id: HookId,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let row = read(tx, keeper, id)?;
    row.updated_at.ensure_unchanged_since(unmodified_since)?;
    tx.delete_hook(id)?;
    let place = keeper.home().audit_place();
    record(tx, &row, AuditRecord::removal("webhook_destroyed", place, "webhook"));
    Ok(())
}

/// Values in the address of a webhook, or headers of its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    UrlVariables,
    CustomHeaders,
}

impl Pairs {
    fn of(self, secrets: &mut HookSecrets) -> &mut BTreeMap<String, String> {
        match self {
            Self::UrlVariables => &mut secrets.url_variables,
            Self::CustomHeaders => &mut secrets.custom_headers,
        }
    }

    fn without_value(self, secrets: &mut HookSecrets) -> &mut BTreeSet<String> {
        match self {
            Self::UrlVariables => &mut secrets.missing.url_variables,
            Self::CustomHeaders => &mut secrets.missing.custom_headers,
        }
    }

    fn missing(self) -> Error {
        Error::not_found(match self {
            Self::UrlVariables => "URL variable",
            Self::CustomHeaders => "Custom header",
        })
    }
}

/// Sets a pair, or takes one away when no value is given.
pub fn set_pair(
    tx: &mut Tx<'_>,
    keeper: &impl HookKeeper,
    (vault, urls): (&Vault, &impl UrlRule),
    (id, pairs): (HookId, Pairs),
    (name, value): (&str, Option<&str>),
) -> Result<()> {
    let mut row = read(tx, keeper, id)?;
    let mut secrets = row.secrets(vault)?;
    let old = (row.clone(), secrets.clone());
    let before = secrets.address();
    let was_missing = pairs.without_value(&mut secrets).remove(name);
    let all = pairs.of(&mut secrets);
    match value {
        Some(value) => drop(all.insert(name.to_owned(), value.to_owned())),
        None if !was_missing && !all.contains_key(name) => return Err(pairs.missing()),
        None => drop(all.remove(name)),
    }
    forget_for_others(&mut secrets, &before, (false, false));
    match ensure_valid(&row, &secrets, urls) {
        Err(refusal) if value.is_some() && refusal.kind == ErrorKind::Unprocessable => {
            return Err(Error::unprocessable().parameters("Illegal key or value"));
        }
        checked => checked?,
    }
    if !old.1.missing.is_empty() && secrets.missing.is_empty() {
        set_health(&mut row, Health::default());
    }
    row.seal(vault, &secrets)?;
    row.updated_at = tx.now;
    tx.save_hook(&row)?;
    record_changes(tx, (&old.0, &row), (&old.1, &secrets));
    Ok(())
}

/// Notes that somebody tests a webhook: it is told again where it was left alone.
///
/// # Errors
/// `Unprocessable` where it came out of an archive and lacks values.
pub fn wake(tx: &mut Tx<'_>, keeper: &impl HookKeeper, vault: &Vault, id: HookId) -> Result<Hook> {
    let row = read(tx, keeper, id)?;
    row.secrets(vault)?.missing.ensure_empty()?;
    tx.keep_health(id, row.health(), Health::default())?;
    let now = tx.now;
    tx.postpone_hook(id, now)?;
    Ok(row)
}

/// So often somebody may have something sent to one hook in a minute.
const MOST_REQUESTS: i64 = 5;

/// Refuses whoever has had enough sent to a hook in the last minute.
pub fn ensure_calm(tx: &mut Tx<'_>, keeper: &impl HookKeeper, id: HookId) -> Result<()> {
    let since = tx.now.plus(-time::Duration::minutes(1));
    match tx.requests_since(id, keeper.keeper()?, since)? < MOST_REQUESTS {
        true => Ok(()),
        false => Err(Error::too_many(60)),
    }
}

/// What was sent to a hook, newest first.
pub fn logs(
    tx: &mut Tx<'_>,
    keeper: &impl HookKeeper,
    id: HookId,
    filters: &[StatusFilter],
    page: PageRequest,
) -> Result<Page<DeliveryLog>> {
    read(tx, keeper, id)?;
    tx.logs_of(id, filters, page)
}

/// What is to be sent once more, as it was, and to whom.
pub fn resend(
    tx: &mut Tx<'_>,
    keeper: &impl HookKeeper,
    id: HookId,
    log: HookLogId,
) -> Result<(Hook, DeliveryLog)> {
    let hook = read(tx, keeper, id)?;
    let log = tx.find_log(id, log)?.ok_or_else(Error::missing)?;
    if log.is_oversize() {
        let text = "The payload is too large. Leave parts out with a custom webhook template.";
        return Err(Error::unprocessable().whole(text));
    }
    ensure_calm(tx, keeper, id)?;
    Ok((hook, log))
}
