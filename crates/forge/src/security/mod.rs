//! Vulnerabilities with the projects, groups and files that they are of.

pub mod exports;
pub mod findings;
pub mod imports;
pub mod readers;
