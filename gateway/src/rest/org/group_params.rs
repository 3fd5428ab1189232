//! Parameters of groups.

use forge::files::Upload;
use kernel::{
    Visibility,
    ids::{NamespaceId, ProjectId, UserId},
};
use org::namespace::{
    GroupDetails, GroupSettings,
    model::{ProjectCreation, SubgroupCreation, WikiAccess},
    runners::SharedRunners,
};

use super::member_params::Level;
use crate::{
    extract::{Change, Csv},
    param_enums, params,
    rest::shared::int_enums::BranchProtection,
};

param_enums! { ProjectCreation, SharedRunners, SubgroupCreation, WikiAccess }

params! {
    pub(super) struct CreateGroup {
        name: String,
        path: String,
        parent_id: Option<NamespaceId>,
        visibility: Option<Visibility>,
    }
}

params! {
    pub(super) struct ChangeGroup {
        name: Option<String>,
        path: Option<String>,
        visibility: Option<Visibility>,
        prevent_sharing_groups_outside_hierarchy: Option<bool>,
        /// Whether subgroups may require two-factor authentication; only for top-level groups.
        allow_mfa_for_subgroups: Option<bool>,
        shared_runners_setting: Option<SharedRunners>,
        file_template_project_id: Change<ProjectId>,
        prevent_forking_outside_group: Option<bool>,
        unique_project_download_limit: Option<i64>,
        unique_project_download_limit_interval_in_seconds: Option<i64>,
        unique_project_download_limit_allowlist: Option<Csv<String>>,
        unique_project_download_limit_alertlist: Option<Csv<UserId>>,
        auto_ban_user_on_excessive_projects_download: Option<bool>,
        ip_restriction_ranges: Change<String>,
    }
}

params! {
    pub(super) struct ShowGroup {
        with_custom_attributes: bool = false,
        with_projects: bool = true,
    }
}

params! {
    pub(super) struct RemoveGroupParams {
        permanently_remove: bool = false,
        full_path: Option<String>,
    }
}

params! {
    /// The parameters that making and changing a group share.
    pub(super) struct GroupParams {
        description: Change<String>,
        share_with_group_lock: Option<bool>,
        require_two_factor_authentication: Option<bool>,
        two_factor_grace_period: Option<i64>,
        project_creation_level: Option<ProjectCreation>,
        auto_devops_enabled: Change<bool>,
        subgroup_creation_level: Option<SubgroupCreation>,
        emails_disabled: Change<bool>,
        mentions_disabled: Change<bool>,
        lfs_enabled: Change<bool>,
        request_access_enabled: Option<bool>,
        default_branch_protection: Option<BranchProtection>,
        avatar: Change<Upload>,
        membership_lock: Option<bool>,
        ldap_cn: Change<String>,
        ldap_access: Change<Level>,
        shared_runners_minutes_limit: Change<i64>,
        extra_shared_runners_minutes_limit: Change<i64>,
        wiki_access_level: Option<WikiAccess>,
    }
}

/// Sets a value that was given, and leaves another as it is.
fn set<T: Copy>(place: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *place = value;
    }
}

fn nullable<T: Clone>(place: &mut Option<T>, change: &Change<T>) {
    if let Some(update) = change.clone().into_update() {
        *place = update;
    }
}

impl GroupParams {
    pub(super) fn apply(&self, details: &mut GroupDetails) {
        match &self.description {
            Change::Keep => {}
            Change::Clear => details.description = Some(String::new()),
            Change::Set(text) => details.description = Some(text.clone()),
        }
        set(&mut details.project_creation_level, self.project_creation_level);
        set(&mut details.subgroup_creation_level, self.subgroup_creation_level);
        if let Some(protection) = self.default_branch_protection {
            details.default_branch_protection = Some(protection.0);
        }
        let settings = &mut details.settings;
        set(&mut settings.share_with_group_lock, self.share_with_group_lock);
        set(
            &mut settings.require_two_factor_authentication,
            self.require_two_factor_authentication,
        );
        set(&mut settings.two_factor_grace_period, self.two_factor_grace_period);
        set(&mut settings.request_access_enabled, self.request_access_enabled);
        set(&mut settings.membership_lock, self.membership_lock);
        set(&mut settings.wiki_access_level, self.wiki_access_level);
        nullable(&mut settings.ldap_cn, &self.ldap_cn);
        if let Some(level) = self.ldap_access.clone().into_update() {
            settings.ldap_access = level.map(|level| level.0.number().into());
        }
        nullable(&mut settings.shared_runners_minutes_limit, &self.shared_runners_minutes_limit);
        nullable(
            &mut settings.extra_shared_runners_minutes_limit,
            &self.extra_shared_runners_minutes_limit,
        );
        nullable(&mut settings.auto_devops_enabled, &self.auto_devops_enabled);
        nullable(&mut settings.emails_disabled, &self.emails_disabled);
        nullable(&mut settings.mentions_disabled, &self.mentions_disabled);
        nullable(&mut settings.lfs_enabled, &self.lfs_enabled);
    }
}

impl ChangeGroup {
    pub(super) fn apply(&self, details: &mut GroupDetails) {
        if let Some(name) = &self.name {
            details.name.clone_from(name);
        }
        if let Some(path) = &self.path {
            details.path.clone_from(path);
        }
        set(&mut details.visibility, self.visibility);
        let settings = &mut details.settings;
        set(
            &mut settings.prevent_sharing_groups_outside_hierarchy,
            self.prevent_sharing_groups_outside_hierarchy,
        );
        set(&mut settings.allow_mfa_for_subgroups, self.allow_mfa_for_subgroups);
        if let Some(wanted) = self.shared_runners_setting {
            settings.set_shared_runners(wanted);
        }
        nullable(&mut settings.file_template_project_id, &self.file_template_project_id);
        set(&mut settings.prevent_forking_outside_group, self.prevent_forking_outside_group);
        nullable(&mut settings.ip_restriction_ranges, &self.ip_restriction_ranges);
        self.apply_download_limits(settings);
    }

    fn apply_download_limits(&self, settings: &mut GroupSettings) {
        set(&mut settings.unique_project_download_limit, self.unique_project_download_limit);
        set(
            &mut settings.unique_project_download_limit_interval_in_seconds,
            self.unique_project_download_limit_interval_in_seconds,
        );
        if let Some(names) = &self.unique_project_download_limit_allowlist {
            settings.unique_project_download_limit_allowlist.clone_from(&names.0);
        }
        if let Some(people) = &self.unique_project_download_limit_alertlist {
            settings.unique_project_download_limit_alertlist.clone_from(&people.0);
        }
        set(
            &mut settings.auto_ban_user_on_excessive_projects_download,
            self.auto_ban_user_on_excessive_projects_download,
        );
    }
}
