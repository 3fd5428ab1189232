//! Project settings, as the project's record shows them.

use kernel::{AccessLevel::Maintainer, access::FeatureAccess, time::date_text};
use org::project::{
    Project, ProjectView,
    settings::{DeployStrategy, ExpirationPolicy, GitStrategy, MergeMethod, SquashOption, Switch},
    view::FullView,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::project::reads_code;

#[derive(Debug, Serialize, ToSchema)]
pub struct ExpirationPolicyEntity {
    pub cadence: Option<String>,
    pub enabled: bool,
    pub keep_n: Option<i64>,
    pub older_than: Option<String>,
    pub name_regex: Option<String>,
    pub name_regex_keep: Option<String>,
    pub next_run_at: Option<String>,
}

macro_rules! levels { ($($name:ident),* $(,)?) => {
    /// Access level of each project feature.
    #[derive(Debug, Serialize, ToSchema)]
    pub struct FeatureLevels { $(#[schema(value_type = String)] pub $name: FeatureAccess),* }
} }
levels! {
    issues_access_level, repository_access_level, merge_requests_access_level, forking_access_level,
    wiki_access_level, builds_access_level, snippets_access_level, pages_access_level, operations_access_level,
    analytics_access_level, container_registry_access_level, security_and_compliance_access_level,
    releases_access_level, environments_access_level, feature_flags_access_level, infrastructure_access_level,
    monitor_access_level,
}

/// CI/CD settings.
#[derive(Debug, Serialize, ToSchema)]
pub struct CiSettings {
    pub ci_default_git_depth: Option<i64>,
    pub ci_forward_deployment_enabled: bool,
    pub ci_job_token_scope_enabled: bool,
    pub ci_separated_caches: bool,
    pub ci_opt_in_jwt: bool,
    pub ci_allow_fork_pipelines_to_run_in_parent_project: bool,
    #[schema(value_type = String)]
    pub build_git_strategy: GitStrategy,
    pub keep_latest_artifact: bool,
    pub restrict_user_defined_variables: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runners_token: Option<String>,
    pub runner_token_expiration_interval: Option<i64>,
    pub group_runners_enabled: bool,
    #[schema(value_type = String)]
    pub auto_cancel_pending_pipelines: Switch,
    pub build_timeout: i64,
    pub auto_devops_enabled: bool,
    #[schema(value_type = String)]
    pub auto_devops_deploy_strategy: DeployStrategy,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci_config_path: Option<Option<String>>,
    pub public_jobs: bool,
}

/// Merge request settings.
#[derive(Debug, Serialize, ToSchema)]
pub struct MergeSettings {
    pub only_allow_merge_if_pipeline_succeeds: bool,
    pub allow_merge_on_skipped_pipeline: Option<bool>,
    pub request_access_enabled: bool,
    pub only_allow_merge_if_all_discussions_are_resolved: bool,
    pub remove_source_branch_after_merge: bool,
    pub printing_merge_request_link_enabled: bool,
    #[schema(value_type = String)]
    pub merge_method: MergeMethod,
    #[schema(value_type = String)]
    pub squash_option: SquashOption,
    pub enforce_auth_checks_on_uploads: bool,
    pub suggestion_commit_message: Option<String>,
    pub merge_commit_template: Option<String>,
    pub squash_commit_template: Option<String>,
    pub issue_branch_template: Option<String>,
}

/// Settings of paid tiers in other products; all are available here.
#[derive(Debug, Serialize, ToSchema)]
pub struct FurtherSettings {
    pub approvals_before_merge: i64,
    pub mirror: bool,
    pub external_authorization_classification_label: Option<String>,
    pub marked_for_deletion_at: Option<String>,
    pub marked_for_deletion_on: Option<String>,
    pub requirements_enabled: bool,
    #[schema(value_type = String)]
    pub requirements_access_level: FeatureAccess,
    pub security_and_compliance_enabled: bool,
    pub compliance_frameworks: Vec<String>,
    pub issues_template: Option<String>,
    pub merge_requests_template: Option<String>,
    pub merge_pipelines_enabled: bool,
    pub merge_trains_enabled: bool,
}

impl FeatureLevels {
    pub(super) fn new(shown: &ProjectView, full: &FullView) -> Self {
        let (project, settings) = (&shown.project, &full.settings);
        Self {
            issues_access_level: project.issues_access,
            repository_access_level: project.repository_access,
            merge_requests_access_level: project.merge_requests_access,
            forking_access_level: project.forking_access,
            wiki_access_level: project.wiki_access,
            builds_access_level: project.builds_access,
            snippets_access_level: project.snippets_access,
            pages_access_level: settings.pages_access_level,
            operations_access_level: settings.operations_access_level,
            analytics_access_level: settings.analytics_access_level,
            container_registry_access_level: settings.container_registry_access_level,
            security_and_compliance_access_level: settings.security_and_compliance_access_level,
            releases_access_level: settings.releases_access_level,
            environments_access_level: settings.environments_access_level,
            feature_flags_access_level: settings.feature_flags_access_level,
            infrastructure_access_level: settings.infrastructure_access_level,
            monitor_access_level: settings.monitor_access_level,
        }
    }
}

impl CiSettings {
    pub(super) fn new(shown: &ProjectView, full: &FullView) -> Self {
        let settings = &full.settings;
        let token = shown.who.is(Maintainer).then(|| settings.runners_token.clone());
        Self {
            ci_default_git_depth: settings.ci_default_git_depth,
            ci_forward_deployment_enabled: settings.ci_forward_deployment_enabled,
            ci_job_token_scope_enabled: settings.ci_job_token_scope_enabled,
            ci_separated_caches: settings.ci_separated_caches,
            ci_opt_in_jwt: settings.ci_opt_in_jwt,
            ci_allow_fork_pipelines_to_run_in_parent_project: settings
                .ci_allow_fork_pipelines_to_run_in_parent_project,
            build_git_strategy: settings.build_git_strategy,
            keep_latest_artifact: settings.keep_latest_artifact,
            restrict_user_defined_variables: settings.restrict_user_defined_variables,
            runners_token: token,
            runner_token_expiration_interval: settings.runner_token_expiration_interval,
            group_runners_enabled: settings.group_runners_enabled,
            auto_cancel_pending_pipelines: settings.auto_cancel_pending_pipelines,
            build_timeout: settings.build_timeout,
            auto_devops_enabled: settings.auto_devops_enabled,
            auto_devops_deploy_strategy: settings.auto_devops_deploy_strategy,
            ci_config_path: reads_code(shown).then(|| settings.ci_config_path.clone()),
            public_jobs: settings.public_jobs,
        }
    }
}

impl From<&org::project::Settings> for MergeSettings {
    fn from(settings: &org::project::Settings) -> Self {
        Self {
            only_allow_merge_if_pipeline_succeeds: settings.only_allow_merge_if_pipeline_succeeds,
            allow_merge_on_skipped_pipeline: settings.allow_merge_on_skipped_pipeline,
            request_access_enabled: settings.request_access_enabled,
            only_allow_merge_if_all_discussions_are_resolved: settings
                .only_allow_merge_if_all_discussions_are_resolved,
            remove_source_branch_after_merge: settings.remove_source_branch_after_merge,
            printing_merge_request_link_enabled: settings.printing_merge_request_link_enabled,
            merge_method: settings.merge_method,
            squash_option: settings.squash_option,
            enforce_auth_checks_on_uploads: settings.enforce_auth_checks_on_uploads,
            suggestion_commit_message: settings.suggestion_commit_message.clone(),
            merge_commit_template: settings.merge_commit_template.clone(),
            squash_commit_template: settings.squash_commit_template.clone(),
            issue_branch_template: settings.issue_branch_template.clone(),
        }
    }
}

impl FurtherSettings {
    pub(super) fn new(project: &Project, settings: &org::project::Settings) -> Self {
        let marked = project.marked_for_deletion_at.map(|at| date_text(at.date()));
        let on = |access: FeatureAccess| access != FeatureAccess::Disabled;
        Self {
            approvals_before_merge: settings.approvals_before_merge,
            mirror: false,
            external_authorization_classification_label: settings
                .external_authorization_classification_label
                .clone(),
            marked_for_deletion_at: marked.clone(),
            marked_for_deletion_on: marked,
            requirements_enabled: on(settings.requirements_access_level),
            requirements_access_level: settings.requirements_access_level,
            security_and_compliance_enabled: on(settings.security_and_compliance_access_level),
            compliance_frameworks: Vec::new(),
            issues_template: settings.issues_template.clone(),
            merge_requests_template: settings.merge_requests_template.clone(),
            merge_pipelines_enabled: settings.merge_pipelines_enabled,
            merge_trains_enabled: settings.merge_trains_enabled,
        }
    }
}

impl From<ExpirationPolicy> for ExpirationPolicyEntity {
    fn from(policy: ExpirationPolicy) -> Self {
        Self {
            cadence: policy.cadence,
            enabled: policy.enabled,
            keep_n: policy.keep_n,
            older_than: policy.older_than,
            name_regex: policy.name_regex,
            name_regex_keep: policy.name_regex_keep,
            next_run_at: None,
        }
    }
}
