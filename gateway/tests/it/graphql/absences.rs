//! Fields that are in the schema for the sake of clients alone.

use std::collections::BTreeSet;

const MANUAL: &str = include_str!("../../../../docs/api.md");

/// The names in backticks.
fn names(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// `Type.field` of each field that the manual says to be nothing here.
fn told() -> BTreeSet<String> {
    let section = MANUAL.split("## What GraphQL does not have").nth(1).expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let items = section.split("\n- ").skip(1).filter_map(|item| item.split("\n\n").next());
    let pairs = items.filter_map(|item| item.split_once(':'));
    let named = pairs.flat_map(|(types, fields)| {
        names(types)
            .into_iter()
            .flat_map(move |on| names(fields).into_iter().map(move |field| format!("{on}.{field}")))
    });
    named.collect()
}

#[test]
fn the_manual_names_all_that_does_not_exist() {
    let schema = resolvers::schema().expect("the schema fits its resolvers");
    let known: BTreeSet<String> = schema.unsupported().into_iter().collect();
    let told = told();
    let missing: Vec<&String> = known.difference(&told).collect();
    let surplus: Vec<&String> = told.difference(&known).collect();
    assert!(missing.is_empty() && surplus.is_empty(), "missing {missing:?}, surplus {surplus:?}");
}
