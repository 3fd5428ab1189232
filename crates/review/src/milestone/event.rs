//! Events of milestones.

use kernel::{
    Ts,
    ids::{MilestoneId, NamespaceId, ProjectId, UserId},
};
use serde::Serialize;

use super::{Milestone, MilestoneState};

/// A fact about a milestone.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    MilestoneCreated(Fact),
    MilestoneUpdated(Fact),
    MilestoneClosed(Fact),
    MilestoneReopened(Fact),
    MilestoneRemoved(Fact),
}

/// Which milestone, as it is afterwards or was before it went, and whose doing it is.
#[derive(Debug, Serialize)]
pub struct Fact {
    pub milestone: MilestoneId,
    pub iid: i64,
    pub project: Option<ProjectId>,
    pub group: Option<NamespaceId>,
    pub title: String,
    pub description: Option<String>,
    pub state: MilestoneState,
    pub start_date: Option<Ts>,
    pub due_date: Option<Ts>,
    pub user: UserId,
    /// For those who hear of it at once, as is the next.
    #[serde(skip)]
    pub created_at: Ts,
    #[serde(skip)]
    pub updated_at: Ts,
}

impl Fact {
    pub fn new(milestone: &Milestone, user: UserId) -> Self {
        Self {
            milestone: milestone.id,
            iid: milestone.iid,
            project: milestone.project_id,
            group: milestone.namespace_id,
            title: milestone.title.clone(),
            description: milestone.description.clone(),
            state: milestone.state,
            start_date: milestone.start_date,
            due_date: milestone.due_date,
            user,
            created_at: milestone.created_at,
            updated_at: milestone.updated_at,
        }
    }
}

impl Event {
    fn fact(&self) -> &Fact {
        match self {
            Self::MilestoneCreated(fact)
            | Self::MilestoneUpdated(fact)
            | Self::MilestoneClosed(fact)
            | Self::MilestoneReopened(fact)
            | Self::MilestoneRemoved(fact) => fact,
        }
    }
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::MilestoneCreated(_) => "milestone.created",
            Self::MilestoneUpdated(_) => "milestone.updated",
            Self::MilestoneClosed(_) => "milestone.closed",
            Self::MilestoneReopened(_) => "milestone.reopened",
            Self::MilestoneRemoved(_) => "milestone.removed",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        self.fact().project
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
