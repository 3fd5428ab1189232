//! Reading, setting and switching off integrations.

use std::collections::HashSet;

use db::Tx;
use kernel::{
    Error, Result, Ts,
    audit::AuditRecord,
    ids::{IntegrationId, NamespaceId},
};
use secrets::{Secret, Vault};
use serde_json::Value;

use super::{EffectiveIntegration, Integration, IntegrationStore as _, Kind, Values};
use crate::{
    flags::Flag,
    owner::{IntegrationKeeper, Owner},
};

const NOUN: &str = "Integration";

/// Whether the server may go to an address, as far as can be said without looking a name up.
pub trait UrlRule {
    fn allows(&self, url: &str) -> bool;
}

/// The active ones, oldest first; with those that the groups above give. `groups` are these, nearest first.
pub fn list(
    tx: &mut Tx<'_>,
    keeper: &impl IntegrationKeeper,
    groups: &[NamespaceId],
) -> Result<Vec<EffectiveIntegration>> {
    let mut all = effective(tx, keeper.home(), groups)?;
    all.retain(|one| one.source.active && one.row.active);
    all.sort_by_key(|one| one.row.id);
    Ok(all)
}

/// All that a home has, with those of the groups above where it has none of the kind itself.
pub fn effective(
    tx: &mut Tx<'_>,
    home: Owner,
    groups: &[NamespaceId],
) -> Result<Vec<EffectiveIntegration>> {
    let own = tx.integrations_of(home)?;
    let mut above = given(tx, groups)?;
    let mut all = Vec::new();
    for row in own {
        let given = above.iter().position(|one| one.slug == row.slug);
        let source = given.map(|at| above.remove(at)).filter(|_| row.inherits);
        all.push(match source {
            Some(source) => EffectiveIntegration { row, source, is_inherited: true },
            None => EffectiveIntegration::own(row),
        });
    }
    all.extend(above.into_iter().map(EffectiveIntegration::given));
    Ok(all)
}

/// What the groups above and the installation give, one of each kind: that of the nearest. `groups` are nearest first.
pub(super) fn given(tx: &mut Tx<'_>, groups: &[NamespaceId]) -> Result<Vec<Integration>> {
    let mut above = tx.integrations_of_groups(groups)?;
    let distance = |row: &Integration| {
        groups.iter().position(|group| Some(*group) == row.namespace_id).unwrap_or(groups.len())
    };
    above.retain(|row| row.active && !row.inherits);
    above.sort_by_key(distance);
    above.extend(tx.integrations_of(Owner::Instance)?.into_iter().filter(|row| row.active));
    let mut seen = HashSet::new();
    above.retain(|row| seen.insert(row.slug.clone()));
    Ok(above)
}

/// One, also when it is off.
pub fn read(
    tx: &mut Tx<'_>,
    keeper: &impl IntegrationKeeper,
    groups: &[NamespaceId],
    kind: &Kind,
) -> Result<EffectiveIntegration> {
    let all = effective(tx, keeper.home(), groups)?;
    let found = all.into_iter().find(|one| one.row.slug == kind.slug);
    found.ok_or_else(|| Error::not_found(NOUN))
}

/// The fields of an integration to set.
#[derive(Clone, Debug, Default)]
pub struct IntegrationChange {
    /// By the names of parameters; what is not named stays.
    pub values: Values,
    pub flags: Vec<(Flag, bool)>,
    /// Whether the settings of the group above are to count.
    pub inherits: Option<bool>,
    /// The integration whose settings are to count: that of the nearest group above that has one, or of the installation.
    /// Nothing inside for one's own.
    pub inherits_from: Option<Option<IntegrationId>>,
}

impl IntegrationChange {
    /// Whether it asks for the settings of somebody above, beside which it gives none of its own.
    pub fn asks_to_inherit(&self) -> bool {
        self.inherits_from.map_or(self.inherits == Some(true), |from| from.is_some())
    }

    /// Whether the settings of somebody above are to count.
    fn inherits(&self, tx: &mut Tx<'_>, groups: &[NamespaceId], kind: &Kind) -> Result<bool> {
        let Some(from) = self.inherits_from else { return Ok(self.inherits == Some(true)) };
        let Some(id) = from else { return Ok(false) };
        match given(tx, groups)?.iter().any(|row| row.id == id && row.slug == kind.slug) {
            true => Ok(true),
            false => Err(invalid()),
        }
    }
}

/// The contract tells nothing of what is wrong.
fn invalid() -> Error {
    Error::bad_request().whole("400 Bad Request")
}

/// Sets one and switches it on; makes it when it is not there. What changes nothing leaves no trace.
pub fn set(
    tx: &mut Tx<'_>,
    keeper: &impl IntegrationKeeper,
    (vault, urls): (&Vault, &impl UrlRule),
    groups: &[NamespaceId],
    kind: &'static Kind,
    change: &IntegrationChange,
) -> Result<EffectiveIntegration> {
    let home = keeper.home();
    let before = tx.find_integration(home, kind.slug)?;
    // There is nothing above the installation.
    let inherits = home != Owner::Instance && change.inherits(tx, groups, kind)?;
    if !inherits {
        ensure_complete(kind, &change.values)?;
    }
    let mut row = match &before {
        Some(row) => row.clone(),
        None => Integration::fresh(home, kind, vault, tx.now)?,
    };
    let mut has_new_values = false;
    if !inherits {
        let stored = row.values(vault)?;
        let values = merged(kind, stored.clone(), &change.values);
        ensure_valid(kind, urls, &values)?;
        has_new_values = values != stored;
        row.set(kind, vault, values)?;
    }
    row.flags = row.flags.changed(&change.flags);
    row.active = true;
    row.inherits = inherits;
    let settings = |row: &Integration| (row.flags, row.active, row.inherits);
    let is_same = |old: &Integration| !has_new_values && settings(old) == settings(&row);
    if !before.as_ref().is_some_and(is_same) {
        row.updated_at = tx.now;
        match before {
            Some(_) => tx.save_integration(&row)?,
            None => row = tx.insert_integration(&row)?,
        }
        let place = home.audit_place();
        record(tx, &row, AuditRecord::change("integration_updated", place, kind.slug));
    }
    if inherits {
        return read(tx, keeper, groups, kind);
    }
    Ok(EffectiveIntegration::own(row))
}

fn ensure_complete(kind: &Kind, given: &Values) -> Result<()> {
    let missing = kind.missing(|one| given.contains_key(one.name));
    let texts: Vec<String> = missing.iter().map(|one| format!("{} is missing", one.name)).collect();
    match texts.is_empty() {
        true => Ok(()),
        false => Err(Error::bad_request().parameters(texts.join(", "))),
    }
}

/// What is stored with what is given. Secrets do not follow to another address.
fn merged(kind: &Kind, stored: Values, given: &Values) -> Values {
    let mut values = stored;
    let moves = kind.parameters.iter().any(|one| {
        let (old, new) = (values.get(one.name), given.get(one.name));
        one.exposing && new.is_some() && new != old
    });
    if moves {
        let secret = kind.parameters.iter().filter(|one| one.secret);
        secret.for_each(|one| drop(values.insert(one.name.to_owned(), Value::Null)));
    }
    values.extend(given.iter().map(|(name, value)| (name.clone(), value.clone())));
    values
}

pub(super) fn ensure_valid(kind: &Kind, urls: &impl UrlRule, values: &Values) -> Result<()> {
    let is_valid = kind.parameters.iter().all(|one| {
        let value = values.get(one.name).unwrap_or(&Value::Null);
        let address = value.as_str().filter(|text| one.rule.is_address() && !text.is_empty());
        one.takes(value) && address.is_none_or(|address| urls.allows(address))
    });
    match is_valid && kind.has_address(values) {
        true => Ok(()),
        false => Err(invalid()),
    }
}

/// Switches one off, unless it changed after `unmodified_since`. Its settings stay.
pub fn disable(
    tx: &mut Tx<'_>,
    keeper: &impl IntegrationKeeper,
    (vault, groups): (&Vault, &[NamespaceId]),
    kind: &Kind,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let home = keeper.home();
    if let Some(row) = tx.find_integration(home, kind.slug)? {
        row.updated_at.ensure_unchanged_since(unmodified_since)?;
        if !row.active && !row.inherits {
            return Ok(());
        }
        let off = Integration { active: false, inherits: false, updated_at: tx.now, ..row };
        tx.save_integration(&off)?;
        let place = home.audit_place();
        record(tx, &off, AuditRecord::removal("integration_disabled", place, kind.slug));
        return Ok(());
    }
    // What a group gives is switched off by a row of one's own.
    read(tx, keeper, groups, kind)?;
    let off = Integration::fresh(home, kind, vault, tx.now)?;
    let off = tx.insert_integration(&off)?;
    record(tx, &off, AuditRecord::removal("integration_disabled", home.audit_place(), kind.slug));
    Ok(())
}

/// Writes down who did it, without any value.
fn record(tx: &mut Tx<'_>, row: &Integration, action: AuditRecord) {
    tx.mention(action.target("Integration", row.id.0, &row.slug));
}

/// The active integration that knows this token, for those who ask without an account.
pub fn find_by_token(
    tx: &mut Tx<'_>,
    vault: &Vault,
    (home, groups): (Owner, &[NamespaceId]),
    kind: &Kind,
    token: &str,
) -> Result<EffectiveIntegration> {
    let all = effective(tx, home, groups)?;
    let found = all.into_iter().find(|one| one.row.slug == kind.slug && one.source.active);
    let found = found.ok_or_else(|| Error::not_found(NOUN))?;
    let values = found.source.values(vault)?;
    let known = values.get("token").and_then(Value::as_str).unwrap_or_default();
    match !known.is_empty() && is_same(&Secret::new(known), token) {
        true => Ok(found),
        false => Err(Error::not_found(NOUN)),
    }
}

/// Compares in a time that tells nothing of where they differ.
fn is_same(secret: &Secret, given: &str) -> bool {
    let known = secret.reveal().as_bytes();
    let pairs = known.iter().zip(given.as_bytes());
    known.len() == given.len() && pairs.fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Kind, Values, merged};

    fn values(json: &Value) -> Values {
        json.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn secrets_do_not_follow_to_another_address() {
        let kind = Kind::find("jenkins").unwrap();
        let stored =
            values(&json!({ "jenkins_url": "https://a", "password": "x", "username": "u" }));
        let same = merged(kind, stored.clone(), &values(&json!({ "jenkins_url": "https://a" })));
        assert_eq!(same["password"], "x");
        let moved = merged(kind, stored.clone(), &values(&json!({ "jenkins_url": "https://b" })));
        assert_eq!((&moved["password"], &moved["username"]), (&Value::Null, &json!("u")));
        let change = values(&json!({ "jenkins_url": "https://b", "password": "y" }));
        assert_eq!(merged(kind, stored, &change)["password"], "y");
    }
}
