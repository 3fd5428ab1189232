//! Vulnerabilities with the projects, groups and files that they are of.

pub mod exports;
pub mod findings;
mod identities;
pub mod imports;
pub mod readers;

pub(crate) use identities::{report_identities, telling_reports};
