//! Reading, creating, changing and removing alert integrations.

use db::Tx;
use kernel::{
    Error, Faults, Grant, Result, Ts,
    ids::AlertIntegrationId,
    page::{Page, PageRequest},
};
use secrets::Vault;

use super::{
    AlertIntegration, IntegrationKey, IntegrationKind, IntegrationStore as _, Mapping, Mappings,
};
use crate::{
    alert::Payload,
    policy::{AdminAlerts, ReadAlertIntegrations},
};

const LONGEST_NAME: usize = 255;
/// Integrations of one project.
pub(super) const MOST: i64 = 100;
/// Parts of a place in what is sent, and signs of each and of what the place is called.
const DEEPEST: usize = 20;
const LONGEST_PART: usize = 255;
/// Bytes of an example of what is sent.
const LARGEST_EXAMPLE: usize = 64 << 10;

pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadAlertIntegrations>,
    page: PageRequest,
) -> Result<Page<AlertIntegration>> {
    tx.alert_integrations(grant.project(), page)
}

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadAlertIntegrations>,
    id: AlertIntegrationId,
) -> Result<AlertIntegration> {
    tx.alert_integration(grant.project(), id)?.ok_or_else(Error::missing)
}

/// An integration as it is asked for.
#[derive(Clone, Debug)]
pub struct NewIntegration {
    pub kind: IntegrationKind,
    pub name: String,
    pub active: bool,
    pub mappings: Mappings,
    pub payload_example: Option<String>,
}

pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminAlerts>,
    vault: &Vault,
    new: &NewIntegration,
) -> Result<AlertIntegration> {
    ensure_fit(&new.name, &new.mappings, new.payload_example.as_deref())?;
    let project = grant.project();
    let first = PageRequest { page: 1, per_page: MOST };
    if i64::try_from(tx.alert_integrations(project, first)?.items.len()).unwrap_or(MOST) >= MOST {
        return Err(Error::invalid("base", format!("a project may have {MOST} integrations")));
    }
    let (key, endpoint) = (IntegrationKey::generate(), hex::encode(rand::random::<[u8; 8]>()));
    tx.insert_alert_integration(&AlertIntegration {
        id: AlertIntegrationId(0),
        project_id: project,
        kind: new.kind,
        name: new.name.clone(),
        active: new.active,
        token_digest: key.digest(),
        sealed: AlertIntegration::seal(vault, project, &endpoint, &key)?,
        endpoint,
        mappings: json(&new.mappings)?,
        created_at: tx.now,
        updated_at: tx.now,
        payload_example: new.payload_example.clone().filter(|text| !text.is_empty()),
    })
}

/// What is to change; the rest stays.
#[derive(Clone, Debug, Default)]
pub struct IntegrationChange {
    pub name: Option<String>,
    pub active: Option<bool>,
    pub mappings: Option<Mappings>,
    /// An empty text takes it away.
    pub payload_example: Option<String>,
}

pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminAlerts>,
    id: AlertIntegrationId,
    change: &IntegrationChange,
) -> Result<AlertIntegration> {
    let before = find(tx, grant, id)?;
    let name = change.name.clone().unwrap_or_else(|| before.name.clone());
    let mappings = change.mappings.clone().map_or_else(|| before.mapped_fields(), Ok)?;
    ensure_fit(&name, &mappings, change.payload_example.as_deref())?;
    let payload_example = match &change.payload_example {
        Some(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        None => before.payload_example.clone(),
    };
    let active = change.active.unwrap_or(before.active);
    let mappings = json(&mappings)?;
    let updated_at = tx.now;
    let after = AlertIntegration { name, active, mappings, payload_example, updated_at, ..before };
    tx.save_alert_integration(&after)?;
    Ok(after)
}

/// Replaces the key of an integration; the old one stops working.
pub fn reset_key(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminAlerts>,
    vault: &Vault,
    id: AlertIntegrationId,
) -> Result<AlertIntegration> {
    let before = find(tx, grant, id)?;
    let key = IntegrationKey::generate();
    let after = AlertIntegration {
        token_digest: key.digest(),
        sealed: AlertIntegration::seal(vault, before.project_id, &before.endpoint, &key)?,
        updated_at: tx.now,
        ..before
    };
    tx.save_alert_integration(&after)?;
    Ok(after)
}

/// Takes an integration away, unless it changed after `unmodified_since`.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminAlerts>,
    id: AlertIntegrationId,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let row = find(tx, grant, id)?;
    row.updated_at.ensure_unchanged_since(unmodified_since)?;
    tx.delete_alert_integration(id)
}

fn find(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminAlerts>,
    id: AlertIntegrationId,
) -> Result<AlertIntegration> {
    tx.alert_integration(grant.project(), id)?.ok_or_else(Error::missing)
}

fn json(mappings: &Mappings) -> Result<String> {
    serde_json::to_string(mappings).map_err(Error::internal)
}

pub(super) fn ensure_fit(name: &str, mappings: &Mappings, example: Option<&str>) -> Result<()> {
    let mut faults = Faults::default();
    if name.trim().is_empty() {
        faults.add("name", "can't be blank");
    }
    faults.at_most("name", Some(name), LONGEST_NAME);
    let is_odd = |one: &Mapping| {
        let mut texts = one.path.iter().chain(&one.label);
        one.path.is_empty()
            || one.path.len() > DEEPEST
            || texts.any(|text| text.chars().count() > LONGEST_PART)
    };
    if mappings.values().any(is_odd) {
        faults.add("payload_attribute_mappings", "is invalid");
    }
    let is_payload =
        |text: &str| text.len() <= LARGEST_EXAMPLE && Payload::read(text.as_bytes()).is_some();
    if example.is_some_and(|text| !is_payload(text)) {
        faults.add("payload_example", "is invalid");
    }
    faults.into_result()
}
