//! Counting what a node holds, from the rows of what is there.

use db::{Tx, checksum::ChecksumCount};
use kernel::Result;

use super::{Counters, replication};

/// Under which names the repositories of a kind are counted.
const REPOSITORIES: [(&str, &[&str]); 3] = [
    (db::checksum::refs::REPOSITORY, &["repositories", "project_repositories"]),
    (db::checksum::refs::WIKI, &["wikis", "project_wiki_repositories"]),
    (db::checksum::refs::GROUP_WIKI, &["group_wiki_repositories"]),
];

/// Under which names the files of a kind of storage are counted. Pictures of people and projects are uploads, too.
const FILES: [(&str, &str); 4] = [
    ("lfs", "lfs_objects"),
    ("artifacts", "job_artifacts"),
    ("uploads", "uploads"),
    ("avatars", "uploads"),
];

/// Everything that is counted in this crate's reach. What an installation cannot hold is left out.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn count(tx: &mut Tx<'_>) -> Result<Counters> {
    let mut counters = Counters::default();
    let refs = db::checksum::refs::counts(tx)?;
    for (kind, names) in REPOSITORIES {
        for name in names {
            add(&mut counters, name, of_kind(&refs, kind));
        }
    }
    let checked = of_kind(&refs, db::checksum::refs::REPOSITORY);
    counters.set("repositories_checked_count", checked.checked);
    counters.set("repositories_checked_failed_count", checked.failed);
    let files = db::checksum::files::counts(tx)?;
    for (kind, name) in FILES {
        add(&mut counters, name, of_kind(&files, kind));
    }
    if let Some(slots) = replication::slots(tx)? {
        counters.set("replication_slots_count", slots.count);
        counters.set("replication_slots_used_count", slots.used);
        let bytes = slots.max_retained_wal_bytes.unwrap_or(0);
        counters.set("replication_slots_max_retained_wal_bytes", bytes);
    }
    Ok(counters)
}

/// Nothing of a kind has no row.
fn of_kind(all: &[ChecksumCount], kind: &str) -> ChecksumCount {
    all.iter().find(|count| count.kind == kind).cloned().unwrap_or_default()
}

#[expect(clippy::needless_pass_by_value, reason = "callers hand over what they need no more")]
fn add(counters: &mut Counters, of: &str, count: ChecksumCount) {
    for (name, more) in [
        ("count", count.total),
        ("checksum_total_count", count.total),
        ("checksummed_count", count.checksummed),
        ("checksum_failed_count", count.failed),
    ] {
        let name = format!("{of}_{name}");
        let before = counters.get(&name).unwrap_or(0);
        counters.set(&name, before.saturating_add(more));
    }
}
