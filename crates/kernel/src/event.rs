//! Facts that domains announce.

use std::any::Any;

use crate::ids::ProjectId;

/// A fact that a domain announces in the transaction which made it true.
pub trait Event: Any + Send {
    /// Its name in the outbox, `branch.pushed`.
    fn kind(&self) -> &'static str;
    fn project(&self) -> Option<ProjectId>;
    /// JSON, for those who hear it after the commit.
    fn payload(&self) -> String;
}
