//! Reports of scanners: JSON documents, read piece by piece, with an end in size, depth and number.

mod bounded;
mod check;
mod document;
mod fields;
mod finding;
mod fingerprint;
mod identity;

pub use document::{FINDING_LIMIT, REPORT_SIZE_LIMIT, Report, ReportFault, read};
pub use identity::provisional_uuid;
pub(crate) use identity::uuid_in_copy;
#[cfg(test)]
pub(crate) use identity::uuid_of_finding;
