//! Rules as they are stored: a name or wildcard, and who may do what where it matches.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    AccessLevel, Ts,
    ids::{AccessRecordId, NamespaceId, ProjectId, ProtectedBranchId, ProtectedTagId, UserId},
};

kernel::text_enum! {
    /// The permission that an access record of a branch rule gives.
    pub enum AccessKind { Push = "push", Merge = "merge", Unprotect = "unprotect" }
}

/// The holder of an access record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// Everybody whose role in the project is at least this one; `NoAccess` is nobody.
    Role(AccessLevel),
    User(UserId),
    Group(NamespaceId),
}

impl Holder {
    pub fn role(self) -> Option<AccessLevel> {
        match self {
            Self::Role(level) => Some(level),
            Self::User(_) | Self::Group(_) => None,
        }
    }

    pub fn user(self) -> Option<UserId> {
        match self {
            Self::User(id) => Some(id),
            Self::Role(_) | Self::Group(_) => None,
        }
    }

    pub fn group(self) -> Option<NamespaceId> {
        match self {
            Self::Group(id) => Some(id),
            Self::Role(_) | Self::User(_) => None,
        }
    }
}

/// One access record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub id: AccessRecordId,
    pub holder: Holder,
}

/// The rule for a branch, or for all branches that a wildcard matches.
#[derive(Clone, Debug)]
pub struct BranchRule {
    pub branch: ProtectedBranch,
    pub push: Vec<Access>,
    pub merge: Vec<Access>,
    pub unprotect: Vec<Access>,
}

impl BranchRule {
    pub fn access(&self, kind: AccessKind) -> &[Access] {
        match kind {
            AccessKind::Push => &self.push,
            AccessKind::Merge => &self.merge,
            AccessKind::Unprotect => &self.unprotect,
        }
    }

    pub(super) fn access_mut(&mut self, kind: AccessKind) -> &mut Vec<Access> {
        match kind {
            AccessKind::Push => &mut self.push,
            AccessKind::Merge => &mut self.merge,
            AccessKind::Unprotect => &mut self.unprotect,
        }
    }

    /// Whether both give the same permissions by the same records.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        self.branch.allow_force_push == other.branch.allow_force_push
            && self.branch.code_owner_approval_required == other.branch.code_owner_approval_required
            && self.push == other.push
            && self.merge == other.merge
            && self.unprotect == other.unprotect
    }

    /// Every access record of the rule.
    pub fn records(&self) -> impl Iterator<Item = &Access> {
        self.push.iter().chain(&self.merge).chain(&self.unprotect)
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::protected_branches, check_for_backend(db::AnyBackend))]
pub struct ProtectedBranch {
    pub id: ProtectedBranchId,
    pub project_id: ProjectId,
    /// As it was given, wildcards included.
    pub name: String,
    pub allow_force_push: bool,
    pub code_owner_approval_required: bool,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// The rule for a tag, or for all tags that a wildcard matches.
#[derive(Clone, Debug)]
pub struct TagRule {
    pub tag: ProtectedTag,
    pub create: Vec<Access>,
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::protected_tags, check_for_backend(db::AnyBackend))]
pub struct ProtectedTag {
    pub id: ProtectedTagId,
    pub project_id: ProjectId,
    pub name: String,
    pub updated_at: Ts,
}

/// The three columns of which one says whom a record lets in.
pub(super) type HolderColumns = (Option<AccessLevel>, Option<UserId>, Option<NamespaceId>);

impl From<HolderColumns> for Holder {
    fn from(columns: HolderColumns) -> Self {
        match columns {
            (_, Some(user), _) => Self::User(user),
            (_, _, Some(group)) => Self::Group(group),
            (level, None, None) => Self::Role(level.unwrap_or_default()),
        }
    }
}

impl From<Holder> for HolderColumns {
    fn from(holder: Holder) -> Self {
        (holder.role(), holder.user(), holder.group())
    }
}
