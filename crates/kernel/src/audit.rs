//! What is written down of an action for those who look into it later. The transaction knows who did it and from where.

use crate::{
    event::Event,
    ids::{NamespaceId, ProjectId, UserId},
};

/// The project, group or installation of an audit event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditPlace {
    Instance,
    Project(ProjectId),
    Group(NamespaceId),
    User(UserId),
}

impl AuditPlace {
    fn project(self) -> Option<ProjectId> {
        match self {
            Self::Project(project) => Some(project),
            Self::Instance | Self::Group(_) | Self::User(_) => None,
        }
    }
}

/// An action, mentioned in the transaction that does it. No value of a secret is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// As the API calls it, `protected_branch_created`.
    pub name: &'static str,
    pub place: AuditPlace,
    /// The type of what it was done to.
    pub target_type: &'static str,
    pub target_id: i64,
    /// What people call that.
    pub target_name: String,
    /// What else is told, by its name.
    pub details: Vec<(&'static str, String)>,
}

impl AuditRecord {
    /// Something was made; `what` names its kind.
    pub fn addition(name: &'static str, place: AuditPlace, what: &str) -> Self {
        Self::of(name, place, ("add", what))
    }

    /// Something was taken away.
    pub fn removal(name: &'static str, place: AuditPlace, what: &str) -> Self {
        Self::of(name, place, ("remove", what))
    }

    /// Something is otherwise than before.
    pub fn change(name: &'static str, place: AuditPlace, what: &str) -> Self {
        Self::of(name, place, ("change", what))
    }

    /// Something happened that a sentence tells.
    pub fn message(name: &'static str, place: AuditPlace, text: &str) -> Self {
        Self::of(name, place, ("custom_message", text))
    }

    fn of(name: &'static str, place: AuditPlace, (verb, what): (&'static str, &str)) -> Self {
        Self {
            name,
            place,
            target_type: "",
            target_id: 0,
            target_name: String::new(),
            details: vec![(verb, what.to_owned())],
        }
    }

    /// Names what it was done to.
    #[must_use]
    pub fn target(self, kind: &'static str, id: i64, name: impl Into<String>) -> Self {
        Self { target_type: kind, target_id: id, target_name: name.into(), ..self }
    }

    /// Tells the value before a change and the one after it.
    #[must_use]
    pub fn values(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.detail("from", from).detail("to", to)
    }

    /// Tells one more thing.
    #[must_use]
    pub fn detail(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.details.push((name, value.into()));
        self
    }
}

/// Several actions on things of one place, mentioned at once: they are written together, however many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditBatch {
    pub place: AuditPlace,
    /// Each has the same place.
    pub records: Vec<AuditRecord>,
}

impl Event for AuditBatch {
    fn kind(&self) -> &'static str {
        "audit.batch"
    }

    fn project(&self) -> Option<ProjectId> {
        self.place.project()
    }

    /// It is only mentioned: nobody hears it after the commit.
    fn payload(&self) -> String {
        String::new()
    }
}

impl Event for AuditRecord {
    fn kind(&self) -> &'static str {
        "audit.record"
    }

    fn project(&self) -> Option<ProjectId> {
        self.place.project()
    }

    /// It is only mentioned: nobody hears it after the commit.
    fn payload(&self) -> String {
        String::new()
    }
}
