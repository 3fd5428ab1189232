//! A case, as its element tells it.

use serde_json::{Map, Value};

use super::{Case, CaseStatus, bounded_time, element::number};

impl Case {
    /// What the attributes and children of its element say.
    pub(super) fn of(fields: &Map<String, Value>) -> Self {
        let text = |key: &str| fields.get(key)?.as_str().map(str::to_owned);
        let outcomes = [
            ("failure", CaseStatus::Failed),
            ("error", CaseStatus::Error),
            ("skipped", CaseStatus::Skipped),
        ];
        let outcome = outcomes.into_iter().find(|(key, _)| fields.contains_key(*key));
        let (key, status) = outcome.unwrap_or(("", CaseStatus::Success));
        let output = text("system_out").filter(|_| status == CaseStatus::Failed);
        Self {
            status,
            name: text("name")
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| "(No name)".to_owned()),
            classname: text("classname"),
            file: text("file"),
            execution_time: text("time").map_or(0.0, |time| bounded_time(number(&time))),
            system_output: fields.get(key).filter(|value| !value.is_null()).cloned(),
            attachment: output.as_deref().and_then(attachment),
        }
    }
}

/// The path of `[[ATTACHMENT|path]]`.
fn attachment(output: &str) -> Option<String> {
    let (_, rest) = output.split_once("[[ATTACHMENT|")?;
    let (path, _) = rest.split_once("]]")?;
    let sound = !path.is_empty() && !path.contains(['[', ']', '|']);
    sound.then(|| path.to_owned())
}
