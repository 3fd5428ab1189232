//! All settings as one JSON object: the fields of [`Settings`] and what is kept beside them, with their defaults.

mod mask;

use kernel::{Error, Faults, Result};
use serde_json::{Map, Value};

use self::mask::masked;
use super::{
    Settings, rules,
    table::{self, Setting, check},
};

/// Settings with their new values, as a request gives them.
#[derive(Clone, Debug, Default)]
pub struct SettingValues(pub Vec<(&'static Setting, Value)>);

/// The change of one setting. Values of secrets are left out, as are credentials and queries of URLs in other values.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Change {
    pub name: &'static str,
    pub from: Value,
    pub to: Value,
}

impl Settings {
    /// The value of any setting: of secrets, what is stored.
    pub fn value(&self, name: &str) -> Result<Value> {
        if let Some(value) = self.other.get(name) {
            return Ok(value.clone());
        }
        let typed = serde_json::to_value(self).map_err(Error::internal)?;
        Ok(typed.get(name).unwrap_or(table::default(name)).clone())
    }

    /// Every setting with its value: of secrets, what is stored.
    pub fn document(&self) -> Result<Map<String, Value>> {
        let mut stored = self.stored_values()?;
        let values = table::all().map(|setting| {
            let value = stored.remove(setting.name);
            (setting.name.to_owned(), value.unwrap_or_else(|| table::default(setting.name).clone()))
        });
        Ok(values.collect())
    }

    fn stored_values(&self) -> Result<Map<String, Value>> {
        match serde_json::to_value(self).map_err(Error::internal)? {
            Value::Object(values) => Ok(values),
            _ => Ok(Map::new()),
        }
    }

    /// These settings with the given values, and what that changes. `seal` makes of the clear text of a secret what is stored:
    /// of the one that is stored already, the same.
    pub fn changed(
        &self,
        given: &SettingValues,
        seal: impl Fn(&Setting, &str) -> Result<String>,
    ) -> Result<(Self, Vec<Change>)> {
        let mut faults = Faults::default();
        given.0.iter().for_each(|(setting, value)| check(setting, value, &mut faults));
        let mut values = self.stored_values()?;
        let mut changes = Vec::new();
        for (setting, value) in &given.0 {
            let before = values.get(setting.name).unwrap_or(table::default(setting.name)).clone();
            let after = match value {
                Value::String(clear) if setting.is_secret() && !clear.is_empty() => {
                    seal(setting, clear)?.into()
                }
                value => value.clone(),
            };
            let is_unset = |value: &Value| value.is_null() || value == "";
            let stays_unset = setting.is_secret() && is_unset(&before) && is_unset(&after);
            if before != after && !stays_unset {
                changes.push(Change::of(setting, &before, &after));
                values.insert(setting.name.to_owned(), after);
            }
        }
        // What the table refuses may not even fit a field.
        faults.into_result()?;
        rules::check(&values, given, &changes)?;
        let settings: Self =
            serde_json::from_value(Value::Object(values)).map_err(Error::internal)?;
        settings.faults().into_result()?;
        Ok((settings, changes))
    }
}

impl Change {
    fn of(setting: &Setting, from: &Value, to: &Value) -> Self {
        match setting.is_secret() {
            true => Self { name: setting.name, from: Value::Null, to: Value::Null },
            false => Self { name: setting.name, from: masked(from), to: masked(to) },
        }
    }
}
