//! A project as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    AccessLevel, Ts, Visibility,
    access::{FeatureAccess, Features, ProjectFacts},
    ids::{NamespaceId, ProjectId, UserId},
};

/// The one place where repositories lie, by its name.
pub const STORAGE: &str = "default";

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::projects, check_for_backend(db::AnyBackend))]
pub struct Project {
    pub id: ProjectId,
    pub namespace_id: NamespaceId,
    pub creator_id: UserId,
    pub name: String,
    pub path: String,
    pub full_path: String,
    /// `Group / Project`.
    pub full_name: String,
    pub description: Option<String>,
    pub visibility: Visibility,
    pub archived: bool,
    /// `None` until the first push.
    pub default_branch: Option<String>,
    pub repository_access: FeatureAccess,
    pub issues_access: FeatureAccess,
    pub merge_requests_access: FeatureAccess,
    pub forking_access: FeatureAccess,
    pub builds_access: FeatureAccess,
    pub wiki_access: FeatureAccess,
    pub snippets_access: FeatureAccess,
    pub star_count: i64,
    pub forks_count: i64,
    pub forked_from_id: Option<ProjectId>,
    /// The project at the root of the fork network; its own id is not stored.
    pub fork_root_id: Option<ProjectId>,
    pub import_status: String,
    pub avatar: Option<String>,
    pub readme_path: Option<String>,
    pub license_path: Option<String>,
    /// Since when it waits to be deleted.
    pub marked_for_deletion_at: Option<Ts>,
    /// Who wants it deleted.
    pub marked_by: Option<UserId>,
    pub last_activity_at: Ts,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Project {
    pub fn features(&self) -> Features {
        Features {
            repository: self.repository_access,
            issues: self.issues_access,
            merge_requests: self.merge_requests_access,
            forking: self.forking_access,
            builds: self.builds_access,
            wiki: self.wiki_access,
            snippets: self.snippets_access,
        }
    }

    pub fn facts(&self) -> ProjectFacts {
        ProjectFacts {
            id: self.id,
            namespace_id: self.namespace_id,
            name: self.name.clone(),
            full_path: self.full_path.clone(),
            default_branch: self.default_branch.clone(),
            first_push: AccessLevel::Maintainer,
            visibility: self.visibility,
            archived: self.archived,
            features: self.features(),
        }
    }
}
