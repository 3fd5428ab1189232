//! Changes of a project, and their record in the audit log.

use db::{Tx, each_backend, error, schema::projects};
use diesel::prelude::*;
use kernel::{
    Result, Ts, Visibility,
    access::FeatureAccess,
    ids::{NamespaceId, ProjectId, UserId},
};

use super::{Project, SettingsChange, event::Event, settings::SettingsStore, topics::TopicStore};

/// Everything that a request may change; `None` keeps.
#[derive(Clone, Debug, Default)]
pub struct ProjectChange {
    pub name: Option<String>,
    pub path: Option<String>,
    pub description: Option<Option<String>>,
    pub visibility: Option<Visibility>,
    /// A branch that exists.
    pub default_branch: Option<String>,
    pub features: FeatureChange,
    pub topics: Option<Vec<String>>,
    /// The file name of the picture.
    pub avatar: Option<Option<String>>,
    pub settings: SettingsChange,
    /// Where the repository is to lie.
    pub repository_storage: Option<String>,
}

/// The features that have columns of their own.
#[derive(Clone, Copy, Debug, Default, AsChangeset)]
#[diesel(table_name = projects)]
pub struct FeatureChange {
    #[diesel(column_name = repository_access)]
    pub repository: Option<FeatureAccess>,
    #[diesel(column_name = issues_access)]
    pub issues: Option<FeatureAccess>,
    #[diesel(column_name = merge_requests_access)]
    pub merge_requests: Option<FeatureAccess>,
    #[diesel(column_name = forking_access)]
    pub forking: Option<FeatureAccess>,
    #[diesel(column_name = builds_access)]
    pub builds: Option<FeatureAccess>,
    #[diesel(column_name = wiki_access)]
    pub wiki: Option<FeatureAccess>,
    #[diesel(column_name = snippets_access)]
    pub snippets: Option<FeatureAccess>,
}

/// The columns of `projects` as they are updated.
#[derive(Clone, Debug, Default, AsChangeset)]
#[diesel(table_name = projects)]
pub(super) struct Columns {
    pub(super) namespace_id: Option<NamespaceId>,
    pub(super) name: Option<String>,
    pub(super) path: Option<String>,
    pub(super) full_path: Option<String>,
    pub(super) path_key: Option<String>,
    pub(super) full_name: Option<String>,
    pub(super) description: Option<Option<String>>,
    pub(super) visibility: Option<Visibility>,
    pub(super) archived: Option<bool>,
    pub(super) default_branch: Option<Option<String>>,
    pub(super) forked_from_id: Option<Option<ProjectId>>,
    pub(super) fork_root_id: Option<Option<ProjectId>>,
    pub(super) import_status: Option<String>,
    pub(super) avatar: Option<Option<String>>,
    pub(super) readme_path: Option<Option<String>>,
    pub(super) license_path: Option<Option<String>>,
    pub(super) last_activity_at: Option<Ts>,
    pub(super) deleted_at: Option<Option<Ts>>,
    pub(super) marked_for_deletion_at: Option<Option<Ts>>,
    pub(super) marked_by: Option<Option<UserId>>,
}

/// Writes columns; `updated_at` follows.
pub(super) fn update(
    tx: &mut Tx<'_>,
    project: ProjectId,
    columns: Columns,
    features: FeatureChange,
) -> Result<Project> {
    let row = projects::table.find(project);
    let values = (columns, features, projects::updated_at.eq(tx.now));
    each_backend!(tx, |conn| diesel::update(row)
        .set(values)
        .returning(Project::as_returning())
        .get_result(conn)
        .map_err(error("Project")))
}

/// Writes a change whose names, paths and visibility are already checked. Where the project lives is not part of it.
pub(super) fn write(
    tx: &mut Tx<'_>,
    project: ProjectId,
    change: &ProjectChange,
) -> Result<Project> {
    if !change.settings.is_empty() {
        let mut settings = tx.project_settings(project)?;
        let required = settings.approvals_before_merge;
        change.settings.apply(&mut settings);
        tx.save_settings(project, &settings)?;
        if settings.approvals_before_merge != required {
            let required = settings.approvals_before_merge;
            tx.emit(Event::ApprovalsRequired { project, required })?;
        }
    }
    if let Some(topics) = &change.topics {
        tx.set_topics(project, topics)?;
    }
    let columns = Columns {
        description: change.description.clone(),
        visibility: change.visibility,
        default_branch: change.default_branch.clone().map(Some),
        avatar: change.avatar.clone(),
        ..Columns::default()
    };
    update(tx, project, columns, change.features)
}

impl Project {
    /// What gives another project the same features.
    pub(super) fn features_change(&self) -> FeatureChange {
        FeatureChange {
            repository: Some(self.repository_access),
            issues: Some(self.issues_access),
            merge_requests: Some(self.merge_requests_access),
            forking: Some(self.forking_access),
            builds: Some(self.builds_access),
            wiki: Some(self.wiki_access),
            snippets: Some(self.snippets_access),
        }
    }
}
