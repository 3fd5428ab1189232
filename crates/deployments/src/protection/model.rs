//! Protections as they are stored, and whom they let in.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    AccessLevel, TextEnum as _, Ts,
    ids::{EnvironmentAccessId, NamespaceId, ProjectId, ProtectedEnvironmentId, UserId},
};

use crate::environment::Environment;

kernel::text_enum! {
    /// The permission that an access rule gives.
    pub enum RuleKind { Deploy = "deploy", Approve = "approve" }
}

/// The protected object: one environment of a project, or all of a tier in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtectionHome {
    Project(ProjectId),
    Group(NamespaceId),
}

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::protected_environments, check_for_backend(db::AnyBackend))]
pub struct ProtectedEnvironment {
    pub id: ProtectedEnvironmentId,
    pub project_id: Option<ProjectId>,
    pub group_id: Option<NamespaceId>,
    /// For a group, the name of the tier.
    pub name: String,
    /// Number of approvals needed if there are no approval rules.
    pub required_approval_count: i64,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl ProtectedEnvironment {
    /// Whether it protects this environment of its project, or of a project of its group.
    pub(super) fn is_of(&self, environment: &Environment) -> bool {
        match self.project_id {
            Some(_) => self.name == environment.name,
            None => self.name == environment.tier.as_str(),
        }
    }
}

/// The users that an access rule covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Everybody whose role in the project is at least this one.
    Role(AccessLevel),
    User(UserId),
    Group(NamespaceId),
}

/// A record as somebody asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewAccess {
    pub holder: Holder,
    /// Whether who is in the groups above counts as in the group.
    pub with_inherited: bool,
    /// Of a rule for approvals: by how many of its holders.
    pub required_approvals: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::protected_environment_access, check_for_backend(db::AnyBackend))]
pub struct AccessRule {
    pub id: EnvironmentAccessId,
    pub protected_environment_id: ProtectedEnvironmentId,
    pub kind: RuleKind,
    pub access_level: Option<AccessLevel>,
    pub user_id: Option<UserId>,
    pub group_id: Option<NamespaceId>,
    pub with_inherited: bool,
    pub required_approvals: i64,
}

impl AccessRule {
    pub fn holder(&self) -> Holder {
        match (self.user_id, self.group_id) {
            (Some(user), _) => Holder::User(user),
            (None, Some(group)) => Holder::Group(group),
            (None, None) => Holder::Role(self.access_level.unwrap_or(AccessLevel::Maintainer)),
        }
    }
}

/// A protection with its records.
#[derive(Clone, Debug)]
pub struct Protection {
    pub environment: ProtectedEnvironment,
    pub rules: Vec<AccessRule>,
}

impl Protection {
    /// Its records of a kind, the oldest first.
    pub fn of(&self, kind: RuleKind) -> impl Iterator<Item = &AccessRule> {
        self.rules.iter().filter(move |rule| rule.kind == kind)
    }
}
