//! Whatever is sealed is known to who opens the vault, and to who forgets what it holds: each column `sealed` of the schema
//! is of a table in that list.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use super::outcome::{Outcome, none};
use crate::{schema, workspace::root};

const LISTS: [&str; 5] = [
    "crates/admin/src/sealed.rs",
    "crates/ci/src/sealed.rs",
    "crates/geo/src/sealed.rs",
    "crates/org/src/sealed.rs",
    "crates/security/src/sealed.rs",
];

pub(super) fn check() -> Result<Outcome> {
    let schema = std::fs::read_to_string(schema::file())?;
    let mut all = BTreeSet::new();
    for list in LISTS {
        let source = std::fs::read_to_string(root().join(list))?;
        all.extend(listed(&source).context(list)?);
    }
    none(&differences(&sealed_tables(&schema), &all))
}

/// Tables of a schema in diesel's words that have a column `sealed`.
fn sealed_tables(schema: &str) -> BTreeSet<String> {
    let tables = schema.split("diesel::table! {").skip(1);
    let is_sealed =
        |table: &&str| table.lines().any(|line| line.trim_start().starts_with("sealed ->"));
    let name = |table: &str| Some(table.trim_start().split_once(' ')?.0.to_owned());
    tables.filter(is_sealed).filter_map(name).collect()
}

/// The names in `SEALED_TABLES`.
fn listed(source: &str) -> Option<BTreeSet<String>> {
    let list = source
        .split_once("SEALED_TABLES")?
        .1
        .split_once('=')?
        .1
        .split_once('[')?
        .1
        .split_once("];")?
        .0;
    Some(list.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

fn differences(sealed: &BTreeSet<String>, listed: &BTreeSet<String>) -> Vec<String> {
    let missing = sealed.difference(listed).map(|table| {
        format!("{table} has a column `sealed`, and is in SEALED_TABLES of none of {LISTS:?}")
    });
    let needless = listed.difference(sealed).map(|table| {
        format!("{table} is in SEALED_TABLES of one of {LISTS:?}, and has no column `sealed`")
    });
    missing.chain(needless).collect()
}

#[cfg(test)]
mod tests {
    use super::{differences, listed, sealed_tables};

    const SCHEMA: &str = "diesel::table! {\n    a (id) {\n        sealed -> Text,\n    }\n}\n\
        diesel::table! {\n    b (id) {\n        unsealed -> Text,\n    }\n}\n\
        diesel::table! {\n    c (id) {\n        sealed -> Nullable<Text>,\n    }\n}\n";

    #[test]
    fn a_sealed_table_that_nobody_lists_is_found() {
        let list = |names: &str| listed(&format!("const SEALED_TABLES: [&str; 2] = [{names}];"));
        let sealed = sealed_tables(SCHEMA);
        assert!(differences(&sealed, &list("\"a\", \"c\"").unwrap()).is_empty());
        assert_eq!(differences(&sealed, &list("\"a\"").unwrap()).len(), 1);
        assert_eq!(differences(&sealed, &list("\"a\", \"b\", \"c\"").unwrap()).len(), 1);
        assert!(listed("nothing").is_none());
    }
}
