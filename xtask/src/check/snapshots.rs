//! Snapshots that no test refers to any more.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::outcome::{Outcome, none};
use crate::workspace::{files, root, shown};

pub(super) fn check() -> Result<Outcome> {
    let mut found = Vec::new();
    for file in files(&["*.snap"])? {
        let text = std::fs::read_to_string(&file)?;
        let source = source(&text, &file).map(std::fs::read_to_string).and_then(Result::ok);
        let name = name(&file);
        if !source.is_some_and(|source| source.contains(&name)) {
            found.push(format!("{}: no test refers to {name}", shown(&file)));
        }
    }
    none(&found)
}

/// The file that asserted it, as its own head says: from the root of the workspace.
fn source(snapshot: &str, file: &Path) -> Option<PathBuf> {
    let named = snapshot.lines().find_map(|line| line.strip_prefix("source: "))?.trim_matches('"');
    let path = root().join(named);
    path.is_file().then_some(path).or_else(|| {
        let beside = file.parent()?.parent()?.join(Path::new(named).file_name()?);
        beside.is_file().then_some(beside)
    })
}

/// `it__rest__jobs__cancel_stops_a_running_job-2.snap` belongs to `cancel_stops_a_running_job`.
fn name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let last = stem.rsplit("__").next().unwrap_or_default();
    match last.rsplit_once('-') {
        Some((name, number)) if number.chars().all(|c| c.is_ascii_digit()) => name.to_owned(),
        _ => last.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_tells_its_test() {
        assert_eq!(name(Path::new("a/snapshots/it__jobs__stops_it-2.snap")), "stops_it");
        assert_eq!(name(Path::new("a/snapshots/it__jobs__the-table.snap")), "the-table");
    }
}
