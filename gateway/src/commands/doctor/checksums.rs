//! What the checks of checksums found, and taking the refs of a repository as they lie there.

use anyhow::Context as _;
use db::checksum::{self, ChecksumFailure, refs::RefHolder};
use forge::checksums::{accept_refs, has_other_refs};

use super::{super::output::print, Findings};
use crate::app::App;

/// So many are listed.
const LISTED: usize = 100;
/// One more, to know whether these are all.
const MOST: i64 = 101;

pub(super) async fn check(app: &App, findings: &mut Findings) -> anyhow::Result<()> {
    let found = app.db.read(|tx| checksum::failures(tx, MOST)).await?;
    let before = findings.wrong;
    for ChecksumFailure { kind, name, reason, .. } in found.iter().take(LISTED) {
        match RefHolder::parse(name) {
            // What was put right since the last check is told no more.
            Some(place) if !has_other_refs(app, place).await.unwrap_or(true) => {}
            Some(place) => findings.wrong(
                &format!("{place}: {reason}"),
                &format!(
                    "restore it from a backup; where its refs are as they should be: forgeway doctor --accept {place}"
                ),
            ),
            None => {
                findings.wrong(&format!("{kind}, {name}: {reason}"), "restore it from a backup");
            }
        }
    }
    if found.len() > LISTED {
        findings.wrong("there are more checksums that differ", "see to those above first");
    }
    if findings.wrong == before {
        findings.good("checksums of repositories and files are what they were");
    }
    Ok(())
}

/// Keeps the sums of repositories as their refs lie there.
pub(super) async fn accept(app: &App, places: &[String]) -> anyhow::Result<()> {
    let parsed = places.iter().map(|text| {
        let place = RefHolder::parse(text);
        place.with_context(|| {
            format!("`{text}` is none of repository-1, wiki-project-1 and wiki-group-1")
        })
    });
    for place in parsed.collect::<anyhow::Result<Vec<RefHolder>>>()? {
        let sum = accept_refs(app, place).await.with_context(|| place.to_string())?;
        print(&format!("{place} is taken as it is: its refs add up to {sum}\n"));
    }
    Ok(())
}
