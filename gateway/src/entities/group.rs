//! A group.

use kernel::{Ts, Visibility};
use org::namespace::Namespace;
use serde::Serialize;
use utoipa::ToSchema;

use super::{custom_attribute::CustomAttributeEntity, group_statistics::GroupStatisticsEntity};
use crate::app::Urls;

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
    /// For administrators who ask for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_attributes: Option<Vec<CustomAttributeEntity>>,
    /// For administrators who ask for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<GroupStatisticsEntity>,
    file_template_project_id: Option<i64>,
    wiki_access_level: &'static str,
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
            file_template_project_id: None,
            wiki_access_level: "enabled",
            ip_restriction_ranges: None,
        }
    }
}

/// A group that others share with this one.
#[derive(Debug, Serialize, ToSchema)]
pub struct SharedGroup {
    group_id: i64,
    group_name: String,
    group_full_path: String,
    group_access_level: i32,
    expires_at: Option<String>,
}

/// A group by itself.
#[derive(Debug, Serialize, ToSchema)]
pub struct GroupDetailEntity {
    #[serde(flatten)]
    group: GroupEntity,
    shared_with_groups: Vec<SharedGroup>,
    /// Of groups at the top alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    prevent_sharing_groups_outside_hierarchy: Option<bool>,
    membership_lock: bool,
}

impl GroupDetailEntity {
    pub fn new(urls: &Urls, group: &Namespace, protection: i32) -> Self {
        let settings = group.settings();
        let top = group.parent_id.is_none();
        let kept_inside = settings.prevent_sharing_groups_outside_hierarchy;
        Self {
            group: GroupEntity::new(urls, group, protection),
            shared_with_groups: Vec::new(),
            prevent_sharing_groups_outside_hierarchy: top.then_some(kept_inside),
            membership_lock: settings.membership_lock,
        }
    }
}
