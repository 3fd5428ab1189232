//! What the installation is set to.

use ci::artifact::Lifetime;
use kernel::{Visibility, access::Administrate};
use org::settings::{self, EmailConfirmation, Settings, store::SettingsStore};
use serde_json::{Value, json};

use crate::{
    app::App,
    entities::server::settings::SettingsEntity,
    error::ApiResult,
    extract::{Call, Change, Csv, Flaws, Param, Raw, params::INVALID},
    param_enums, params,
    present::Json,
    rest::shared::small_numbers::BranchProtection,
    routes,
};

routes! { "Application settings" at "/application/settings";
    GET "" => show   : Administrate,
    PUT "" => update : Administrate,
}

param_enums! { EmailConfirmation }

params! {
    struct ChangeSettings {
        can_create_group: Option<bool>,
        ci_max_includes: Option<i64>,
        deactivate_dormant_users_period: Option<i64>,
        default_artifacts_expire_in: Option<ArtifactLifetime>,
        default_branch_name: Option<String>,
        default_branch_protection: Option<BranchProtection>,
        default_group_visibility: Option<Visibility>,
        default_project_creation: Option<i64>,
        default_project_visibility: Option<Visibility>,
        default_projects_limit: Option<i64>,
        delayed_group_deletion: Option<bool>,
        deletion_adjourned_period: Option<i64>,
        dsa_key_restriction: Option<i64>,
        ecdsa_key_restriction: Option<i64>,
        ecdsa_sk_key_restriction: Option<i64>,
        ed25519_key_restriction: Option<i64>,
        ed25519_sk_key_restriction: Option<i64>,
        max_ssh_key_lifetime: Change<i64>,
        domain_allowlist: Option<Csv<String>>,
        domain_denylist: Option<Csv<String>>,
        domain_denylist_enabled: Option<bool>,
        email_confirmation_setting: Option<EmailConfirmation>,
        git_push_pipeline_limit: Option<i64>,
        gravatar_enabled: Option<bool>,
        keep_latest_artifact: Option<bool>,
        max_artifacts_size: Option<i64>,
        max_yaml_depth: Option<i64>,
        max_yaml_size_bytes: Option<i64>,
        minimum_password_length: Option<i64>,
        password_lowercase_required: Option<bool>,
        password_number_required: Option<bool>,
        password_symbol_required: Option<bool>,
        password_uppercase_required: Option<bool>,
        personal_access_token_prefix: Option<String>,
        pipeline_limit_per_project_user_sha: Option<i64>,
        polling_interval_multiplier: Option<Multiplier>,
        restricted_visibility_levels: Option<Csv<Visibility>>,
        rsa_key_restriction: Option<i64>,
        wiki_page_max_content_bytes: Option<i64>,
    } with at_least_one(
        "can_create_group",
        "ci_max_includes",
        "deactivate_dormant_users_period",
        "default_artifacts_expire_in",
        "default_branch_name",
        "default_branch_protection",
        "default_group_visibility",
        "default_project_creation",
        "default_project_visibility",
        "default_projects_limit",
        "delayed_group_deletion",
        "deletion_adjourned_period",
        "dsa_key_restriction",
        "ecdsa_key_restriction",
        "ecdsa_sk_key_restriction",
        "ed25519_key_restriction",
        "ed25519_sk_key_restriction",
        "max_ssh_key_lifetime",
        "domain_allowlist",
        "domain_denylist",
        "domain_denylist_enabled",
        "email_confirmation_setting",
        "git_push_pipeline_limit",
        "gravatar_enabled",
        "keep_latest_artifact",
        "max_artifacts_size",
        "max_yaml_depth",
        "max_yaml_size_bytes",
        "minimum_password_length",
        "password_lowercase_required",
        "password_number_required",
        "password_symbol_required",
        "password_uppercase_required",
        "personal_access_token_prefix",
        "pipeline_limit_per_project_user_sha",
        "polling_interval_multiplier",
        "restricted_visibility_levels",
        "rsa_key_restriction",
        "wiki_page_max_content_bytes",
    );
}

/// How long artifacts stay, in words: `30 days`, or `0` for ever.
#[derive(Clone, Debug)]
struct ArtifactLifetime(String);

impl Param for ArtifactLifetime {
    fn read(raw: &Raw) -> Result<Option<Self>, Flaws> {
        match String::read(raw)? {
            None => Ok(None),
            Some(words) if Lifetime::parse(&words).is_some() => Ok(Some(Self(words))),
            Some(_) => Err(Flaws::one("is not a correct duration")),
        }
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

/// A number with a part behind the point, as text.
#[derive(Clone, Debug)]
struct Multiplier(String);

impl Param for Multiplier {
    fn read(raw: &Raw) -> Result<Option<Self>, Flaws> {
        let Some(text) = String::read(raw)? else { return Ok(None) };
        match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Some(Self(format!("{number:?}")))),
            _ => Err(Flaws::one(INVALID)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "number" })
    }
}

/// Sets a value that was given, and leaves another as it is.
fn set<T>(place: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *place = value;
    }
}

impl ChangeSettings {
    fn apply(mut self, settings: &mut Settings) {
        self.apply_to_pipelines(settings);
        set(&mut settings.can_create_group, self.can_create_group);
        set(&mut settings.deactivate_dormant_users_period, self.deactivate_dormant_users_period);
        set(&mut settings.default_branch_name, self.default_branch_name);
        set(&mut settings.default_branch_protection, self.default_branch_protection.map(|it| it.0));
        set(&mut settings.default_group_visibility, self.default_group_visibility);
        // A number beyond the list is as wrong as any other, and the model says so.
        let creation = self.default_project_creation.map(|level| level.try_into().unwrap_or(-1));
        set(&mut settings.default_project_creation, creation);
        set(&mut settings.default_project_visibility, self.default_project_visibility);
        set(&mut settings.default_projects_limit, self.default_projects_limit);
        set(&mut settings.domain_allowlist, self.domain_allowlist.map(|domains| domains.0));
        set(&mut settings.domain_denylist, self.domain_denylist.map(|domains| domains.0));
        set(&mut settings.domain_denylist_enabled, self.domain_denylist_enabled);
        set(&mut settings.delayed_group_deletion, self.delayed_group_deletion);
        set(&mut settings.deletion_adjourned_period, self.deletion_adjourned_period);
        set(&mut settings.minimum_password_length, self.minimum_password_length);
        set(&mut settings.email_confirmation_setting, self.email_confirmation_setting);
        set(&mut settings.gravatar_enabled, self.gravatar_enabled);
        set(&mut settings.password_lowercase_required, self.password_lowercase_required);
        set(&mut settings.password_number_required, self.password_number_required);
        set(&mut settings.password_symbol_required, self.password_symbol_required);
        set(&mut settings.password_uppercase_required, self.password_uppercase_required);
        set(&mut settings.personal_access_token_prefix, self.personal_access_token_prefix);
        let restricted = self.restricted_visibility_levels.map(|levels| levels.0);
        set(&mut settings.restricted_visibility_levels, restricted);
        set(&mut settings.dsa_key_restriction, self.dsa_key_restriction);
        set(&mut settings.ecdsa_key_restriction, self.ecdsa_key_restriction);
        set(&mut settings.ecdsa_sk_key_restriction, self.ecdsa_sk_key_restriction);
        set(&mut settings.ed25519_key_restriction, self.ed25519_key_restriction);
        set(&mut settings.ed25519_sk_key_restriction, self.ed25519_sk_key_restriction);
        let multiplier = self.polling_interval_multiplier.map(|it| it.0);
        set(&mut settings.polling_interval_multiplier, multiplier);
        set(&mut settings.rsa_key_restriction, self.rsa_key_restriction);
        set(&mut settings.wiki_page_max_content_bytes, self.wiki_page_max_content_bytes);
        set(&mut settings.max_ssh_key_lifetime, self.max_ssh_key_lifetime.into_update());
    }
}

impl ChangeSettings {
    fn apply_to_pipelines(&mut self, settings: &mut Settings) {
        let lifetime = self.default_artifacts_expire_in.take();
        set(&mut settings.default_artifacts_expire_in, lifetime.map(|lifetime| lifetime.0));
        set(&mut settings.keep_latest_artifact, self.keep_latest_artifact);
        for (limit, given) in [
            (&mut settings.ci_max_includes, self.ci_max_includes),
            (&mut settings.git_push_pipeline_limit, self.git_push_pipeline_limit),
            (&mut settings.max_artifacts_size, self.max_artifacts_size),
            (&mut settings.max_yaml_depth, self.max_yaml_depth),
            (&mut settings.max_yaml_size_bytes, self.max_yaml_size_bytes),
            (
                &mut settings.pipeline_limit_per_project_user_sha,
                self.pipeline_limit_per_project_user_sha,
            ),
        ] {
            set(limit, given);
        }
    }
}

async fn show(app: App, _: Call<Administrate>) -> ApiResult<Json<SettingsEntity>> {
    Ok(Json(app.db.peek(|tx| tx.settings()).await?.into()))
}

async fn update(
    app: App,
    call: Call<Administrate, ChangeSettings>,
) -> ApiResult<Json<SettingsEntity>> {
    let (grant, given) = (call.grant, call.params);
    let change = move |settings: &mut Settings| given.apply(settings);
    let settings = app.db.write(move |tx| settings::actions::update(tx, &grant, change)).await?;
    app.follow(&settings);
    Ok(Json(settings.into()))
}
