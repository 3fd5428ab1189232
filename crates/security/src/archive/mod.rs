//! Findings of scanners and alerts in project archives.

mod alerts;
mod choices;
mod findings;

use db::archive::Relation;

pub use alerts::{reserve_numbers, restore_counters};
pub use findings::uuid_of_copy;

/// They come after the issues, environments, pipelines and jobs.
pub static RELATIONS: &[&Relation] = &[
    &findings::SCANS,
    &findings::VULNERABILITIES,
    &findings::CHANGES,
    &alerts::ALERTS,
    &alerts::NOTES,
    &alerts::ASSIGNEES,
    &alerts::METRIC_IMAGES,
    &alerts::SETTINGS,
];
