//! A membership and whose it is.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    AccessLevel, Ts,
    ids::{MemberId, NamespaceId, ProjectId, UserId},
};

use super::{Source, State};
use crate::user::{self, User};

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::members, check_for_backend(db::AnyBackend))]
pub struct Member {
    pub id: MemberId,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub user_id: UserId,
    /// What it gives now: nothing while it awaits approval.
    pub access_level: AccessLevel,
    /// Midnight UTC at which it ends.
    pub expires_at: Option<Ts>,
    pub created_by: Option<UserId>,
    pub created_at: Ts,
    pub updated_at: Ts,
    pub awaiting_level: Option<AccessLevel>,
}

impl Member {
    pub fn source(&self) -> Source {
        Source::of(self.project_id, self.namespace_id)
    }

    /// What it gives, or will give once it is approved.
    pub fn level(&self) -> AccessLevel {
        self.awaiting_level.unwrap_or(self.access_level)
    }

    pub fn state(&self) -> State {
        if self.awaiting_level.is_some() { State::Awaiting } else { State::Active }
    }
}

/// A membership as it is first written down.
#[derive(Clone, Copy, Debug)]
pub struct NewMember {
    pub source: Source,
    pub user_id: UserId,
    pub access_level: AccessLevel,
    pub expires_at: Option<Ts>,
    pub created_by: Option<UserId>,
}

/// A member as lists show one.
#[derive(Clone, Debug)]
pub struct Membership {
    pub id: MemberId,
    /// Where it was given.
    pub source: Source,
    pub user: User,
    pub access_level: AccessLevel,
    pub state: State,
    pub expires_at: Option<Ts>,
    pub created_at: Ts,
    pub updated_at: Ts,
    /// Nobody, where the group that it comes from is none of the reader's business.
    pub created_by: Option<User>,
}

impl Membership {
    /// Whether it is counted where people are: machines, those who wait and those who are kept out are not.
    pub fn is_using_seat(&self) -> bool {
        self.state == State::Active
            && self.access_level >= AccessLevel::Guest
            && self.user.state == user::State::Active
            && !self.user.bot
    }
}

/// Which members a list shows.
#[derive(Clone, Debug, Default)]
pub struct MemberFilter {
    /// Part of a name or user name, or a whole address.
    pub query: Option<String>,
    /// Whether addresses count that are not public.
    pub any_email: bool,
    pub only: Option<Vec<UserId>>,
    pub skip: Vec<UserId>,
    pub state: Option<State>,
}

/// The relations of members to a project or group that a list includes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relations {
    /// Added to it.
    pub direct: bool,
    /// Added to a group above it.
    pub inherited: bool,
    /// Added to a group inside the group; of a project, inside the project's group.
    pub descendants: bool,
    /// Members of a group that was invited to it.
    pub invited: bool,
    /// Members of a group that was invited to a group above it.
    pub invited_above: bool,
}
