//! The figures of a status: counters by their names, and what is worked out from them.

use std::{borrow::Cow, collections::HashMap, fmt, sync::LazyLock};

use kernel::{Error, Result};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
};

/// How far ahead a counter is looked for before all are searched.
const NEAR: usize = 4;

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

const SINGLE: [&str; 14] = [
    "design_repositories_count",
    "design_repositories_synced_count",
    "design_repositories_failed_count",
    "design_repositories_synced_missing_on_primary_count",
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

/// One field of a status that is a number, or a part of one in hundredths. Counters are named by their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Figure {
    Count { name: String, place: usize },
    Percentage { name: String, part: usize, whole: usize },
}

impl Figure {
    pub fn name(&self) -> &str {
        match self {
            Self::Count { name, .. } | Self::Percentage { name, .. } => name,
        }
    }
}

/// A figure by names alone.
enum NamedFigure {
    Count(String),
    Percentage { name: String, part: String, whole: String },
}

/// All figures in the order in which they are shown.
pub static FIGURES: LazyLock<Vec<Figure>> = LazyLock::new(|| {
    let named = named_figures();
    let counts = named.iter().filter_map(|figure| match figure {
        NamedFigure::Count(name) => Some(name.clone()),
        NamedFigure::Percentage { .. } => None,
    });
    let places: HashMap<String, usize> = counts.zip(0..).collect();
    // What no counter is called is no counter; a test sees that there is none.
    let place = |name: &str| places.get(name).copied().unwrap_or(usize::MAX);
    let figure = |named| match named {
        NamedFigure::Count(name) => Figure::Count { place: place(&name), name },
        NamedFigure::Percentage { name, part, whole } => {
            Figure::Percentage { name, part: place(&part), whole: place(&whole) }
        }
    };
    named.into_iter().map(figure).collect()
});

fn named_figures() -> Vec<NamedFigure> {
    let mut all: Vec<NamedFigure> = KINDS.iter().flat_map(|kind| of_kind(kind)).collect();
    all.extend(["repositories", "wikis"].into_iter().flat_map(of_repositories));
    all.extend(SINGLE.map(|name| NamedFigure::Count(name.to_owned())));
    all.push(percentage("design_repositories", "synced", "count"));
    all.push(NamedFigure::Percentage {
        name: "replication_slots_used_in_percentage".to_owned(),
        part: "replication_slots_used_count".to_owned(),
        whole: "replication_slots_count".to_owned(),
    });
    all.push(percentage("repositories", "checked", "count"));
    all
}

fn counts(of: &str, names: &[&str]) -> Vec<NamedFigure> {
    names.iter().map(|name| NamedFigure::Count(format!("{of}_{name}"))).collect()
}

fn percentage(of: &str, part: &str, whole: &str) -> NamedFigure {
    NamedFigure::Percentage {
        name: format!("{of}_{part}_in_percentage"),
        part: format!("{of}_{part}_count"),
        whole: format!("{of}_{whole}"),
    }
}

fn of_kind(kind: &str) -> Vec<NamedFigure> {
    let parts = ["synced", "verified"].map(|part| percentage(kind, part, "registry_count"));
    counts(kind, &OF_KIND).into_iter().chain(parts).collect()
}

fn of_repositories(of: &str) -> Vec<NamedFigure> {
    let parts = ["synced", "checksummed", "verified"].map(|part| percentage(of, part, "count"));
    counts(of, &OF_REPOSITORIES).into_iter().chain(parts).collect()
}

/// The names of all counters, each at its place.
static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let names = FIGURES.iter().filter_map(|figure| match figure {
        Figure::Count { name, .. } => Some(name.as_str()),
        Figure::Percentage { .. } => None,
    });
    names.collect()
});

static PLACES: LazyLock<HashMap<&'static str, usize>> =
    LazyLock::new(|| NAMES.iter().copied().zip(0..).collect());

/// Whether a counter of this name exists.
pub fn is_counter(name: &str) -> bool {
    PLACES.contains_key(name)
}

/// Counter values; one that was not counted has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters(Vec<Option<i64>>);

impl Default for Counters {
    fn default() -> Self {
        Self(vec![None; NAMES.len()])
    }
}

impl Counters {
    /// Keeps a counter; one that no status has is left out.
    pub fn set(&mut self, name: &str, value: i64) {
        if let Some(place) = PLACES.get(name) {
            self.put(*place, value);
        }
    }

    pub fn get(&self, name: &str) -> Option<i64> {
        self.at(*PLACES.get(name)?)
    }

    /// The counter at a place, as [`FIGURES`] name them.
    pub fn at(&self, place: usize) -> Option<i64> {
        self.0.get(place).copied().flatten()
    }

    fn put(&mut self, place: usize, value: i64) {
        if let Some(slot) = self.0.get_mut(place) {
            *slot = Some(value);
        }
    }

    /// The part in hundredths with two decimals; nothing of nothing is `0.00%`.
    pub fn percentage(&self, part: usize, whole: usize) -> Cow<'static, str> {
        let (part, whole) = (self.at(part).unwrap_or(0), self.at(whole).unwrap_or(0));
        if part <= 0 || whole <= 0 {
            return Cow::Borrowed("0.00%");
        }
        let basis_points =
            (i128::from(part) * 20_000 + i128::from(whole)) / (2 * i128::from(whole));
        Cow::Owned(format!("{}.{:02}%", basis_points / 100, basis_points % 100))
    }

    pub(super) fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    pub(super) fn to_text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(Error::internal)
    }
}

impl Serialize for Counters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = NAMES.iter().zip(&self.0);
        serializer.collect_map(known.filter_map(|(name, value)| Some((name, (*value)?))))
    }
}

impl<'de> Deserialize<'de> for Counters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CounterReader)
    }
}

struct CounterReader;

impl<'de> Visitor<'de> for CounterReader {
    type Value = Counters;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("counters by their names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Counters, A::Error> {
        let mut counters = Counters::default();
        // They were written in the order of their places: most often the next one is at hand.
        let mut next = 0;
        while let Some((name, value)) = map.next_entry::<&'de str, i64>()? {
            let rest = NAMES.get(next..).unwrap_or_default();
            let near = rest.iter().take(NEAR).position(|known| *known == name);
            let place = near.map(|steps| next + steps).or_else(|| PLACES.get(name).copied());
            if let Some(place) = place {
                counters.put(place, value);
                next = place + 1;
            }
        }
        Ok(counters)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Counters, FIGURES, Figure, NAMES, is_counter};

    #[test]
    fn no_two_figures_have_one_name() {
        let names: BTreeSet<&str> = FIGURES.iter().map(Figure::name).collect();
        assert_eq!(names.len(), FIGURES.len());
    }

    #[test]
    fn percentages_are_of_counters_that_exist() {
        for figure in FIGURES.iter() {
            if let Figure::Percentage { part, whole, .. } = figure {
                assert!(NAMES.get(*part).is_some() && NAMES.get(*whole).is_some(), "{figure:?}");
            }
        }
    }

    /// The percentage of this name.
    fn shown(counters: &Counters, wanted: &str) -> String {
        let found = FIGURES.iter().find_map(|figure| match figure {
            Figure::Percentage { name, part, whole } if name == wanted => Some((*part, *whole)),
            _ => None,
        });
        let (part, whole) = found.unwrap();
        counters.percentage(part, whole).into_owned()
    }

    #[test]
    fn a_percentage_has_two_decimals() {
        let name = "uploads_synced_in_percentage";
        let mut counters = Counters::default();
        assert_eq!(shown(&counters, name), "0.00%");
        counters.set("uploads_registry_count", 3);
        for (synced, text) in [(0, "0.00%"), (1, "33.33%"), (2, "66.67%"), (3, "100.00%")] {
            counters.set("uploads_synced_count", synced);
            assert_eq!(shown(&counters, name), text);
        }
    }

    #[test]
    fn counters_come_back_from_their_text_in_whatever_order() {
        let mut counters = Counters::default();
        for (name, value) in NAMES.iter().zip(1..) {
            counters.set(name, value);
        }
        assert_eq!(Counters::parse(&counters.to_text().unwrap()), counters);
        let mut backwards: Vec<String> =
            NAMES.iter().zip(1..).map(|(name, value)| format!("\"{name}\":{value}")).collect();
        backwards.reverse();
        let text = format!("{{\"cats_count\":9,{}}}", backwards.join(","));
        assert_eq!(Counters::parse(&text), counters);
        assert_eq!(Counters::parse("cats"), Counters::default());
    }

    #[test]
    fn a_counter_that_no_status_has_is_left_out() {
        let mut counters = Counters::default();
        counters.set("cats_count", 9);
        assert!(!is_counter("cats_count"));
        assert_eq!(counters, Counters::default());
    }
}
