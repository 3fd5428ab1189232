//! Events of members.

use kernel::{
    AccessLevel, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};
use serde::Serialize;

use super::{Member, Source};

/// A fact about somebody in a project or group.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Added(Fact),
    Changed(Fact),
    Removed {
        #[serde(flatten)]
        fact: Fact,
        /// Whether issues and merge requests there are to lose this assignee: whoever keeps them hears it in the same
        /// transaction.
        unassign_issuables: bool,
    },
    Requested(Fact),
    RequestDenied(Fact),
}

/// A membership: user, project or group, and role.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Fact {
    pub project: Option<ProjectId>,
    pub group: Option<NamespaceId>,
    pub user: UserId,
    pub access_level: AccessLevel,
    pub expires_at: Option<Ts>,
    /// Whose doing it is.
    pub by: Option<UserId>,
    /// Since when it is there; nothing where it begins now.
    #[serde(skip)]
    pub created_at: Option<Ts>,
    /// The role and the end before a change; nothing where there was none.
    #[serde(skip)]
    pub before: Option<(AccessLevel, Option<Ts>)>,
    /// Whether an archive brought it along, whose feed tells when it began.
    #[serde(skip)]
    pub is_archived: bool,
}

impl Fact {
    pub fn new(
        source: Source,
        user: UserId,
        level: AccessLevel,
        end: Option<Ts>,
        by: Option<UserId>,
    ) -> Self {
        let (project, group) = source.columns();
        Self {
            project,
            group,
            user,
            access_level: level,
            expires_at: end,
            by,
            created_at: None,
            before: None,
            is_archived: false,
        }
    }

    /// Of a membership that has been there, with the role that it has now, or had.
    pub(super) fn of(member: &Member, level: AccessLevel, by: Option<UserId>) -> Self {
        let fact = Self::new(member.source(), member.user_id, level, member.expires_at, by);
        let before = Some((member.level(), member.expires_at));
        Self { created_at: Some(member.created_at), before, ..fact }
    }
}

impl Event {
    pub fn fact(&self) -> &Fact {
        match self {
            Self::Added(fact)
            | Self::Changed(fact)
            | Self::Removed { fact, .. }
            | Self::Requested(fact)
            | Self::RequestDenied(fact) => fact,
        }
    }
}

impl kernel::event::Event for Event {
    /// The names under which system hooks tell them.
    fn kind(&self) -> &'static str {
        match (self, self.fact().project.is_some()) {
            (Self::Added(_), true) => "user_add_to_team",
            (Self::Added(_), false) => "user_add_to_group",
            (Self::Changed(_), true) => "user_update_for_team",
            (Self::Changed(_), false) => "user_update_for_group",
            (Self::Removed { .. }, true) => "user_remove_from_team",
            (Self::Removed { .. }, false) => "user_remove_from_group",
            (Self::Requested(_), true) => "user_access_request_to_project",
            (Self::Requested(_), false) => "user_access_request_to_group",
            (Self::RequestDenied(_), true) => "user_access_request_denied_for_project",
            (Self::RequestDenied(_), false) => "user_access_request_denied_for_group",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        self.fact().project
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
