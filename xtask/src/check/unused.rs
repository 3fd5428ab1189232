//! Dependencies that a manifest lists and no source of its crate names.

use anyhow::Result;

use super::outcome::{Outcome, none};
use crate::workspace::{Kind, Package, files, packages, shown};

/// Never named in code: listed so that the library they bring is built from source and linked in.
const LINKED_ONLY: &[&str] = &["libsqlite3_sys", "pq_sys"];

pub(super) fn check() -> Result<Outcome> {
    let mut found = Vec::new();
    for package in packages()? {
        found.extend(unused(&package, &sources(&package)?));
    }
    none(&found)
}

/// The text of a crate's own sources, and that of its tests, benches and examples.
fn sources(package: &Package) -> Result<(String, String)> {
    let folder = shown(&package.folder);
    let (mut own, mut tests) = (String::new(), String::new());
    for file in files(&[&format!("{folder}/*.rs")])? {
        let part =
            if shown(&file).starts_with(&format!("{folder}/src/")) { &mut own } else { &mut tests };
        part.push_str(&std::fs::read_to_string(&file)?);
    }
    Ok((own, tests))
}

fn unused(package: &Package, (own, tests): &(String, String)) -> Vec<String> {
    let mut found = Vec::new();
    for dependency in &package.dependencies {
        // A crate may name itself for its tests, to turn one of its features on.
        if dependency.package == format!("forgeway-{}", package.name) {
            continue;
        }
        let name = dependency.identifier.as_str();
        let used = names(own, name) || (dependency.kind == Kind::Development && names(tests, name));
        if !used && dependency.kind != Kind::Build && !LINKED_ONLY.contains(&name) {
            found.push(format!("{}: {} is not used", package.name, dependency.package));
        }
    }
    found
}

/// Whether the text holds the word, outside line comments.
fn names(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| {
        line.match_indices(word).any(|(place, _)| {
            let (before, after) = (&line[..place], &line[place + word.len()..]);
            let path = after.starts_with("::")
                || before.trim_end().ends_with("use")
                || before.contains("extern crate");
            !before.ends_with(part) && !after.starts_with(part) && path
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_where_a_path_begins() {
        assert!(names("use bytes::Bytes;", "bytes"));
        assert!(names("    let x = hex::encode(y);", "hex"));
        assert!(!names("// hex::encode", "hex"));
        assert!(!names("let bytes = 1;", "bytes"));
        assert!(!names("my_hex::encode", "hex"));
    }
}
