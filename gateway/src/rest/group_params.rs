//! What owners may say of a group.

use kernel::{Visibility, ids::NamespaceId};
use org::namespace::{
    GroupDetails,
    model::{ProjectCreation, SubgroupCreation},
};

use super::small_numbers::BranchProtection;
use crate::{extract::Change, param_enums, params};

param_enums! { ProjectCreation, SubgroupCreation }

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
        membership_lock: Option<bool>,
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
        set(
            &mut details.settings.prevent_sharing_groups_outside_hierarchy,
            self.prevent_sharing_groups_outside_hierarchy,
        );
    }
}
