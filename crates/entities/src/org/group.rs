//! A group.

use forge::urls::Urls;
use kernel::{Ts, Visibility, time::date_text};
use org::{
    namespace::{GroupSettings, Namespace, detail::Detail, model::WikiAccess, sharing::GroupLink},
    project::ProjectView,
};
use review::issue::open_count::OpenIssues;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    custom_attribute::CustomAttributeEntity, group_statistics::GroupStatisticsEntity,
    project::ProjectForm, project_parts::SharedGroup,
};

#[derive(Debug, Serialize, ToSchema)]
pub struct GroupEntity {
    id: i64,
    web_url: String,
    name: String,
    path: String,
    description: Option<String>,
    #[schema(value_type = String)]
    visibility: Visibility,
    share_with_group_lock: bool,
    require_two_factor_authentication: bool,
    two_factor_grace_period: i64,
    project_creation_level: String,
    auto_devops_enabled: Option<bool>,
    subgroup_creation_level: String,
    emails_disabled: Option<bool>,
    mentions_disabled: Option<bool>,
    lfs_enabled: bool,
    default_branch_protection: i32,
    avatar_url: Option<String>,
    request_access_enabled: bool,
    full_name: String,
    full_path: String,
    #[schema(value_type = String)]
    created_at: Ts,
    parent_id: Option<i64>,
    /// Administrators only, and only when requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_attributes: Option<Vec<CustomAttributeEntity>>,
    /// Administrators only, and only when requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<GroupStatisticsEntity>,
    ldap_cn: Option<String>,
    ldap_access: Option<i64>,
    /// Date on which the group was marked for deletion; it is deleted after the deletion delay.
    marked_for_deletion_on: Option<String>,
    file_template_project_id: Option<i64>,
    #[schema(value_type = String)]
    wiki_access_level: WikiAccess,
    ip_restriction_ranges: Option<String>,
}

impl GroupEntity {
    /// `protection` is the installation's own, for groups that do not set one.
    pub fn new(urls: &Urls, group: &Namespace, protection: i32) -> Self {
        let settings = group.settings();
        let (id, path) = (group.id, &group.full_path);
        let picture = |file| urls.at(&format!("uploads/-/system/group/avatar/{id}/{file}"));
        Self {
            id: id.0,
            web_url: urls.at(&format!("groups/{path}")),
            name: group.name.clone(),
            path: group.path.clone(),
            description: group.description.clone(),
            visibility: group.visibility,
            share_with_group_lock: settings.share_with_group_lock,
            require_two_factor_authentication: settings.require_two_factor_authentication,
            two_factor_grace_period: settings.two_factor_grace_period,
            project_creation_level: group.project_creation_level.clone(),
            auto_devops_enabled: settings.auto_devops_enabled,
            subgroup_creation_level: group.subgroup_creation_level.clone(),
            emails_disabled: settings.emails_disabled,
            mentions_disabled: settings.mentions_disabled,
            lfs_enabled: settings.lfs_enabled.unwrap_or(true),
            default_branch_protection: group.default_branch_protection.unwrap_or(protection),
            avatar_url: group.avatar.as_ref().map(picture),
            request_access_enabled: settings.request_access_enabled,
            full_name: group.full_name.clone(),
            full_path: path.clone(),
            created_at: group.created_at,
            parent_id: group.parent_id.map(|parent| parent.0),
            custom_attributes: None,
            statistics: None,
            ldap_cn: settings.ldap_cn,
            ldap_access: settings.ldap_access,
            marked_for_deletion_on: group.marked_for_deletion_at.map(|at| date_text(at.date())),
            file_template_project_id: settings.file_template_project_id.map(|id| id.0),
            wiki_access_level: settings.wiki_access_level,
            ip_restriction_ranges: settings.ip_restriction_ranges,
        }
    }
}

impl From<&GroupLink> for SharedGroup {
    fn from(link: &GroupLink) -> Self {
        Self {
            group_id: link.invited.0,
            group_name: link.name.clone(),
            group_full_path: link.full_path.clone(),
            group_access_level: link.access_level.number(),
            expires_at: link.expires_at.map(|at| date_text(at.date())),
        }
    }
}

/// A group with its settings and projects.
#[derive(Debug, Serialize, ToSchema)]
pub struct GroupDetailEntity {
    #[serde(flatten)]
    group: GroupEntity,
    shared_with_groups: Vec<SharedGroup>,
    /// Registration token for runners. Owners only.
    #[serde(skip_serializing_if = "Option::is_none")]
    runners_token: Option<String>,
    /// Top-level groups only.
    #[serde(skip_serializing_if = "Option::is_none")]
    prevent_sharing_groups_outside_hierarchy: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    projects: Option<Vec<ProjectForm>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_projects: Option<Vec<ProjectForm>>,
    shared_runners_minutes_limit: Option<i64>,
    extra_shared_runners_minutes_limit: Option<i64>,
    prevent_forking_outside_group: bool,
    membership_lock: bool,
    shared_runners_setting: String,
    /// Owners only.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    download_limit: Option<DownloadLimit>,
    #[serde(skip)]
    settings: GroupSettings,
}

/// Limit of project downloads, beyond which a user is banned.
#[derive(Debug, Serialize, ToSchema)]
pub struct DownloadLimit {
    unique_project_download_limit: i64,
    unique_project_download_limit_interval_in_seconds: i64,
    unique_project_download_limit_allowlist: Vec<String>,
    unique_project_download_limit_alertlist: Vec<i64>,
    auto_ban_user_on_excessive_projects_download: bool,
}

impl GroupDetailEntity {
    /// The records of its projects.
    pub fn projects_mut(&mut self) -> impl Iterator<Item = &mut ProjectForm> {
        [&mut self.projects, &mut self.shared_projects].into_iter().flatten().flatten()
    }

    pub fn new(urls: &Urls, detail: &Detail, open: &OpenIssues) -> Self {
        let group = &detail.group;
        let settings = group.settings();
        let top = group.parent_id.is_none();
        let kept_inside = settings.prevent_sharing_groups_outside_hierarchy;
        let listed = |projects: &[ProjectView]| {
            projects.iter().map(|shown| ProjectForm::new(urls, shown, open)).collect::<Vec<_>>()
        };
        let notes = detail.notes.clone();
        let custom_attributes = notes.map(|notes| notes.into_iter().map(Into::into).collect());
        Self {
            group: GroupEntity {
                custom_attributes,
                ..GroupEntity::new(urls, group, detail.protection)
            },
            shared_with_groups: detail.links.iter().map(SharedGroup::from).collect(),
            runners_token: None,
            prevent_sharing_groups_outside_hierarchy: top.then_some(kept_inside),
            projects: detail.projects.as_ref().map(|projects| listed(&projects.own)),
            shared_projects: detail.projects.as_ref().map(|projects| listed(&projects.shared)),
            shared_runners_minutes_limit: settings.shared_runners_minutes_limit,
            extra_shared_runners_minutes_limit: settings.extra_shared_runners_minutes_limit,
            prevent_forking_outside_group: settings.prevent_forking_outside_group,
            membership_lock: settings.membership_lock,
            shared_runners_setting: settings.shared_runners_setting().to_string(),
            download_limit: None,
            settings,
        }
    }

    /// With what only owners are told.
    #[must_use]
    pub fn for_owner(self) -> Self {
        let settings = &self.settings;
        let download_limit = DownloadLimit {
            unique_project_download_limit: settings.unique_project_download_limit,
            unique_project_download_limit_interval_in_seconds: settings
                .unique_project_download_limit_interval_in_seconds,
            unique_project_download_limit_allowlist: settings
                .unique_project_download_limit_allowlist
                .clone(),
            unique_project_download_limit_alertlist: settings
                .unique_project_download_limit_alertlist
                .iter()
                .map(|user| user.0)
                .collect(),
            auto_ban_user_on_excessive_projects_download: settings
                .auto_ban_user_on_excessive_projects_download,
        };
        Self {
            runners_token: settings.runners_token.clone(),
            download_limit: Some(download_limit),
            ..self
        }
    }
}

/// A group to which a project or group can be transferred.
#[derive(Debug, Serialize, ToSchema)]
pub struct LocationEntity {
    id: i64,
    web_url: String,
    name: String,
    avatar_url: Option<String>,
    full_name: String,
    full_path: String,
}

impl LocationEntity {
    pub fn new(urls: &Urls, group: &Namespace) -> Self {
        let id = group.id;
        Self {
            id: id.0,
            web_url: urls.at(&format!("groups/{}", group.full_path)),
            name: group.name.clone(),
            avatar_url: group
                .avatar
                .as_ref()
                .map(|file| urls.at(&format!("uploads/-/system/group/avatar/{id}/{file}"))),
            full_name: group.full_name.clone(),
            full_path: group.full_path.clone(),
        }
    }
}
