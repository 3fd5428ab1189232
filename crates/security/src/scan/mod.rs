//! Scans: one report of one job, and the result of its import.

mod import;
mod model;
mod store;

pub use import::{finish, keep_findings};
pub use model::{ImportReports, NewScan, Scan, ScanStatus};
pub use store::{ScanStore, has_reports};
