//! Reports that jobs bring: what their tests came to, and variables for those that depend on them.
//!
//! A report is read once, when it arrives. What it says is kept in rows and beside the artifact.

pub mod dotenv;
mod dotenv_variables;
pub mod junit;
mod packed;
mod store;
mod test_report;

pub use dotenv_variables::InheritedVariableStore;
pub(crate) use dotenv_variables::place as place_of_inherited;
pub use store::{TestSuite, TestSuiteStore};
pub use test_report::{ReportedSuite, SuiteWithCases, TestCounts, group_name, merged, suite_name};
