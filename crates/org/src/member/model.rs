//! A membership and whose it is.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    AccessLevel, Ts,
    ids::{MemberId, NamespaceId, ProjectId, UserId},
};

use super::actions::Source;
use crate::user::User;

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::members, check_for_backend(diesel::sqlite::Sqlite, diesel::pg::Pg))]
pub struct Member {
    pub id: MemberId,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub user_id: UserId,
    pub access_level: AccessLevel,
    /// Midnight UTC at which it ends.
    pub expires_at: Option<Ts>,
    pub created_by: Option<UserId>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Member {
    /// What it is a membership of: a row names one of the two.
    pub fn source(&self) -> Source {
        match self.project_id {
            Some(project) => Source::Project(project),
            None => Source::Group(self.namespace_id.unwrap_or(NamespaceId(0))),
        }
    }
}

/// A member as lists show one.
#[derive(Clone, Debug)]
pub struct Membership {
    pub user: User,
    pub access_level: AccessLevel,
    pub expires_at: Option<Ts>,
    pub created_at: Ts,
    pub created_by: Option<User>,
}

/// Which members a list shows.
#[derive(Clone, Debug, Default)]
pub struct MemberFilter {
    /// Part of a name or user name, or a whole address.
    pub query: Option<String>,
    pub only: Vec<UserId>,
    pub skip: Vec<UserId>,
}
