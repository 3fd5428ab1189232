//! The rate limits of the settings, with the server's configuration as the default.

use std::time::Duration;

use org::settings::Settings;

use super::limiter::Rule;
use crate::limits::Limits;

const TEN_MINUTES: Duration = Duration::from_secs(600);

/// The rules that settings can change.
pub(super) struct Rules {
    pub(super) users: Rule,
    pub(super) addresses: Rule,
    pub(super) web_users: Rule,
    pub(super) web_addresses: Rule,
    pub(super) lfs_users: Rule,
    pub(super) file_users: Rule,
    pub(super) file_addresses: Rule,
    pub(super) alerts: Rule,
    pub(super) people: Rule,
    pub(super) notes: Rule,
    pub(super) issues: Rule,
    pub(super) raw_files: Rule,
    pub(super) protected: Rule,
}

impl Rules {
    pub(super) fn new(limits: Limits, set: &Settings) -> Self {
        let throttles = Throttles { set };
        let minute = Rule::per_minute;
        Self {
            users: throttles.authenticated_api().unwrap_or(minute(limits.user_per_minute)),
            addresses: throttles.unauthenticated_api().unwrap_or(minute(limits.address_per_minute)),
            web_users: throttles.authenticated_web().unwrap_or_default(),
            web_addresses: throttles.unauthenticated().unwrap_or_default(),
            lfs_users: throttles.authenticated_lfs().unwrap_or_default(),
            file_users: throttles.authenticated_files().unwrap_or_default(),
            file_addresses: throttles.unauthenticated_files().unwrap_or_default(),
            alerts: throttles.alerts().unwrap_or(minute(limits.alerts_per_minute)),
            people: Rule {
                most: given(set.users_get_by_id_limit()).unwrap_or(limits.people_per_ten_minutes),
                interval: TEN_MINUTES,
            },
            notes: minute(given(set.notes_create_limit()).unwrap_or(limits.notes_per_minute)),
            issues: minute(given(set.issues_create_limit()).unwrap_or(limits.issues_per_minute)),
            raw_files: minute(raw_files(limits, set)),
            protected: throttles.protected_paths().unwrap_or_default(),
        }
    }
}

/// Without a number of an administrator, downloads of a file are counted where requests of people are counted at all.
fn raw_files(limits: Limits, set: &Settings) -> u32 {
    let is_set = set.other.contains_key("raw_blob_request_limit");
    match is_set || limits.user_per_minute > 0 {
        true => given(set.raw_blob_request_limit()).unwrap_or_default(),
        false => 0,
    }
}

/// A number as a limit; what is beyond all counting is no less.
fn given(number: Option<i64>) -> Option<u32> {
    number.map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

struct Throttles<'a> {
    set: &'a Settings,
}

fn rule(enabled: bool, requests: Option<i64>, seconds: Option<i64>) -> Option<Rule> {
    let seconds = u64::try_from(seconds?).ok()?;
    let interval = Duration::from_secs(seconds);
    enabled.then_some(Rule { most: given(requests)?, interval })
}

impl Throttles<'_> {
    fn authenticated_api(&self) -> Option<Rule> {
        rule(
            self.set.throttle_authenticated_api_enabled(),
            self.set.throttle_authenticated_api_requests_per_period(),
            self.set.throttle_authenticated_api_period_in_seconds(),
        )
    }

    fn unauthenticated_api(&self) -> Option<Rule> {
        rule(
            self.set.throttle_unauthenticated_api_enabled(),
            self.set.throttle_unauthenticated_api_requests_per_period(),
            self.set.throttle_unauthenticated_api_period_in_seconds(),
        )
    }

    fn authenticated_web(&self) -> Option<Rule> {
        rule(
            self.set.throttle_authenticated_web_enabled(),
            self.set.throttle_authenticated_web_requests_per_period(),
            self.set.throttle_authenticated_web_period_in_seconds(),
        )
    }

    fn unauthenticated(&self) -> Option<Rule> {
        rule(
            self.set.throttle_unauthenticated_enabled(),
            self.set.throttle_unauthenticated_requests_per_period(),
            self.set.throttle_unauthenticated_period_in_seconds(),
        )
    }

    fn authenticated_lfs(&self) -> Option<Rule> {
        rule(
            self.set.throttle_authenticated_git_lfs_enabled(),
            self.set.throttle_authenticated_git_lfs_requests_per_period(),
            self.set.throttle_authenticated_git_lfs_period_in_seconds(),
        )
    }

    fn authenticated_files(&self) -> Option<Rule> {
        rule(
            self.set.throttle_authenticated_files_api_enabled(),
            self.set.throttle_authenticated_files_api_requests_per_period(),
            self.set.throttle_authenticated_files_api_period_in_seconds(),
        )
    }

    fn unauthenticated_files(&self) -> Option<Rule> {
        rule(
            self.set.throttle_unauthenticated_files_api_enabled(),
            self.set.throttle_unauthenticated_files_api_requests_per_period(),
            self.set.throttle_unauthenticated_files_api_period_in_seconds(),
        )
    }

    fn protected_paths(&self) -> Option<Rule> {
        rule(
            self.set.throttle_protected_paths_enabled(),
            self.set.throttle_protected_paths_requests_per_period(),
            self.set.throttle_protected_paths_period_in_seconds(),
        )
    }

    fn alerts(&self) -> Option<Rule> {
        rule(
            self.set.throttle_incident_management_notification_enabled(),
            self.set.throttle_incident_management_notification_per_period(),
            self.set.throttle_incident_management_notification_period_in_seconds(),
        )
    }
}
