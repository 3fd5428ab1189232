//! Values of projects and groups as audit events tell them.

use kernel::{Error, Result};
use serde::Serialize;
use serde_json::{Map, Value};

/// The longest value that is told, in characters.
const LONGEST_VALUE: usize = 1000;

/// A value that is another one after a change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ValueChange {
    pub(crate) name: String,
    pub(crate) from: String,
    pub(crate) to: String,
}

/// The fields in which two records of one type differ. Those of `untold`, as secrets are, are left out.
pub(crate) fn value_changes(
    before: &impl Serialize,
    after: &impl Serialize,
    untold: &[&str],
) -> Result<Vec<ValueChange>> {
    let (before, after) = (fields(before)?, fields(after)?);
    let changes = after.iter().filter_map(|(name, to)| {
        let from = before.get(name).unwrap_or(&Value::Null);
        let is_told = from != to && !untold.contains(&name.as_str());
        is_told.then(|| ValueChange { name: name.clone(), from: text(from), to: text(to) })
    });
    Ok(changes.collect())
}

fn fields(record: &impl Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(record).map_err(Error::internal)? {
        Value::Object(fields) => Ok(fields),
        _ => Ok(Map::new()),
    }
}

fn text(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.chars().take(LONGEST_VALUE).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ValueChange, value_changes};

    #[test]
    fn fields_that_differ_are_told_with_both_values_but_no_secret() {
        let before = json!({ "name": "a", "limit": null, "lock": true, "token": "s3cret" });
        let after = json!({ "name": "a", "limit": 7, "lock": false, "token": "other" });
        let told = value_changes(&before, &after, &["token"]).unwrap();
        let change = |name: &str, from: &str, to: &str| ValueChange {
            name: name.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
        };
        assert_eq!(told, [change("limit", "", "7"), change("lock", "true", "false")]);
    }
}
