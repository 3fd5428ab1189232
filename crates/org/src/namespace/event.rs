//! Events of groups.

use kernel::{
    Ts,
    ids::{NamespaceId, ProjectId, UserId},
};
use serde::Serialize;

use super::{Namespace, owners::TreeOwners};
use crate::{project::Project, user::event::Person};

/// A group as it is called in facts about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamespacePath {
    pub group_id: NamespaceId,
    pub name: String,
    pub path: String,
    pub full_path: String,
    pub parent_group_id: Option<NamespaceId>,
    #[serde(skip)]
    pub created_at: Ts,
}

impl From<&Namespace> for NamespacePath {
    fn from(group: &Namespace) -> Self {
        Self {
            group_id: group.id,
            name: group.name.clone(),
            path: group.path.clone(),
            full_path: group.full_path.clone(),
            parent_group_id: group.parent_id,
            created_at: group.created_at,
        }
    }
}

/// The removal of a namespace with the groups and projects in it, mentioned in the transaction that removes them.
#[derive(Clone, Debug)]
pub struct TreeRemoval {
    /// The namespace itself is the last one, where it is a group.
    pub groups: Vec<NamespacePath>,
    pub projects: Vec<Project>,
    /// As they were before: some accounts go in the same transaction.
    pub owners: TreeOwners,
    /// The person who asked for it.
    pub user: Option<Person>,
}

impl kernel::event::Event for TreeRemoval {
    fn kind(&self) -> &'static str {
        "namespace.tree_removal"
    }

    fn project(&self) -> Option<ProjectId> {
        None
    }

    /// It is only mentioned: nobody hears it after the commit.
    fn payload(&self) -> String {
        String::new()
    }
}

/// A fact about a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event_name", rename_all = "snake_case")]
pub enum Event {
    GroupCreate {
        #[serde(flatten)]
        group: NamespacePath,
        user: Option<UserId>,
    },
    GroupUpdate {
        #[serde(flatten)]
        group: NamespacePath,
        user: Option<UserId>,
    },
    /// Its address is another one.
    GroupRename {
        #[serde(flatten)]
        group: NamespacePath,
        old_path: String,
        old_full_path: String,
        user: Option<UserId>,
    },
    /// It lies in another group, or in none.
    GroupTransfer {
        #[serde(flatten)]
        group: NamespacePath,
        old_full_path: String,
        user: Option<UserId>,
    },
    /// It goes on a day to come, unless somebody restores it.
    GroupMarkedForDeletion {
        #[serde(flatten)]
        group: NamespacePath,
        user: Option<UserId>,
    },
    GroupRestore {
        #[serde(flatten)]
        group: NamespacePath,
        user: Option<UserId>,
    },
    GroupDestroy {
        #[serde(flatten)]
        group: NamespacePath,
        user: Option<UserId>,
    },
    GroupShare {
        group_id: NamespaceId,
        invited_id: NamespaceId,
        user: Option<UserId>,
    },
    GroupUnshare {
        group_id: NamespaceId,
        invited_id: NamespaceId,
        user: Option<UserId>,
    },
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::GroupCreate { .. } => "group.create",
            Self::GroupUpdate { .. } => "group.update",
            Self::GroupRename { .. } => "group.rename",
            Self::GroupTransfer { .. } => "group.transfer",
            Self::GroupMarkedForDeletion { .. } => "group.marked_for_deletion",
            Self::GroupRestore { .. } => "group.restore",
            Self::GroupDestroy { .. } => "group.destroy",
            Self::GroupShare { .. } => "group.share",
            Self::GroupUnshare { .. } => "group.unshare",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        None
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
