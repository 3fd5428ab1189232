//! Counting what a node holds, from the rows of what is there.

use db::{Tx, checksum::ChecksumCount};
use kernel::Result;

use super::{Counters, replication};
use crate::role::Role;

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

/// Everything that is counted in this crate's reach. What an installation cannot hold is left out. The rows of a
/// secondary say how much there is to copy; what was checked was checked at the primary.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn count(tx: &mut Tx<'_>, role: Role) -> Result<Counters> {
    let add = match role {
        Role::Primary => add_checked,
        Role::Secondary => add_total,
    };
    let mut counters = Counters::default();
    let refs = db::checksum::refs::counts(tx)?;
    for (kind, names) in REPOSITORIES {
        for name in names {
            add(&mut counters, name, &of_kind(&refs, kind));
        }
    }
    if role == Role::Primary {
        let checked = of_kind(&refs, db::checksum::refs::REPOSITORY);
        counters.set("repositories_checked_count", checked.checked);
        counters.set("repositories_checked_failed_count", checked.failed);
    }
    let files = db::checksum::files::counts(tx)?;
    for (kind, name) in FILES {
        add(&mut counters, name, &of_kind(&files, kind));
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

fn add_checked(counters: &mut Counters, of: &str, count: &ChecksumCount) {
    add_total(counters, of, count);
    for (name, more) in [
        ("checksum_total_count", count.total),
        ("checksummed_count", count.checksummed),
        ("checksum_failed_count", count.failed),
    ] {
        increase(counters, &format!("{of}_{name}"), more);
    }
}

fn add_total(counters: &mut Counters, of: &str, count: &ChecksumCount) {
    increase(counters, &format!("{of}_count"), count.total);
}

fn increase(counters: &mut Counters, name: &str, more: i64) {
    let before = counters.get(name).unwrap_or(0);
    counters.set(name, before.saturating_add(more));
}
