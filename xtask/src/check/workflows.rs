//! Foreign actions are named by the hash of what was read, and a workflow begins without any permission.

use anyhow::Result;

use super::outcome::{Outcome, none};
use crate::workspace::{files, shown};

pub(super) fn check() -> Result<Outcome> {
    let mut found = Vec::new();
    for file in files(&[".github/workflows/*"])? {
        let text = std::fs::read_to_string(&file)?;
        found.extend(
            findings(&text).into_iter().map(|finding| format!("{}: {finding}", shown(&file))),
        );
    }
    none(&found)
}

fn findings(workflow: &str) -> Vec<String> {
    let mut found = Vec::new();
    if !workflow.lines().any(|line| line == "permissions: {}") {
        found.push("does not say `permissions: {}`".to_owned());
    }
    for line in workflow.lines() {
        let Some((_, action)) = line.split_once("uses:") else { continue };
        let version = action
            .split_whitespace()
            .next()
            .and_then(|name| name.split_once('@'))
            .map_or("", |(_, v)| v);
        if version.len() != 40 || !version.chars().all(|c| c.is_ascii_hexdigit()) {
            found.push(format!("not pinned by hash:{action}"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_no_pin() {
        let pinned = format!("permissions: {{}}\n- uses: a/b@{}", "0f".repeat(20));

        assert!(findings(&pinned).is_empty());
        assert_eq!(findings("permissions: {}\n- uses: a/b@v5"), ["not pinned by hash: a/b@v5"]);
        assert_eq!(findings("on: push").len(), 1);
    }
}
