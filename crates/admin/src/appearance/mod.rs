//! The appearance of the installation: names, texts and pictures.

mod model;
mod store;

use db::Tx;
use kernel::{
    Error, Grant, Result,
    access::Administrate,
    audit::{AuditPlace, AuditRecord},
};
use serde_json::{Map, Value};

pub use model::{Appearance, Picture};
pub use store::AppearanceStore;

/// Keeps what `change` made of the appearance, if that can be.
pub fn update(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    change: impl FnOnce(&mut Appearance),
) -> Result<Appearance> {
    tx.lock_appearance()?;
    let mut appearance = tx.appearance()?;
    let before = values(&appearance)?;
    change(&mut appearance);
    appearance.check()?;
    tx.save_appearance(&appearance)?;
    record_changes(tx, &before, &values(&appearance)?);
    Ok(appearance)
}

/// What is told of a value is no longer than this.
const LONGEST_VALUE: usize = 1000;

fn values(appearance: &Appearance) -> Result<Map<String, Value>> {
    match serde_json::to_value(appearance).map_err(Error::internal)? {
        Value::Object(values) => Ok(values),
        _ => Ok(Map::new()),
    }
}

/// Writes down each value that changed.
fn record_changes(tx: &mut Tx<'_>, before: &Map<String, Value>, after: &Map<String, Value>) {
    let shown = |value: Option<&Value>| -> String {
        let text = match value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        text.chars().take(LONGEST_VALUE).collect()
    };
    for (name, to) in after {
        let from = before.get(name);
        if from != Some(to) {
            let change = AuditRecord::change("appearance_updated", AuditPlace::Instance, name);
            let change = change.values(shown(from), shown(Some(to)));
            tx.mention(change.target("Appearance", 1, "Appearance"));
        }
    }
}
