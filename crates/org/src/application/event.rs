//! Events of applications.

use kernel::ids::{ApplicationId, ProjectId, UserId};

use crate::user::event::Person;

/// Heard in the transaction alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationAction {
    pub application_id: ApplicationId,
    pub name: String,
    /// Whose doing it is; nobody's where the server did it by itself.
    pub by: Option<UserId>,
    pub change: ApplicationChange,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplicationChange {
    Creation,
    Removal,
    /// Somebody let it act for them.
    Authorization(Person),
    /// Something was shown a second time that is good for once: it may be stolen, and all that came of it is revoked.
    Replay(Person),
}

impl kernel::event::Event for ApplicationAction {
    fn kind(&self) -> &'static str {
        "application.action"
    }

    fn project(&self) -> Option<ProjectId> {
        None
    }

    /// Nothing: it is never kept.
    fn payload(&self) -> String {
        String::new()
    }
}
