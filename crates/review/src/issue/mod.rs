//! Issues.

mod model;

pub use model::{HealthStatus, Issue, IssueState, IssueType, Severity};
