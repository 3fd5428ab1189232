//! Project and group facts for grants in tests of domains.

use kernel::{
    AccessLevel, Visibility,
    access::{Features, GroupFacts, ProjectFacts},
    ids::{NamespaceId, ProjectId},
};

/// A public project with all features, as [`rows::project`](super::rows::project) makes them.
pub fn project(id: ProjectId, group: NamespaceId) -> ProjectFacts {
    ProjectFacts {
        id,
        namespace_id: group,
        name: "Project".to_owned(),
        full_path: "project".to_owned(),
        default_branch: Some("main".to_owned()),
        first_push: AccessLevel::Maintainer,
        visibility: Visibility::Public,
        archived: false,
        features: Features::ALL_ENABLED,
    }
}

/// A public group, as [`rows::group`](super::rows::group) makes them.
pub fn group(id: NamespaceId) -> GroupFacts {
    GroupFacts {
        id,
        name: "Group".to_owned(),
        full_path: "group".to_owned(),
        visibility: Visibility::Public,
    }
}
