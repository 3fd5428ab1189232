//! Settings that Forgeway acts by and that are no fields: one function for each.

use serde_json::Value;

use super::{Settings, table};

impl Settings {
    fn other(&self, name: &str) -> &Value {
        self.other.get(name).unwrap_or_else(|| table::default(name))
    }

    fn flag(&self, name: &str) -> bool {
        self.other(name).as_bool().unwrap_or_default()
    }

    /// `None` where it is null.
    fn number(&self, name: &str) -> Option<i64> {
        self.other(name).as_i64()
    }

    fn decimal(&self, name: &str) -> f64 {
        self.other(name).as_f64().unwrap_or_default()
    }

    /// `None` where it is null or blank.
    fn text(&self, name: &str) -> Option<&str> {
        self.other(name).as_str().filter(|text| !text.trim().is_empty())
    }

    fn words(&self, name: &str) -> Vec<&str> {
        self.other(name).as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

impl Settings {
    /// The day with which a week begins: 0 is Sunday, 1 Monday, 6 Saturday.
    pub fn first_day_of_week(&self) -> u8 {
        self.number("first_day_of_week").and_then(|day| u8::try_from(day).ok()).unwrap_or_default()
    }

    /// Whether new projects are put on any storage: one of weight 0 only keeps those that it has.
    pub fn has_storage_for_projects(&self) -> bool {
        let weights = self.other("repository_storages_weighted").as_object();
        // Without any weight, nobody has said that a storage is full.
        weights.is_none_or(|all| all.is_empty() || all.values().any(|weight| weight != 0))
    }
}

macro_rules! readers {
    ($($read:ident -> $type:ty { $($name:ident),* $(,)? })*) => {
        impl Settings {
            $($(pub fn $name(&self) -> $type {
                self.$read(stringify!($name))
            })*)*
        }

        #[cfg(test)]
        const READ: &[&str] = &[$($(stringify!($name)),*),*];
    };
}

readers! {
    flag -> bool {
        admin_mode,
        allow_group_owners_to_manage_ldap,
        asset_proxy_enabled,
        auto_ban_user_on_excessive_projects_download,
        auto_devops_enabled,
        bulk_import_enabled,
        deactivate_dormant_users,
        delayed_project_deletion,
        disable_admin_oauth_scopes,
        disable_overriding_approvers_per_merge_request,
        disable_personal_access_tokens,
        email_restrictions_enabled,
        enforce_terms,
        external_authorization_service_enabled,
        group_owners_can_manage_default_branch_protection,
        housekeeping_enabled,
        maintenance_mode,
        maven_package_requests_forwarding,
        notify_on_unknown_sign_in,
        npm_package_requests_forwarding,
        password_authentication_enabled_for_git,
        password_authentication_enabled_for_web,
        prevent_merge_requests_author_approval,
        prevent_merge_requests_committers_approval,
        project_export_enabled,
        pypi_package_requests_forwarding,
        require_admin_approval_after_user_signup,
        shared_runners_enabled,
        signup_enabled,
        throttle_authenticated_api_enabled,
        throttle_authenticated_files_api_enabled,
        throttle_authenticated_git_lfs_enabled,
        throttle_authenticated_web_enabled,
        throttle_incident_management_notification_enabled,
        throttle_protected_paths_enabled,
        throttle_unauthenticated_api_enabled,
        throttle_unauthenticated_enabled,
        throttle_unauthenticated_files_api_enabled,
        time_tracking_limit_to_hours,
        unique_ips_limit_enabled,
        user_deactivation_emails_enabled,
        user_default_external,
        user_defaults_to_private_profile,
        user_oauth_applications,
        user_show_add_ssh_key_message,
    }
    number -> Option<i64> {
        container_registry_token_expire_delay,
        diff_max_files,
        diff_max_lines,
        diff_max_patch_bytes,
        external_pipeline_validation_service_timeout,
        file_template_project_id,
        geo_status_timeout,
        group_download_export_limit,
        group_export_limit,
        group_import_limit,
        group_runner_token_expiration_interval,
        issues_create_limit,
        local_markdown_version,
        max_attachment_size,
        max_export_size,
        max_import_size,
        max_number_of_repository_downloads,
        max_number_of_repository_downloads_within_time_period,
        max_personal_access_token_lifetime,
        notes_create_limit,
        project_download_export_limit,
        project_export_limit,
        project_import_limit,
        project_runner_token_expiration_interval,
        push_event_activities_limit,
        push_event_hooks_limit,
        raw_blob_request_limit,
        receive_max_input_size,
        repository_size_limit,
        runner_token_expiration_interval,
        session_expire_delay,
        throttle_authenticated_api_period_in_seconds,
        throttle_authenticated_api_requests_per_period,
        throttle_authenticated_files_api_period_in_seconds,
        throttle_authenticated_files_api_requests_per_period,
        throttle_authenticated_git_lfs_period_in_seconds,
        throttle_authenticated_git_lfs_requests_per_period,
        throttle_authenticated_web_period_in_seconds,
        throttle_authenticated_web_requests_per_period,
        throttle_incident_management_notification_per_period,
        throttle_incident_management_notification_period_in_seconds,
        throttle_protected_paths_period_in_seconds,
        throttle_protected_paths_requests_per_period,
        throttle_unauthenticated_api_period_in_seconds,
        throttle_unauthenticated_api_requests_per_period,
        throttle_unauthenticated_files_api_period_in_seconds,
        throttle_unauthenticated_files_api_requests_per_period,
        throttle_unauthenticated_period_in_seconds,
        throttle_unauthenticated_requests_per_period,
        unique_ips_limit_per_user,
        unique_ips_limit_time_window,
        users_get_by_id_limit,
    }
    text -> Option<&str> {
        after_sign_out_path,
        after_sign_up_text,
        archive_builds_in_human_readable,
        asset_proxy_url,
        auto_devops_domain,
        abuse_notification_email,
        commit_email_hostname,
        custom_http_clone_url_root,
        default_ci_config_path,
        email_additional_text,
        email_restrictions,
        enabled_git_access_protocol,
        external_authorization_service_default_label,
        external_authorization_service_url,
        external_pipeline_validation_service_url,
        geo_node_allowed_ips,
        help_page_documentation_base_url,
        help_page_support_url,
        help_page_text,
        home_page_url,
        maintenance_mode_message,
        performance_bar_allowed_group_path,
        rate_limiting_response_text,
        sign_in_text,
        terms,
        user_default_internal_regex,
    }
    decimal -> f64 {
        external_authorization_service_timeout,
        polling_interval_multiplier,
    }
    words -> Vec<&str> {
        asset_proxy_allowlist,
        git_rate_limit_users_allowlist,
        import_sources,
        notes_create_limit_allowlist,
        protected_paths,
        users_get_by_id_limit_allowlist,
        valid_runner_registrars,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{READ, Settings, table};

    #[test]
    fn what_is_read_by_name_is_in_the_table_and_no_field() {
        let fields = serde_json::to_value(Settings::default()).unwrap();
        for name in READ {
            assert!(table::find(name).is_some(), "{name} is not in the table");
            assert!(fields.get(name).is_none(), "{name} is a field");
        }
    }

    #[test]
    fn each_setting_that_acts_is_read_or_a_field() {
        let fields = serde_json::to_value(Settings::default()).unwrap();
        // The first two are read by functions of their own; secrets are read where they are unsealed.
        let checked = [
            "first_day_of_week",
            "repository_storages_weighted",
            "asset_proxy_secret_key",
            "external_pipeline_validation_service_token",
        ];
        for setting in table::all().filter(|setting| setting.acts) {
            let read = READ.contains(&setting.name) || checked.contains(&setting.name);
            assert!(read || fields.get(setting.name).is_some(), "{}", setting.name);
        }
    }

    #[test]
    fn a_setting_that_nobody_set_has_its_default() {
        let mut settings = Settings::default();
        assert!(settings.password_authentication_enabled_for_git());
        assert_eq!((settings.home_page_url(), settings.issues_create_limit()), (None, None));
        settings.other.insert("home_page_url".to_owned(), Value::from("https://a.example"));
        assert_eq!(settings.home_page_url(), Some("https://a.example"));
    }
}
