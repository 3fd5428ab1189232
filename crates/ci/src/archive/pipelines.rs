//! Pipelines.

use db::archive::{Column, LAST_NUMBER, Relation, is_one_of, is_sha};
use kernel::values::is_ref_name;

use super::status_of_copy;
use crate::{
    coverage,
    pipeline::{ConfigSource, Source},
};

/// What a newer pipeline may end of an older one.
const CANCEL_MODES: [&str; 3] = ["conservative", "interruptible", "none"];

pub(super) static PIPELINES: Relation = Relation {
    name: "pipelines",
    table: "pipelines",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::number("iid", 1, LAST_NUMBER),
        Column::choice("sha", is_sha),
        Column::choice("before_sha", is_sha).optional(),
        Column::choice("ref_name", is_ref_name),
        Column::flag("tag"),
        // It does not count where the copy has no rule for the branch or tag.
        Column::flag("protected"),
        Column::choice("source", is_one_of::<Source>),
        Column::word("status", status_of_copy),
        Column::flag("warnings"),
        Column::text("yaml_errors").optional(),
        Column::person("user_id").optional(),
        Column::choice("coverage", is_coverage).optional(),
        Column::count("duration").optional(),
        Column::moment("created_at"),
        Column::moment("updated_at"),
        Column::moment("started_at").optional(),
        Column::moment("finished_at").optional(),
        Column::line("name").optional(),
        Column::line("failure_reason").optional(),
        Column::row("merge_request_id", "merge_requests").optional(),
        Column::row("schedule_id", "pipeline_schedules").optional(),
        Column::choice("auto_cancel", |word| CANCEL_MODES.contains(&word)).optional(),
        Column::flag("cancel_on_failure"),
        Column::choice("config_source", is_one_of::<ConfigSource>).optional(),
    ],
    signed: None,
};

/// Whether a text is a number as databases and clients read it.
fn is_coverage(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let mut digits = text.strip_prefix('-').unwrap_or(text).bytes();
    digits.all(is_part) && text.parse::<f64>().is_ok_and(coverage::is_coverage)
}

#[cfg(test)]
mod tests {
    use super::is_coverage;

    fn check(is_one: fn(&str) -> bool, good: &[&str], bad: &[&str]) {
        assert!(good.iter().all(|text| is_one(text)), "{good:?}");
        assert!(!bad.iter().any(|text| is_one(text)), "{bad:?}");
    }

    #[test]
    fn values_are_as_the_server_writes_them() {
        let odd =
            ["", "-", "1-", "1e9", "inf", "NaN", "1.2.3", "x", "1000000001", &"9".repeat(400)];
        check(is_coverage, &["98.76", "0.00", "-1.50", "1000000000.00"], &odd);
    }
}
