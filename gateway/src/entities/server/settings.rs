//! What the installation is set to.

use kernel::Visibility;
use org::settings::{EmailConfirmation, Settings};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct SettingsEntity {
    id: i64,
    can_create_group: bool,
    ci_max_includes: i64,
    deactivate_dormant_users_period: i64,
    default_artifacts_expire_in: String,
    default_branch_name: String,
    default_branch_protection: i32,
    #[schema(value_type = String)]
    default_group_visibility: Visibility,
    default_project_creation: i32,
    #[schema(value_type = String)]
    default_project_visibility: Visibility,
    default_projects_limit: i64,
    delayed_group_deletion: bool,
    deletion_adjourned_period: i64,
    dsa_key_restriction: i64,
    ecdsa_key_restriction: i64,
    ecdsa_sk_key_restriction: i64,
    ed25519_key_restriction: i64,
    ed25519_sk_key_restriction: i64,
    max_ssh_key_lifetime: Option<i64>,
    domain_allowlist: Vec<String>,
    domain_denylist: Vec<String>,
    domain_denylist_enabled: bool,
    #[schema(value_type = String)]
    email_confirmation_setting: EmailConfirmation,
    git_push_pipeline_limit: i64,
    gravatar_enabled: bool,
    keep_latest_artifact: bool,
    max_artifacts_size: i64,
    max_yaml_depth: i64,
    max_yaml_size_bytes: i64,
    minimum_password_length: i64,
    password_lowercase_required: bool,
    password_number_required: bool,
    password_symbol_required: bool,
    password_uppercase_required: bool,
    personal_access_token_prefix: String,
    pipeline_limit_per_project_user_sha: i64,
    polling_interval_multiplier: String,
    #[schema(value_type = Vec<String>)]
    restricted_visibility_levels: Vec<Visibility>,
    rsa_key_restriction: i64,
    wiki_page_max_content_bytes: i64,
}

impl From<Settings> for SettingsEntity {
    fn from(settings: Settings) -> Self {
        Self {
            id: 1,
            can_create_group: settings.can_create_group,
            ci_max_includes: settings.ci_max_includes,
            deactivate_dormant_users_period: settings.deactivate_dormant_users_period,
            default_artifacts_expire_in: settings.default_artifacts_expire_in,
            default_branch_name: settings.default_branch_name,
            default_branch_protection: settings.default_branch_protection,
            default_group_visibility: settings.default_group_visibility,
            default_project_creation: settings.default_project_creation,
            default_project_visibility: settings.default_project_visibility,
            default_projects_limit: settings.default_projects_limit,
            delayed_group_deletion: settings.delayed_group_deletion,
            deletion_adjourned_period: settings.deletion_adjourned_period,
            dsa_key_restriction: settings.dsa_key_restriction,
            ecdsa_key_restriction: settings.ecdsa_key_restriction,
            ecdsa_sk_key_restriction: settings.ecdsa_sk_key_restriction,
            ed25519_key_restriction: settings.ed25519_key_restriction,
            ed25519_sk_key_restriction: settings.ed25519_sk_key_restriction,
            max_ssh_key_lifetime: settings.max_ssh_key_lifetime,
            domain_allowlist: settings.domain_allowlist,
            domain_denylist: settings.domain_denylist,
            domain_denylist_enabled: settings.domain_denylist_enabled,
            minimum_password_length: settings.minimum_password_length,
            email_confirmation_setting: settings.email_confirmation_setting,
            git_push_pipeline_limit: settings.git_push_pipeline_limit,
            gravatar_enabled: settings.gravatar_enabled,
            keep_latest_artifact: settings.keep_latest_artifact,
            max_artifacts_size: settings.max_artifacts_size,
            max_yaml_depth: settings.max_yaml_depth,
            max_yaml_size_bytes: settings.max_yaml_size_bytes,
            password_lowercase_required: settings.password_lowercase_required,
            password_number_required: settings.password_number_required,
            password_symbol_required: settings.password_symbol_required,
            password_uppercase_required: settings.password_uppercase_required,
            personal_access_token_prefix: settings.personal_access_token_prefix,
            pipeline_limit_per_project_user_sha: settings.pipeline_limit_per_project_user_sha,
            polling_interval_multiplier: settings.polling_interval_multiplier,
            restricted_visibility_levels: settings.restricted_visibility_levels,
            rsa_key_restriction: settings.rsa_key_restriction,
            wiki_page_max_content_bytes: settings.wiki_page_max_content_bytes,
        }
    }
}
