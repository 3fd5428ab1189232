//! A group or a personal namespace.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    AccessLevel, Actor, TextEnum, Ts, Visibility,
    access::{FeatureAccess, GroupFacts},
    ids::{NamespaceId, ProjectId, UserId},
};
use serde::{Deserialize, Serialize};

use crate::custom_attribute::CustomAttribute;

kernel::text_enum! { pub enum Kind { User = "user", Group = "group" } }
kernel::text_enum! {
    /// From which role on members may create projects in a group.
    pub enum ProjectCreation { NoOne = "noone", Maintainer = "maintainer", Developer = "developer" }
}
kernel::text_enum! {
    /// Access to a group's wiki.
    pub enum WikiAccess { Disabled = "disabled", Private = "private", Enabled = "enabled" }
}

kernel::text_enum! {
    /// From which role on members may create subgroups.
    pub enum SubgroupCreation { Owner = "owner", Maintainer = "maintainer" }
}

impl From<WikiAccess> for FeatureAccess {
    fn from(access: WikiAccess) -> Self {
        match access {
            WikiAccess::Disabled => Self::Disabled,
            WikiAccess::Private => Self::Private,
            WikiAccess::Enabled => Self::Enabled,
        }
    }
}
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::namespaces, check_for_backend(db::AnyBackend))]
pub struct Namespace {
    pub id: NamespaceId,
    pub kind: Kind,
    pub name: String,
    pub path: String,
    pub full_path: String,
    /// Names from the top, joined by ` / `.
    pub full_name: String,
    pub parent_id: Option<NamespaceId>,
    /// Only personal namespaces have one.
    pub owner_id: Option<UserId>,
    pub visibility: Visibility,
    pub description: Option<String>,
    pub avatar: Option<String>,
    pub default_branch_protection: Option<i32>,
    pub project_creation_level: String,
    pub subgroup_creation_level: String,
    #[diesel(column_name = settings)]
    pub settings_text: String,
    pub created_at: Ts,
    pub updated_at: Ts,
    /// Since when it is to go, where it is.
    pub marked_for_deletion_at: Option<Ts>,
    pub marked_by: Option<UserId>,
    /// From where alone it is reached, as its top-level group says: networks, joined by commas.
    pub ip_ranges: Option<String>,
}

impl Namespace {
    pub fn facts(&self) -> GroupFacts {
        GroupFacts {
            id: self.id,
            name: self.name.clone(),
            full_path: self.full_path.clone(),
            visibility: self.visibility,
        }
    }

    pub fn settings(&self) -> GroupSettings {
        serde_json::from_str(&self.settings_text).unwrap_or_default()
    }

    /// From which role on members may create subgroups here.
    pub fn may_create_subgroups(&self) -> AccessLevel {
        match SubgroupCreation::find(&self.subgroup_creation_level) {
            Some(SubgroupCreation::Maintainer) => AccessLevel::Maintainer,
            _ => AccessLevel::Owner,
        }
    }
}

/// Group settings beyond the columns that lists filter by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupSettings {
    pub share_with_group_lock: bool,
    pub require_two_factor_authentication: bool,
    pub two_factor_grace_period: i64,
    /// Whether groups below this one may demand a second factor when it does not; said at the top alone.
    pub allow_mfa_for_subgroups: bool,
    pub auto_devops_enabled: Option<bool>,
    pub emails_disabled: Option<bool>,
    pub mentions_disabled: Option<bool>,
    pub lfs_enabled: Option<bool>,
    pub request_access_enabled: bool,
    pub prevent_sharing_groups_outside_hierarchy: bool,
    /// Whether only the group, and none of its projects, may be given members.
    pub membership_lock: bool,
    pub ldap_cn: Option<String>,
    pub ldap_access: Option<i64>,
    pub shared_runners_minutes_limit: Option<i64>,
    pub extra_shared_runners_minutes_limit: Option<i64>,
    pub wiki_access_level: WikiAccess,
    pub file_template_project_id: Option<ProjectId>,
    /// Whether forks of its projects stay within its tree.
    pub prevent_forking_outside_group: bool,
    pub unique_project_download_limit: i64,
    pub unique_project_download_limit_interval_in_seconds: i64,
    /// User names that the limit does not concern.
    pub unique_project_download_limit_allowlist: Vec<String>,
    /// Who hears of those who take more; the owners, where nobody is named.
    pub unique_project_download_limit_alertlist: Vec<UserId>,
    pub auto_ban_user_on_excessive_projects_download: bool,
    /// From where alone the group is reached: networks, joined by commas.
    pub ip_restriction_ranges: Option<String>,
    pub shared_runners_enabled: bool,
    pub allow_descendants_override_disabled_shared_runners: bool,
    /// With which runners register themselves.
    pub runners_token: Option<String>,
}

/// Whether a group lets nobody into its projects by way of other groups, as SQL about the text of its settings.
pub(crate) fn keeps_to_itself(settings: &str) -> String {
    // Quotes inside of values are written with a backslash, so that only the setting itself reads like this.
    format!("({settings} LIKE '%\"share_with_group_lock\":true%')")
}

impl Default for GroupSettings {
    fn default() -> Self {
        Self {
            share_with_group_lock: false,
            require_two_factor_authentication: false,
            two_factor_grace_period: 48,
            allow_mfa_for_subgroups: true,
            auto_devops_enabled: None,
            emails_disabled: None,
            mentions_disabled: None,
            lfs_enabled: None,
            request_access_enabled: true,
            prevent_sharing_groups_outside_hierarchy: false,
            membership_lock: false,
            ldap_cn: None,
            ldap_access: None,
            shared_runners_minutes_limit: None,
            extra_shared_runners_minutes_limit: None,
            wiki_access_level: WikiAccess::Enabled,
            file_template_project_id: None,
            prevent_forking_outside_group: false,
            unique_project_download_limit: 0,
            unique_project_download_limit_interval_in_seconds: 0,
            unique_project_download_limit_allowlist: Vec::new(),
            unique_project_download_limit_alertlist: Vec::new(),
            auto_ban_user_on_excessive_projects_download: false,
            ip_restriction_ranges: None,
            shared_runners_enabled: true,
            allow_descendants_override_disabled_shared_runners: false,
            runners_token: None,
        }
    }
}

/// Everything about a group that its owners may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDetails {
    pub name: String,
    pub path: String,
    pub description: Option<String>,
    pub visibility: Visibility,
    /// The name of its picture.
    pub avatar: Option<String>,
    pub default_branch_protection: Option<i32>,
    pub project_creation_level: ProjectCreation,
    pub subgroup_creation_level: SubgroupCreation,
    pub settings: GroupSettings,
}

impl GroupDetails {
    pub fn of(group: &Namespace) -> Self {
        Self {
            name: group.name.clone(),
            path: group.path.clone(),
            description: group.description.clone(),
            visibility: group.visibility,
            avatar: group.avatar.clone(),
            default_branch_protection: group.default_branch_protection,
            project_creation_level: ProjectCreation::find(&group.project_creation_level)
                .unwrap_or(ProjectCreation::Developer),
            subgroup_creation_level: SubgroupCreation::find(&group.subgroup_creation_level)
                .unwrap_or(SubgroupCreation::Maintainer),
            settings: group.settings(),
        }
    }
}

kernel::text_enum! { pub enum GroupOrder {
    Name = "name", Path = "path", Id = "id", Similarity = "similarity",
} }

/// Which part of the tree a list shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TreeLevel {
    #[default]
    Anywhere,
    TopLevel,
    /// Direct children.
    Under(NamespaceId),
    /// Everything below the group with this full path.
    Below(String),
}

/// Which groups a list covers, by the caller's membership.
#[derive(Clone, Copy, Debug)]
pub enum GroupSelection {
    /// Administrators see everything.
    All,
    /// What is open to everybody, or to everybody who is signed in, and what `user` is a member of.
    Open { user: Option<UserId>, internal: bool },
    /// What the person has a role in, and what lies above that.
    Member { user: UserId },
    /// What the person has at least this role in.
    AtLeast { user: UserId, level: AccessLevel },
    /// What the person owns directly.
    Owned { user: UserId },
}

/// Which groups a list shows.
#[derive(Clone, Debug)]
pub struct GroupFilter {
    /// Who asks.
    pub actor: Actor,
    pub reach: GroupSelection,
    pub place: TreeLevel,
    pub search: Option<String>,
    pub skip: Vec<NamespaceId>,
    /// Only these.
    pub ids: Option<Vec<NamespaceId>>,
    /// What administrators noted of them; all of these.
    pub attributes: Vec<CustomAttribute>,
    /// Whether they are wanted from a place where nothing is kept.
    pub elsewhere: bool,
    pub order: GroupOrder,
    pub descending: bool,
    /// Where a list that is paged by its last element goes on.
    pub after: Option<(String, NamespaceId)>,
}
