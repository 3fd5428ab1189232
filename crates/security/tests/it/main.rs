//! The rules of alerts, vulnerabilities and exports, against a database. Other domains are fakes.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test as the tests themselves do"
)]

mod alerts;
mod dashboard;
mod exports;
mod incidents;
mod integrations;
mod metric_images;
mod vulnerabilities;
mod world;
