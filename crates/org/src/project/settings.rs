//! Project settings beyond the columns that lists filter by: one table of names, types and defaults.

use std::collections::BTreeMap;

use db::{OneOf as _, Tx, each_backend, error, schema::project_settings};
use diesel::prelude::*;
use kernel::{Error, Result, access::FeatureAccess, ids::ProjectId};
use serde::{Deserialize, Serialize};

use crate::namespace::Namespace;

kernel::text_enum! {
    /// The merge method of a project.
    pub enum MergeMethod { Merge = "merge", Rebase = "rebase_merge", FastForward = "ff" }
}
kernel::text_enum! {
    /// Whether merge requests become one commit.
    pub enum SquashOption { Never = "never", Always = "always", DefaultOn = "default_on", DefaultOff = "default_off" }
}
kernel::text_enum! {
    /// The way in which jobs get the sources.
    pub enum GitStrategy { Fetch = "fetch", Clone = "clone" }
}
kernel::text_enum! { pub enum Switch { Enabled = "enabled", Disabled = "disabled" } }
kernel::text_enum! {
    pub enum DeployStrategy { Continuous = "continuous", Manual = "manual", Timed = "timed_incremental" }
}

/// Which container images are cleaned up, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExpirationPolicy {
    pub cadence: Option<String>,
    pub enabled: bool,
    pub keep_n: Option<i64>,
    pub older_than: Option<String>,
    pub name_regex: Option<String>,
    pub name_regex_keep: Option<String>,
}

/// Fields of the policy to change; `None` keeps a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpirationChange {
    pub cadence: Option<String>,
    pub enabled: Option<bool>,
    pub keep_n: Option<i64>,
    pub older_than: Option<String>,
    pub name_regex: Option<String>,
    pub name_regex_keep: Option<String>,
}

impl From<&ExpirationPolicy> for ExpirationChange {
    fn from(policy: &ExpirationPolicy) -> Self {
        Self {
            cadence: policy.cadence.clone(),
            enabled: Some(policy.enabled),
            keep_n: policy.keep_n,
            older_than: policy.older_than.clone(),
            name_regex: policy.name_regex.clone(),
            name_regex_keep: policy.name_regex_keep.clone(),
        }
    }
}

impl ExpirationChange {
    fn apply(&self, policy: &mut ExpirationPolicy) {
        macro_rules! keep_or_set { ($($name:ident),*) => { $(
            policy.$name = self.$name.clone().or(policy.$name.take());
        )* } }
        keep_or_set! { cadence, keep_n, older_than, name_regex, name_regex_keep }
        policy.enabled = self.enabled.unwrap_or(policy.enabled);
    }
}

/// Hands the table of settings to another macro: `name: Type = default`, by the API's names.
#[macro_export]
macro_rules! each_project_setting {
    ($then:path) => {
        $then! {
            pages_access_level: FeatureAccess = FeatureAccess::Enabled,
            operations_access_level: FeatureAccess = FeatureAccess::Enabled,
            analytics_access_level: FeatureAccess = FeatureAccess::Enabled,
            container_registry_access_level: FeatureAccess = FeatureAccess::Enabled,
            security_and_compliance_access_level: FeatureAccess = FeatureAccess::Private,
            releases_access_level: FeatureAccess = FeatureAccess::Enabled,
            environments_access_level: FeatureAccess = FeatureAccess::Enabled,
            feature_flags_access_level: FeatureAccess = FeatureAccess::Enabled,
            infrastructure_access_level: FeatureAccess = FeatureAccess::Enabled,
            monitor_access_level: FeatureAccess = FeatureAccess::Enabled,
            requirements_access_level: FeatureAccess = FeatureAccess::Enabled,
            packages_enabled: bool = true,
            resolve_outdated_diff_discussions: bool = false,
            service_desk_enabled: bool = false,
            emails_disabled: Option<bool> = None,
            shared_runners_enabled: bool = true,
            lfs_enabled: bool = true,
            mr_default_target_self: bool = false,
            ci_default_git_depth: Option<i64> = Some(20),
            ci_forward_deployment_enabled: bool = true,
            ci_job_token_scope_enabled: bool = false,
            ci_separated_caches: bool = true,
            ci_opt_in_jwt: bool = false,
            ci_allow_fork_pipelines_to_run_in_parent_project: bool = true,
            build_git_strategy: GitStrategy = GitStrategy::Fetch,
            keep_latest_artifact: bool = true,
            restrict_user_defined_variables: bool = false,
            runner_token_expiration_interval: Option<i64> = None,
            group_runners_enabled: bool = true,
            auto_cancel_pending_pipelines: Switch = Switch::Enabled,
            build_timeout: i64 = 3600,
            auto_devops_enabled: bool = false,
            auto_devops_deploy_strategy: DeployStrategy = DeployStrategy::Continuous,
            ci_config_path: Option<String> = None,
            public_jobs: bool = true,
            only_allow_merge_if_pipeline_succeeds: bool = false,
            allow_merge_on_skipped_pipeline: Option<bool> = None,
            request_access_enabled: bool = true,
            only_allow_merge_if_all_discussions_are_resolved: bool = false,
            remove_source_branch_after_merge: bool = true,
            printing_merge_request_link_enabled: bool = true,
            merge_method: MergeMethod = MergeMethod::Merge,
            squash_option: SquashOption = SquashOption::DefaultOff,
            enforce_auth_checks_on_uploads: bool = true,
            suggestion_commit_message: Option<String> = None,
            merge_commit_template: Option<String> = None,
            squash_commit_template: Option<String> = None,
            issue_branch_template: Option<String> = None,
            autoclose_referenced_issues: bool = true,
            approvals_before_merge: i64 = 0,
            external_authorization_classification_label: Option<String> = None,
            issues_template: Option<String> = None,
            merge_requests_template: Option<String> = None,
            merge_pipelines_enabled: bool = false,
            merge_trains_enabled: bool = false,
        }
    };
}

macro_rules! declare { ($($name:ident: $type:ty = $default:expr),* $(,)?) => {
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Settings {
        $(pub $name: $type,)*
        pub container_expiration_policy: Option<ExpirationPolicy>,
        /// Whether jobs of other projects reach this one only where it lists them.
        pub ci_inbound_job_token_scope_enabled: bool,
        /// Registers runners for this project.
        pub runners_token: String,
    }

    impl Default for Settings {
        fn default() -> Self {
            Self {
                $($name: $default,)*
                container_expiration_policy: None,
                ci_inbound_job_token_scope_enabled: true,
                runners_token: String::new(),
            }
        }
    }

    /// Settings to change; `None` keeps a value.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SettingsChange {
        $(pub $name: Option<$type>,)*
        pub container_expiration_policy: Option<ExpirationChange>,
    }

    impl SettingsChange {
        /// The names of all that can be set.
        pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

        pub fn is_empty(&self) -> bool {
            *self == Self::default()
        }

        pub fn apply(&self, settings: &mut Settings) {
            $(if let Some(value) = &self.$name {
                settings.$name = value.clone();
            })*
            if let Some(change) = &self.container_expiration_policy {
                change.apply(settings.container_expiration_policy.get_or_insert_default());
            }
        }
    }
} }
each_project_setting!(declare);

impl Settings {
    /// What a new project in a namespace begins with: where a group has switched shared runners off, they are off.
    pub fn in_namespace(home: &Namespace) -> Self {
        let shared_runners_enabled = home.settings().shared_runners_enabled;
        Self { shared_runners_enabled, ..Self::default() }
    }

    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(Error::internal)
    }

    /// Only what differs from the defaults is stored: rows stay short, and are quick to read.
    pub fn to_stored(&self) -> Result<String> {
        let mut own = serde_json::to_value(self).map_err(Error::internal)?;
        let defaults = serde_json::to_value(Self::default()).map_err(Error::internal)?;
        if let (Some(own), Some(defaults)) = (own.as_object_mut(), defaults.as_object()) {
            own.retain(|name, value| defaults.get(name) != Some(value));
        }
        Ok(own.to_string())
    }
}

pub trait SettingsStore {
    fn project_settings(&mut self, project: ProjectId) -> Result<Settings>;
    /// The settings of a page of projects at once.
    fn settings_by_project(
        &mut self,
        projects: &[ProjectId],
    ) -> Result<BTreeMap<ProjectId, Settings>>;
    fn save_settings(&mut self, project: ProjectId, settings: &Settings) -> Result<()>;
}

impl SettingsStore for Tx<'_> {
    fn project_settings(&mut self, project: ProjectId) -> Result<Settings> {
        let query = project_settings::table.find(project).select(project_settings::settings);
        let text: String =
            each_backend!(self, |conn| query.get_result(conn).map_err(error("Project")))?;
        Settings::parse(&text)
    }

    fn settings_by_project(
        &mut self,
        projects: &[ProjectId],
    ) -> Result<BTreeMap<ProjectId, Settings>> {
        let rows: Vec<(ProjectId, String)> = each_backend!(self, |conn| project_settings::table
            .filter(project_settings::project_id.one_of(projects))
            .select((project_settings::project_id, project_settings::settings))
            .load(conn)
            .map_err(error("Project")))?;
        rows.into_iter().map(|(id, text)| Ok((id, Settings::parse(&text)?))).collect()
    }

    fn save_settings(&mut self, project: ProjectId, settings: &Settings) -> Result<()> {
        let update = diesel::update(project_settings::table.find(project))
            .set(project_settings::settings.eq(settings.to_stored()?));
        each_backend!(self, |conn| update.execute(conn).map_err(error("Project")))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{ExpirationChange, MergeMethod, Settings, SettingsChange};

    #[test]
    fn only_what_differs_is_stored() {
        let mut settings = Settings::default();
        assert_eq!(settings.to_stored().unwrap(), "{}");

        let change = SettingsChange {
            merge_method: Some(MergeMethod::FastForward),
            ci_default_git_depth: Some(None),
            ..SettingsChange::default()
        };
        change.apply(&mut settings);

        let stored = settings.to_stored().unwrap();
        assert_eq!(stored, r#"{"ci_default_git_depth":null,"merge_method":"ff"}"#);
        assert_eq!(Settings::parse(&stored).unwrap(), settings);
    }

    #[test]
    fn a_part_of_a_policy_leaves_the_rest_of_it() {
        let change = |policy| SettingsChange {
            container_expiration_policy: Some(policy),
            ..SettingsChange::default()
        };
        let mut settings = Settings::default();
        let first = ExpirationChange { enabled: Some(true), keep_n: Some(5), ..Default::default() };
        change(first).apply(&mut settings);

        let second = ExpirationChange { keep_n: Some(10), ..Default::default() };
        change(second).apply(&mut settings);

        let policy = settings.container_expiration_policy.unwrap();
        assert_eq!((policy.enabled, policy.keep_n), (true, Some(10)));
    }
}
