//! CSV lines. Values that a spreadsheet would take for a formula are escaped.

use std::collections::HashMap;

use kernel::{
    Result, Ts,
    ids::{UserId, VulnerabilityId},
};
use time::macros::format_description;

use super::inspect::inspect;
use crate::{
    ports::ProjectNames,
    vulnerability::{Identifier, StateChange, Vulnerability},
};

/// The first line.
pub const HEADER: &str = "Group Name,Project Name,Tool,Scanner Name,Status,Vulnerability,Details,Additional Info,\
                          Severity,CVE,CWE,Other Identifiers,Detected At,Location,Activity,Comments\n";

/// The line of one vulnerability, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line(pub String);

impl Line {
    pub(super) fn new(
        names: &ProjectNames,
        row: &Vulnerability,
        changes: &[StateChange],
        usernames: &HashMap<UserId, String>,
    ) -> Result<Self> {
        let identifiers = row.identifier_list()?;
        let of_kind = |kind: &str| {
            let found = identifiers.iter().find(|one| one.kind.eq_ignore_ascii_case(kind));
            found.map(|one| one.value.clone())
        };
        let values = [
            names.group.clone(),
            Some(names.project.clone()),
            Some(row.report_type.to_string()),
            Some(row.scanner_name.clone()),
            Some(row.state.to_string()),
            Some(row.title.clone()),
            row.description.clone(),
            row.message.clone(),
            Some(row.severity.to_string()),
            of_kind("cve"),
            of_kind("cwe"),
            Some(others(&identifiers)),
            Some(moment(row.created_at)),
            Some(inspect(&row.location_fields()?)),
            Some(row.resolved_on_default_branch.to_string()),
            Some(comments(row.id, changes, usernames)),
        ];
        let fields: Vec<String> = values.iter().map(|value| field(value.as_deref())).collect();
        Ok(Self(fields.join(",") + "\n"))
    }
}

/// All identifiers but those of the two kinds that have columns of their own.
fn others(identifiers: &[Identifier]) -> String {
    let own = |one: &&Identifier| {
        !one.kind.eq_ignore_ascii_case("cve") && !one.kind.eq_ignore_ascii_case("cwe")
    };
    let names: Vec<&str> = identifiers.iter().filter(own).map(|one| one.name.as_str()).collect();
    names.join("; ")
}

fn comments(
    of: VulnerabilityId,
    changes: &[StateChange],
    usernames: &HashMap<UserId, String>,
) -> String {
    let own = changes.iter().filter(|change| change.vulnerability_id == of);
    let told = own.map(|change| {
        let name = change.user_id.and_then(|user| usernames.get(&user));
        let name = name.map_or("", String::as_str);
        format!("{}|{name}|{}|{}", moment(change.created_at), change.state, change.comment)
    });
    told.collect::<Vec<_>>().join("; ")
}

/// `2022-10-07 13:34:41 UTC`
fn moment(at: Ts) -> String {
    let form = format_description!("[year]-[month]-[day] [hour]:[minute]:[second] UTC");
    at.datetime().format(&form).unwrap_or_default()
}

/// What a spreadsheet takes for the beginning of a formula.
const FORMULA_SIGNS: [char; 5] = ['=', '+', '-', '@', ';'];

/// A value without one differs from an empty text.
fn field(value: Option<&str>) -> String {
    let Some(value) = value else { return String::new() };
    let value = value.replace('\n', "\\n");
    let value = match value.starts_with(FORMULA_SIGNS) {
        true => format!("'{value}"),
        false => value,
    };
    let is_plain = !value.is_empty()
        && !value.contains([',', '"', '\r'])
        && !value.starts_with(char::is_whitespace)
        && !value.ends_with(char::is_whitespace);
    match is_plain {
        true => value,
        false => format!("\"{}\"", value.replace('"', "\"\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::{HEADER, field};

    #[test]
    fn the_header_has_sixteen_columns() {
        assert_eq!(HEADER.trim_end().split(',').count(), 16);
    }

    #[test]
    fn values_are_quoted_where_they_must_be() {
        for (value, written) in [
            (None, ""),
            (Some(""), "\"\""),
            (Some("plain text"), "plain text"),
            (Some("a,b"), "\"a,b\""),
            (Some("say \"no\""), "\"say \"\"no\"\"\""),
            (Some("one\ntwo"), "one\\ntwo"),
            (Some("a\rb"), "\"a\rb\""),
            (Some(" a"), "\" a\""),
        ] {
            assert_eq!(field(value), written, "{value:?}");
        }
    }

    #[test]
    fn formulas_are_disarmed() {
        for value in ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", ";x"] {
            assert_eq!(field(Some(value)), format!("'{value}"));
        }
        assert_eq!(field(Some("=1,2")), "\"'=1,2\"");
        assert_eq!(field(Some("a=1")), "a=1");
    }
}
