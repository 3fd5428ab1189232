//! The figures of a status: counters by their names, and what is worked out from them.

use std::{collections::BTreeMap, sync::LazyLock};

use kernel::{Error, Result};

/// Kinds of things that are copied one by one.
const KINDS: [&str; 20] = [
    "lfs_objects",
    "job_artifacts",
    "container_repositories",
    "merge_request_diffs",
    "package_files",
    "terraform_state_versions",
    "snippet_repositories",
    "group_wiki_repositories",
    "pages_deployments",
    "uploads",
    "pipeline_artifacts",
    "ci_secure_files",
    "dependency_proxy_blobs",
    "dependency_proxy_manifests",
    "design_management_repositories",
    "project_repositories",
    "project_wiki_repositories",
    "packages_nuget_symbols",
    "packages_helm_metadata_caches",
    "supply_chain_attestations",
];

/// What is counted of each kind.
const OF_KIND: [&str; 11] = [
    "count",
    "checksum_total_count",
    "checksummed_count",
    "checksum_failed_count",
    "synced_count",
    "synced_missing_on_primary_count",
    "failed_count",
    "registry_count",
    "verification_total_count",
    "verified_count",
    "verification_failed_count",
];

/// What is counted of repositories and of wikis.
const OF_REPOSITORIES: [&str; 9] = [
    "count",
    "failed_count",
    "synced_count",
    "checksummed_count",
    "checksum_failed_count",
    "verified_count",
    "verification_failed_count",
    "checksum_mismatch_count",
    "retrying_verification_count",
];

const SINGLE: [&str; 13] = [
    "design_repositories_count",
    "design_repositories_synced_count",
    "design_repositories_failed_count",
    "projects_count",
    "replication_slots_count",
    "replication_slots_used_count",
    "replication_slots_max_retained_wal_bytes",
    "repositories_checked_count",
    "repositories_checked_failed_count",
    "git_fetch_event_count_weekly",
    "git_push_event_count_weekly",
    "proxy_remote_requests_event_count_weekly",
    "proxy_local_requests_event_count_weekly",
];

/// One field of a status that is a number, or a part of one in hundredths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Figure {
    Count(String),
    Percentage { name: String, part: String, whole: String },
}

impl Figure {
    pub fn name(&self) -> &str {
        match self {
            Self::Count(name) | Self::Percentage { name, .. } => name,
        }
    }
}

/// All figures in the order in which they are shown.
pub static FIGURES: LazyLock<Vec<Figure>> = LazyLock::new(|| {
    let mut all: Vec<Figure> = KINDS.iter().flat_map(|kind| of_kind(kind)).collect();
    all.extend(["repositories", "wikis"].into_iter().flat_map(of_repositories));
    all.extend(SINGLE.map(|name| Figure::Count(name.to_owned())));
    all.push(percentage("design_repositories", "synced", "count"));
    all.push(Figure::Percentage {
        name: "replication_slots_used_in_percentage".to_owned(),
        part: "replication_slots_used_count".to_owned(),
        whole: "replication_slots_count".to_owned(),
    });
    all.push(percentage("repositories", "checked", "count"));
    all
});

fn counts(of: &str, names: &[&str]) -> Vec<Figure> {
    names.iter().map(|name| Figure::Count(format!("{of}_{name}"))).collect()
}

fn percentage(of: &str, part: &str, whole: &str) -> Figure {
    Figure::Percentage {
        name: format!("{of}_{part}_in_percentage"),
        part: format!("{of}_{part}_count"),
        whole: format!("{of}_{whole}"),
    }
}

fn of_kind(kind: &str) -> Vec<Figure> {
    let parts = ["synced", "verified"].map(|part| percentage(kind, part, "registry_count"));
    [counts(kind, &OF_KIND), parts.to_vec()].concat()
}

fn of_repositories(of: &str) -> Vec<Figure> {
    let parts = ["synced", "checksummed", "verified"].map(|part| percentage(of, part, "count"));
    [counts(of, &OF_REPOSITORIES), parts.to_vec()].concat()
}

/// Whether a counter of this name exists.
pub fn is_counter(name: &str) -> bool {
    FIGURES.iter().any(|figure| matches!(figure, Figure::Count(known) if known == name))
}

/// What was counted, by name. What was not counted has no entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(BTreeMap<String, i64>);

impl Counters {
    /// Keeps a counter; one that no status has is left out.
    pub fn set(&mut self, name: &str, value: i64) {
        if is_counter(name) {
            self.0.insert(name.to_owned(), value);
        }
    }

    pub fn get(&self, name: &str) -> Option<i64> {
        self.0.get(name).copied()
    }

    /// The part in hundredths with two decimals; nothing of nothing is `0.00%`.
    pub fn percentage(&self, part: &str, whole: &str) -> String {
        let (part, whole) = (self.get(part).unwrap_or(0), self.get(whole).unwrap_or(0));
        if whole <= 0 {
            return "0.00%".to_owned();
        }
        let basis_points =
            (i128::from(part) * 20_000 + i128::from(whole)) / (2 * i128::from(whole));
        format!("{}.{:02}%", basis_points / 100, basis_points % 100)
    }

    pub(super) fn parse(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }

    pub(super) fn to_text(&self) -> Result<String> {
        serde_json::to_string(&self.0).map_err(Error::internal)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Counters, FIGURES, Figure, is_counter};

    #[test]
    fn no_two_figures_have_one_name() {
        let names: BTreeSet<&str> = FIGURES.iter().map(Figure::name).collect();
        assert_eq!(names.len(), FIGURES.len());
    }

    #[test]
    fn percentages_are_of_counters_that_exist() {
        for figure in FIGURES.iter() {
            if let Figure::Percentage { part, whole, .. } = figure {
                assert!(is_counter(part) && is_counter(whole), "{figure:?}");
            }
        }
    }

    #[test]
    fn a_percentage_has_two_decimals() {
        let mut counters = Counters::default();
        counters.set("uploads_registry_count", 3);
        let shown = |counters: &Counters| {
            counters.percentage("uploads_synced_count", "uploads_registry_count")
        };
        assert_eq!(shown(&counters), "0.00%");
        for (synced, text) in [(1, "33.33%"), (2, "66.67%"), (3, "100.00%")] {
            counters.set("uploads_synced_count", synced);
            assert_eq!(shown(&counters), text);
        }
        assert_eq!(Counters::default().percentage("x", "y"), "0.00%");
    }

    #[test]
    fn a_counter_that_no_status_has_is_left_out() {
        let mut counters = Counters::default();
        counters.set("cats_count", 9);
        assert_eq!(counters, Counters::default());
    }
}
