//! Packages in several versions: the older ones are listed in `deny.toml`, each with who brings it, so that the next one is seen.
//!
//! `cargo deny` says the same where it is installed; this needs nothing but the lock file.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

use super::outcome::{Outcome, none};
use crate::workspace::root;

pub(super) fn check() -> Result<Outcome> {
    let lock = std::fs::read_to_string(root().join("Cargo.lock"))?;
    let rules = std::fs::read_to_string(root().join("deny.toml"))?;
    none(&findings(&older_versions(&lock), &skipped(&rules).context("deny.toml has no `skip`")?))
}

/// `name@version` of all versions of a package but the one that the lock file names last, which is the newest.
fn older_versions(lock: &str) -> BTreeSet<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let field = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim_matches('"'))
        };
        if let (Some(name), Some(version)) = (field("name = "), field("version = ")) {
            versions.entry(name).or_default().push(version);
        }
    }
    let older = versions.iter().flat_map(|(name, versions)| {
        let older = versions.split_last().map_or(&[][..], |(_, older)| older);
        older.iter().map(move |version| format!("{name}@{version}"))
    });
    older.collect()
}

/// The packages in `skip`.
fn skipped(rules: &str) -> Option<BTreeSet<String>> {
    let list = rules.split_once("\nskip = [")?.1.split_once("\n]")?.0;
    let names = list.lines().filter_map(|line| line.split_once("crate = \"")?.1.split('"').next());
    Some(names.map(str::to_owned).collect())
}

fn findings(older: &BTreeSet<String>, skipped: &BTreeSet<String>) -> Vec<String> {
    let new = older.difference(skipped).map(|package| {
        format!("{package} is a second version: use one, or say in deny.toml who brings it")
    });
    let gone = skipped.difference(older).map(|package| {
        format!("{package} is skipped in deny.toml, and no older version of anything any more")
    });
    new.chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::{findings, older_versions, skipped};

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\n\
        [[package]]\nname = \"b\"\nversion = \"0.9.0\"\n\n[[package]]\nname = \"b\"\nversion = \"0.10.0\"\n";

    #[test]
    fn a_second_version_is_named_with_a_reason() {
        let older = older_versions(LOCK);
        let with = |names: &str| skipped(&format!("[bans]\nskip = [\n{names}\n]\n")).unwrap();
        assert!(findings(&older, &with("    { crate = \"b@0.9.0\", reason = \"a\" },")).is_empty());
        assert_eq!(findings(&older, &with("")).len(), 1);
        assert_eq!(
            findings(&older, &with("    { crate = \"b@0.8.0\", reason = \"a\" },")).len(),
            2
        );
        assert!(skipped("[bans]").is_none());
    }
}
