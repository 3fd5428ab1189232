//! Events of labels.

use kernel::ids::{LabelId, NamespaceId, ProjectId, UserId};
use serde::Serialize;

use super::Label;

/// A fact about a label.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    LabelCreated(Fact),
    LabelUpdated(Fact),
    LabelRemoved(Fact),
}

/// Which label, as it is afterwards or was before it went, and whose doing it is.
#[derive(Debug, Serialize)]
pub struct Fact {
    pub label: LabelId,
    pub project: Option<ProjectId>,
    pub group: Option<NamespaceId>,
    pub name: String,
    pub color: String,
    pub description: Option<String>,
    pub user: UserId,
}

impl Fact {
    pub(crate) fn new(label: &Label, user: UserId) -> Self {
        Self {
            label: label.id,
            project: label.project_id,
            group: label.namespace_id,
            name: label.name.clone(),
            color: label.color.clone(),
            description: label.description.clone(),
            user,
        }
    }
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::LabelCreated(_) => "label.created",
            Self::LabelUpdated(_) => "label.updated",
            Self::LabelRemoved(_) => "label.removed",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        let (Self::LabelCreated(fact) | Self::LabelUpdated(fact) | Self::LabelRemoved(fact)) = self;
        fact.project
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
