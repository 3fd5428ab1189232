//! Webhooks, integrations and what administrators set, against a database. Addresses are judged by a fake.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test as the tests themselves do"
)]

mod broadcasts;
mod deliveries;
mod features;
mod hook_health;
mod hooks;
mod inheritance;
mod integrations;
mod world;
