//! Application settings, with the names and defaults of the API.

use kernel::{Ts, Visibility};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::PlanLimits;
use crate::faults::Faults;

/// A configuration may not be larger than what of a file is read, nor nested deeper than a thread can follow.
const LARGEST_YAML: i64 = 8 << 20;
const DEEPEST_YAML: i64 = 200;

kernel::text_enum! {
    /// Restrictions on accounts without a confirmed address.
    pub enum EmailConfirmation {
        Off = "off",
        /// Everything, after some days.
        Soft = "soft",
        Hard = "hard",
    }
}

impl EmailConfirmation {
    /// Whether an account with an unconfirmed address is kept out, by the time since it was made.
    pub fn keeps_out(self, made: Ts, now: Ts) -> bool {
        match self {
            Self::Off => false,
            Self::Soft => made.plus(time::Duration::days(3)) <= now,
            Self::Hard => true,
        }
    }
}

/// Stored as one JSON object; a key that is not there has its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Whether webhooks and integrations may reach addresses inside.
    pub allow_local_requests_from_web_hooks_and_services: bool,
    pub allow_local_requests_from_system_hooks: bool,
    pub can_create_group: bool,
    /// Files that a CI configuration may include, in all.
    pub ci_max_includes: i64,
    pub deactivate_dormant_users_period: i64,
    /// How long artifacts stay whose job does not say it, in words; `0` is for ever.
    pub default_artifacts_expire_in: String,
    /// See [`default_branch`](Self::default_branch).
    pub default_branch_name: Option<String>,
    pub default_branch_protection: i32,
    pub default_group_visibility: Visibility,
    pub default_project_creation: i32,
    pub default_project_visibility: Visibility,
    pub default_projects_limit: i64,
    /// Whether groups that are to go stay for some days more.
    pub delayed_group_deletion: bool,
    /// How many days that is.
    pub deletion_adjourned_period: i64,
    pub dsa_key_restriction: i64,
    pub ecdsa_key_restriction: i64,
    pub ecdsa_sk_key_restriction: i64,
    pub ed25519_key_restriction: i64,
    pub ed25519_sk_key_restriction: i64,
    /// Days that an SSH key may live from now on; without it, for ever.
    pub max_ssh_key_lifetime: Option<i64>,
    /// Domains, with `*` for anything, that people's addresses must lie in; none is no demand.
    pub domain_allowlist: Vec<String>,
    pub domain_denylist: Vec<String>,
    pub domain_denylist_enabled: bool,
    pub email_confirmation_setting: EmailConfirmation,
    /// Branches and tags of one push that get a pipeline; 0 is all of them.
    pub git_push_pipeline_limit: i64,
    /// Whether people without a picture of their own are shown with the one that Gravatar has.
    pub gravatar_enabled: bool,
    /// Whether artifacts of the newest pipeline of a ref that succeeded stay beyond their time.
    pub keep_latest_artifact: bool,
    /// Megabytes of an artifact.
    pub max_artifacts_size: i64,
    /// Levels of a CI configuration.
    pub max_yaml_depth: i64,
    /// Bytes of a CI configuration with its aliases written out.
    pub max_yaml_size_bytes: i64,
    pub minimum_password_length: i64,
    /// Names, addresses and networks inside that may be reached at any rate.
    pub outbound_local_requests_whitelist: Vec<String>,
    pub password_lowercase_required: bool,
    pub password_number_required: bool,
    pub password_symbol_required: bool,
    pub password_uppercase_required: bool,
    pub personal_access_token_prefix: String,
    /// Pipelines that somebody may make for one commit of a project in a minute; 0 is any number.
    pub pipeline_limit_per_project_user_sha: i64,
    /// See [`PlanLimits`].
    pub plan_limits: PlanLimits,
    pub restricted_visibility_levels: Vec<Visibility>,
    /// The fewest bits of such a key; 0 is any number, -1 forbids the kind.
    pub rsa_key_restriction: i64,
    /// Bytes that a page of a wiki may have.
    pub wiki_page_max_content_bytes: i64,
    /// The settings of the [table](super::table) that are no fields, where somebody has set them; secrets are sealed.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            allow_local_requests_from_web_hooks_and_services: false,
            allow_local_requests_from_system_hooks: true,
            can_create_group: true,
            ci_max_includes: 150,
            deactivate_dormant_users_period: 90,
            default_artifacts_expire_in: "30 days".to_owned(),
            default_branch_name: None,
            default_branch_protection: 2,
            default_group_visibility: Visibility::Private,
            default_project_creation: 2,
            default_project_visibility: Visibility::Private,
            default_projects_limit: 100_000,
            delayed_group_deletion: false,
            deletion_adjourned_period: 7,
            dsa_key_restriction: 0,
            ecdsa_key_restriction: 0,
            ecdsa_sk_key_restriction: 0,
            ed25519_key_restriction: 0,
            ed25519_sk_key_restriction: 0,
            max_ssh_key_lifetime: None,
            domain_allowlist: Vec::new(),
            domain_denylist: Vec::new(),
            domain_denylist_enabled: false,
            email_confirmation_setting: EmailConfirmation::Off,
            git_push_pipeline_limit: 4,
            gravatar_enabled: true,
            keep_latest_artifact: true,
            max_artifacts_size: 100,
            max_yaml_depth: 100,
            max_yaml_size_bytes: 1 << 20,
            minimum_password_length: 8,
            outbound_local_requests_whitelist: Vec::new(),
            password_lowercase_required: false,
            password_number_required: false,
            password_symbol_required: false,
            password_uppercase_required: false,
            personal_access_token_prefix: "glpat-".to_owned(),
            pipeline_limit_per_project_user_sha: 0,
            plan_limits: PlanLimits::default(),
            restricted_visibility_levels: Vec::new(),
            rsa_key_restriction: 0,
            wiki_page_max_content_bytes: 50 << 20,
            other: Map::new(),
        }
    }
}

impl Settings {
    /// What of the fields cannot be, beyond the bounds of the [table](super::table).
    pub fn faults(&self) -> Faults {
        let mut faults = Faults::default();
        let days = self.deactivate_dormant_users_period;
        if days < 90 {
            let text = format!("'{days}' days of inactivity must be greater than or equal to 90");
            faults.add("deactivate_dormant_users_period", text);
        }
        if !self.default_branch_name.as_deref().is_none_or(is_branch_name) {
            faults.add("default_branch_name", "is invalid");
        }
        self.prefix_faults(&mut faults);
        self.key_faults(&mut faults);
        self.pipeline_faults(&mut faults);
        faults
    }

    /// The branch that repositories begin with where nobody names one.
    pub fn default_branch(&self) -> String {
        self.default_branch_name.clone().unwrap_or_else(|| "main".to_owned())
    }

    /// After how many milliseconds a client may ask again that would wait so many; -1 where it should not.
    pub fn poll_interval(&self, milliseconds: f64) -> String {
        let multiplier = self.polling_interval_multiplier();
        if multiplier > 0.0 { format!("{:.0}", milliseconds * multiplier) } else { "-1".to_owned() }
    }

    fn prefix_faults(&self, faults: &mut Faults) {
        const NAME: &str = "personal_access_token_prefix";
        let prefix = &self.personal_access_token_prefix;
        faults.at_most(NAME, Some(prefix), 20);
        let known = |letter: char| letter.is_ascii_alphanumeric() || "_+=/@:.-".contains(letter);
        if !prefix.chars().all(known) {
            faults.add(
                NAME,
                "can contain only letters of the Base64 alphabet (RFC4648) with the addition of '@', ':' and '.'",
            );
        }
    }
}

impl Settings {
    fn pipeline_faults(&self, faults: &mut Faults) {
        for (name, number, least) in [
            ("ci_max_includes", self.ci_max_includes, 0),
            ("git_push_pipeline_limit", self.git_push_pipeline_limit, 0),
            ("pipeline_limit_per_project_user_sha", self.pipeline_limit_per_project_user_sha, 0),
            ("max_artifacts_size", self.max_artifacts_size, 1),
            ("max_yaml_depth", self.max_yaml_depth, 1),
            ("max_yaml_size_bytes", self.max_yaml_size_bytes, 1),
        ] {
            if number < least {
                let zero = if least == 0 { "or equal to 0" } else { "0" };
                faults.add(name, format!("must be greater than {zero}"));
            }
        }
        for (name, number, most) in [
            ("max_yaml_depth", self.max_yaml_depth, DEEPEST_YAML),
            ("max_yaml_size_bytes", self.max_yaml_size_bytes, LARGEST_YAML),
        ] {
            if number > most {
                faults.add(name, format!("must be less than or equal to {most}"));
            }
        }
    }

    fn key_faults(&self, faults: &mut Faults) {
        let known: [(&str, i64, &[i64]); 6] = [
            ("rsa_key_restriction", self.rsa_key_restriction, &[1024, 2048, 3072, 4096]),
            ("dsa_key_restriction", self.dsa_key_restriction, &[1024, 2048, 3072]),
            ("ecdsa_key_restriction", self.ecdsa_key_restriction, &[256, 384, 521]),
            ("ed25519_key_restriction", self.ed25519_key_restriction, &[256]),
            ("ecdsa_sk_key_restriction", self.ecdsa_sk_key_restriction, &[256]),
            ("ed25519_sk_key_restriction", self.ed25519_sk_key_restriction, &[256]),
        ];
        for (name, bits, sizes) in known {
            if !(-1..=0).contains(&bits) && !sizes.contains(&bits) {
                let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
                let sizes = sizes.join(", ");
                faults.add(
                    name,
                    format!("must be forbidden, allowed, or one of these sizes: {sizes}"),
                );
            }
        }
        if known.iter().all(|(_, bits, _)| *bits == -1) {
            faults.add("base", "allowed_key_types can't be blank");
        }
        if self.max_ssh_key_lifetime.is_some_and(|days| !(1..=365).contains(&days)) {
            faults.add("max_ssh_key_lifetime", "must be in 1..365");
        }
    }
}

/// Whether git takes the text as a branch's name.
fn is_branch_name(name: &str) -> bool {
    let forbidden =
        |letter: char| letter.is_control() || letter.is_whitespace() || "~^:?*[\\".contains(letter);
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    name.len() <= 244
        && !name.chars().any(forbidden)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.starts_with('-')
        && !name.ends_with('.')
        && name != "@"
        && name != "HEAD"
        && !["refs/heads/", "refs/remotes/", "refs/tags"]
            .iter()
            .any(|taken| name.starts_with(taken))
        && name.split('/').all(part)
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn the_defaults_are_valid_and_survive_an_older_row() {
        assert!(Settings::default().faults().is_empty());
        let older: Settings = serde_json::from_str(r#"{"default_branch_name":"trunk"}"#).unwrap();
        assert_eq!(
            (older.default_branch().as_str(), &*Settings::default().default_branch()),
            ("trunk", "main")
        );
        assert_eq!(older.minimum_password_length, 8);
    }

    #[test]
    fn a_default_branch_is_a_name_that_git_takes() {
        for name in
            ["", "a b", "-x", "a..b", "x.lock", "a//b", "@", "a~1", "a/.b", "HEAD", "refs/heads/x"]
        {
            let default_branch_name = Some(name.to_owned());
            let settings = Settings { default_branch_name, ..Settings::default() };
            assert!(!settings.faults().is_empty(), "{name}");
        }
    }
}
