//! An integration as it is stored: secrets sealed for its home and kind.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, TextEnum as _, Ts,
    ids::{IntegrationId, NamespaceId, ProjectId},
};
use secrets::{Secret, UnsealError, Vault};
use serde_json::{Map, Value};

use super::{Kind, catalog::Class};
use crate::{
    flags::{Flag, Flags},
    owner::Owner,
};

/// Values of parameters, by their names.
pub type Values = Map<String, Value>;

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::integrations, check_for_backend(db::AnyBackend))]
pub struct Integration {
    pub id: IntegrationId,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub slug: String,
    pub active: bool,
    /// Whether its settings are those of the nearest group above.
    pub inherits: bool,
    pub flags: Flags,
    /// A JSON object of what is no secret.
    pub properties: String,
    pub sealed: String,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Integration {
    /// One that nobody has set yet.
    pub(super) fn fresh(home: Owner, kind: &Kind, vault: &Vault, now: Ts) -> Result<Self> {
        let (project_id, namespace_id) = home.columns();
        let mut fresh = Self {
            id: IntegrationId(0),
            project_id,
            namespace_id,
            slug: kind.slug.to_owned(),
            active: false,
            inherits: false,
            flags: kind.initial_flags(),
            properties: String::new(),
            sealed: String::new(),
            created_at: now,
            updated_at: now,
        };
        let values = kind.parameters.iter().map(|one| (one.name.to_owned(), one.initial()));
        fresh.set(kind, vault, values.collect())?;
        Ok(fresh)
    }

    pub fn home(&self) -> Owner {
        Owner::of(self.project_id, self.namespace_id)
    }

    /// For what its secrets are sealed.
    pub(crate) fn place(&self) -> String {
        format!("integration/{}/{}", self.home().place(), self.slug)
    }

    /// Its kind; none where a newer version knew one that is not known here.
    pub fn kind(&self) -> Option<&'static Kind> {
        Kind::find(&self.slug)
    }

    /// What is no secret.
    pub fn properties(&self) -> Result<Values> {
        serde_json::from_str(&self.properties).map_err(Error::internal)
    }

    fn is_on(&self, name: &str) -> bool {
        let value = self.properties().ok().and_then(|values| values.get(name)?.as_bool());
        value.unwrap_or_default()
    }

    pub(crate) fn unseal(&self, vault: &Vault) -> Result<Secret, UnsealError> {
        vault.unseal(&self.place(), &self.sealed)
    }

    /// The secrets in clear.
    pub(super) fn secrets(&self, vault: &Vault) -> Result<Values> {
        let clear = self.unseal(vault).map_err(Error::internal)?;
        serde_json::from_str(clear.reveal()).map_err(Error::internal)
    }

    /// All values in clear: for who sends to where they say.
    pub fn values(&self, vault: &Vault) -> Result<Values> {
        let mut values = self.properties()?;
        values.extend(self.secrets(vault)?);
        Ok(values)
    }

    /// Keeps values: secrets apart from the rest.
    pub(super) fn set(&mut self, kind: &Kind, vault: &Vault, values: Values) -> Result<()> {
        let is_secret = |name: &str| kind.parameter(name).is_none_or(|parameter| parameter.secret);
        let (hidden, shown): (Values, Values) =
            values.into_iter().partition(|(name, _)| is_secret(name));
        self.properties = Value::Object(shown).to_string();
        let hidden = Secret::new(Value::Object(hidden).to_string());
        self.sealed = vault.seal(&self.place(), &hidden).map_err(Error::internal)?;
        Ok(())
    }
}

/// The integration of a project or group with the settings in effect: its own, or those of an ancestor.
#[derive(Clone, Debug)]
pub struct EffectiveIntegration {
    pub row: Integration,
    /// Whose settings count.
    pub source: Integration,
    /// Whether these are, or are to be, those of a group above or of the installation.
    pub is_inherited: bool,
}

impl EffectiveIntegration {
    pub(super) fn own(row: Integration) -> Self {
        Self { is_inherited: row.inherits, source: row.clone(), row }
    }

    /// Of a group above, where the place itself has none.
    pub(super) fn given(row: Integration) -> Self {
        Self { is_inherited: true, ..Self::own(row) }
    }

    pub fn has(&self, flag: Flag) -> bool {
        match flag {
            // A parameter of the one kind that has it.
            Flag::ArchivedTraces => self.source.is_on(flag.as_str()),
            _ => self.source.flags.has(flag),
        }
    }

    /// Whether it is told of such events.
    pub fn hears(&self, flag: Flag) -> bool {
        let Some(kind) = self.source.kind() else { return false };
        let sends = !matches!(kind.class, Class::Issues | Class::Silent | Class::Commands);
        self.source.active && sends && kind.events.contains(&flag) && self.has(flag)
    }
}
