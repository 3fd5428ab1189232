//! Specifications of jobs, which many jobs share.

use db::archive::{ArchiveRow, Column, Relation};
use serde_json::Value;

use crate::{
    config::{
        duration::LONGEST_TIMEOUT,
        options::{MOST_COPIES, MOST_RETRIES, Options},
    },
    job::{JobSpec, LONGEST_BODY, LONGEST_TAGS, spec_digest},
};

pub(super) static SPECS: Relation = Relation {
    name: "job_specs",
    table: "job_specs",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        // Later pipelines find what they share by it: it must be that of the body.
        Column::derived("digest", digest),
        Column::choice("body", is_body),
        Column::choice("tags", is_tags).optional(),
    ],
    signed: None,
};

fn digest(row: &ArchiveRow) -> Option<String> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    Some(spec_digest(text("tags"), text("body")?))
}

/// Whether a job can be handed out by a text.
fn is_body(text: &str) -> bool {
    let is_spec = || {
        let spec = serde_json::from_str::<JobSpec>(text);
        spec.is_ok_and(|spec| has_numbers_of_configuration(&spec.options))
    };
    text.len() <= LONGEST_BODY && is_spec() && serde_json::from_str(text).is_ok_and(is_storable)
}

/// Whether numbers are within the bounds that configurations obey.
fn has_numbers_of_configuration(options: &Options) -> bool {
    let retries = options.retry.as_ref().and_then(|retry| retry.max);
    let parallel = options.parallel.as_ref();
    let copies =
        [parallel.map(|all| all.total), parallel.and_then(|all| all.number), options.instance];
    retries.is_none_or(|most| i64::from(most) <= MOST_RETRIES)
        && options.job_timeout.is_none_or(|seconds| seconds <= LONGEST_TIMEOUT)
        && copies.into_iter().flatten().all(|number| number <= MOST_COPIES)
}

fn is_tags(text: &str) -> bool {
    let tags = || serde_json::from_str::<Vec<String>>(text);
    text.len() <= LONGEST_TAGS
        && tags().is_ok_and(|tags| !tags.iter().any(|tag| tag.contains('\0')))
}

/// Whether databases and environments of processes take all texts in a value: none has a zero byte.
fn is_storable(value: Value) -> bool {
    let mut open = vec![value];
    while let Some(next) = open.pop() {
        match next {
            Value::String(text) if text.contains('\0') => return false,
            Value::Array(all) => open.extend(all),
            Value::Object(fields) => {
                for (name, value) in fields {
                    open.extend([Value::String(name), value]);
                }
            }
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{digest, is_body, is_tags};
    use crate::job::spec_digest;

    #[test]
    fn a_specification_is_one_that_a_job_can_be_handed_out_by() {
        let sound = r#"{"options":{"script":["make"]},"variables":[],"needs":null}"#;
        assert!(is_body(sound) && is_tags(r#"["linux"]"#));
        assert!(is_body(
            r#"{"options":{"retry":{"max":2},"job_timeout":2592000,"instance":200,"parallel":{"total":200}}}"#
        ));
        for bad in [
            "",
            "[]",
            "{}",
            r#"{"options":{"script":"make"}}"#,
            r#"{"options":{"retry":{"max":1000}}}"#,
            r#"{"options":{"retry":{"max":255}}}"#,
            r#"{"options":{"job_timeout":2592001}}"#,
            r#"{"options":{"instance":201}}"#,
            r#"{"options":{"parallel":{"number":3,"total":201}}}"#,
            r#"{"options":{"script":["a\u0000b"]}}"#,
            r#"{"options":{"release":{"a\u0000b":1}}}"#,
        ] {
            assert!(!is_body(bad), "{bad}");
        }
        for bad in ["", "{}", "[1]", r#"["a\u0000b"]"#] {
            assert!(!is_tags(bad), "{bad}");
        }
    }

    #[test]
    fn the_digest_is_that_of_the_text_whatever_an_archive_says() {
        let row = json!({ "id": 1, "digest": "0".repeat(40), "body": "{}", "tags": "[]" });
        let found = digest(row.as_object().unwrap());
        assert_eq!(found, Some(spec_digest(Some("[]"), "{}")));
        assert_ne!(found, Some(spec_digest(None, "{}")));
    }
}
