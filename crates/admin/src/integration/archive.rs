//! Integrations of a project in archives. Secrets stay behind; an integration that had some is off until it is set again.

use std::collections::HashSet;

use db::Tx;
use kernel::{
    Error, Result, TextEnum as _, Ts,
    ids::{NamespaceId, ProjectId},
};
use secrets::Vault;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Integration, IntegrationStore as _, Kind, Parameter, ParameterType, UrlRule, Values,
    actions::{ensure_valid, given},
};
use crate::{
    flags::{Flag, Flags},
    hook::names_user,
    owner::Owner,
};

/// An integration as archives hold it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IntegrationRecord {
    slug: String,
    active: bool,
    #[serde(default)]
    inherits: bool,
    /// The events that are switched on.
    #[serde(default)]
    events: Vec<Flag>,
    /// Values of parameters that are no secret.
    #[serde(default)]
    properties: Values,
    /// Names of parameters that have a value which is not here.
    #[serde(default)]
    secrets: Vec<String>,
    created_at: String,
    updated_at: String,
}

/// The most integrations of one project: one of each kind.
pub fn limit() -> usize {
    Kind::all().len()
}

/// The integrations of a project itself, oldest first.
///
/// # Errors
/// When they cannot be read.
pub fn records(
    tx: &mut Tx<'_>,
    project: ProjectId,
    vault: &Vault,
) -> Result<Vec<IntegrationRecord>> {
    let rows = tx.integrations_of(Owner::Project(project))?;
    let known = rows.iter().filter_map(|row| Some((row, row.kind()?)));
    known.map(|(row, kind)| IntegrationRecord::new(row, kind, vault)).collect()
}

/// Looks whether there can be such integrations.
///
/// # Errors
/// `BadRequest` for one of an unknown kind, for a second one of a kind, and for values that no parameter takes.
pub fn ensure_sound(records: &[IntegrationRecord]) -> Result<()> {
    let mut kinds = HashSet::new();
    records.iter().try_for_each(|record| {
        let kind = Kind::find(&record.slug).filter(|kind| kinds.insert(kind.slug));
        let odd = || Error::bad_request().whole("its kind is not known, or comes twice");
        let kind = kind.ok_or_else(odd)?;
        match kind.parameters.iter().find(|one| !record.has_sound(one)) {
            Some(one) => Err(Error::invalid(one.name, "is invalid")),
            None => Ok(()),
        }
    })
}

/// Gives a project its integrations, but for kinds that somebody has set there meanwhile. One is off that lacks a value,
/// that goes to an address to which this installation does not go, or that inherits where nothing above the project gives
/// one of its kind. `groups` are those above, nearest first.
///
/// # Errors
/// When the database cannot be written.
pub fn restore(
    tx: &mut Tx<'_>,
    project: ProjectId,
    (vault, urls): (&Vault, &impl UrlRule),
    groups: &[NamespaceId],
    records: &[IntegrationRecord],
) -> Result<()> {
    let home = Owner::Project(project);
    let there: HashSet<String> =
        tx.integrations_of(home)?.into_iter().map(|row| row.slug).collect();
    let above: HashSet<String> = given(tx, groups)?.into_iter().map(|row| row.slug).collect();
    let mut rows = Vec::new();
    for record in records {
        let kind = Kind::find(&record.slug).filter(|kind| !there.contains(kind.slug));
        let Some(kind) = kind else { continue };
        let values = record.values(kind);
        let is_whole = record.secrets.is_empty() && ensure_valid(kind, urls, &values).is_ok();
        let mut row = Integration::fresh(home, kind, vault, tx.now)?;
        row.inherits = record.active && record.inherits && above.contains(kind.slug);
        row.active = row.inherits || record.active && !record.inherits && is_whole;
        record.complete(&mut row, tx.now);
        row.set(kind, vault, values)?;
        rows.push(row);
    }
    match rows.is_empty() {
        true => Ok(()),
        false => tx.insert_integrations(&rows),
    }
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// Whether a parameter that may be left out could have a value.
fn takes(parameter: &Parameter, value: &Value) -> bool {
    let has_type = match (parameter.kind, value) {
        (_, Value::Null) | (ParameterType::Text, Value::String(_)) => true,
        (ParameterType::Bool, value) => value.is_boolean(),
        (ParameterType::Integer, value) => value.is_i64(),
        (ParameterType::Text, _) => false,
    };
    has_type && (is_blank(value) || parameter.takes(value))
}

impl IntegrationRecord {
    fn new(row: &Integration, kind: &Kind, vault: &Vault) -> Result<Self> {
        let (mut properties, hidden) = (row.properties()?, row.secrets(vault)?);
        let mut secrets: Vec<String> = hidden
            .into_iter()
            .filter(|(_, value)| !is_blank(value))
            .map(|(name, _)| name)
            .collect();
        properties.retain(|name, value| {
            let has_user = value.as_str().is_some_and(names_user);
            if has_user {
                secrets.push(name.clone());
            }
            !has_user && kind.parameter(name).is_some_and(|one| takes(one, value))
        });
        Ok(Self {
            slug: row.slug.clone(),
            active: row.active,
            inherits: row.inherits,
            events: Flag::ALL.iter().copied().filter(|flag| row.flags.has(*flag)).collect(),
            properties,
            secrets,
            created_at: row.created_at.iso(),
            updated_at: row.updated_at.iso(),
        })
    }

    /// Whether it has no value for a parameter, or one that could be its value. Secrets it has none of.
    fn has_sound(&self, parameter: &Parameter) -> bool {
        let value = self.properties.get(parameter.name);
        value.is_none_or(|value| !parameter.secret && takes(parameter, value))
    }

    /// All values of a kind's parameters.
    fn values(&self, kind: &Kind) -> Values {
        let value = |one: &Parameter| match self.properties.get(one.name) {
            Some(value) => value.clone(),
            None if self.secrets.iter().any(|name| name == one.name) => Value::Null,
            None => one.initial(),
        };
        kind.parameters.iter().map(|one| (one.name.to_owned(), value(one))).collect()
    }

    /// Adds events and times.
    fn complete(&self, row: &mut Integration, now: Ts) {
        let moment = |text: &str| Ts::parse(text).filter(|at| *at <= now).unwrap_or(now);
        row.flags = Flags::of(&self.events);
        (row.created_at, row.updated_at) = (moment(&self.created_at), moment(&self.updated_at));
    }
}
