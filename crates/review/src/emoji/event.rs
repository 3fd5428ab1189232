//! Events of award emoji.

use kernel::{
    Ts,
    ids::{ProjectId, UserId},
};
use serde::Serialize;

use super::{Award, AwardTarget, AwardedKind};

/// A fact about a reaction.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    AwardGiven(Fact),
    AwardTakenBack(Fact),
}

/// Which reaction, to what, and whose doing it is.
#[derive(Debug, Serialize)]
pub struct Fact {
    pub award: i64,
    pub name: String,
    pub given_by: UserId,
    pub project: Option<ProjectId>,
    pub awarded_kind: AwardedKind,
    pub awarded: i64,
    pub user: UserId,
    /// For those who hear of it at once, as is the next.
    #[serde(skip)]
    pub created_at: Ts,
    #[serde(skip)]
    pub updated_at: Ts,
}

impl Fact {
    pub fn new(award: &Award, of: AwardTarget, project: Option<ProjectId>, user: UserId) -> Self {
        Self {
            award: award.id,
            name: award.name.clone(),
            given_by: award.user_id,
            project,
            awarded_kind: of.kind,
            awarded: of.id,
            user,
            created_at: award.created_at,
            updated_at: award.updated_at,
        }
    }
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::AwardGiven(_) => "award.given",
            Self::AwardTakenBack(_) => "award.taken_back",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        let (Self::AwardGiven(fact) | Self::AwardTakenBack(fact)) = self;
        fact.project
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
