//! Rate limits by user and address.

mod archives;
mod limiter;
mod refusal;
mod rules;
mod user_addresses;

use std::{
    net::IpAddr,
    sync::{Arc, PoisonError, RwLock},
};

use archives::ArchiveRates;
use kernel::{
    Error, Ts,
    ids::{PipelineScheduleId, ProjectId, UserId},
};
use limiter::{Limiter, Rule};
use org::{member::Source, settings::Settings, user::User};
use rules::Rules;
use user_addresses::UserAddresses;

use crate::limits::Limits;

pub use archives::ArchiveCall;
pub use refusal::Refusal;

/// All limits; each may be off.
pub struct Rates {
    limits: Limits,
    users: Limiter<UserId>,
    addresses: Limiter<IpAddr>,
    /// People and addresses with a git client; where they are off, the two limits above count these, too.
    web_users: Limiter<UserId>,
    web_addresses: Limiter<IpAddr>,
    /// People whose git client asks for large files; where that is off, they count as others with a git client.
    lfs_users: Limiter<UserId>,
    /// Those who read and write files by the API.
    file_users: Limiter<UserId>,
    file_addresses: Limiter<IpAddr>,
    archives: Limiter<Caller>,
    /// Archives of projects and groups.
    project_archives: ArchiveRates,
    namespaces: Limiter<UserId>,
    people: Limiter<UserId>,
    /// Members that one person takes out of one project or group.
    member_removals: Limiter<(Source, UserId)>,
    notes: Limiter<UserId>,
    /// Manual runs of one pipeline schedule by one user.
    schedule_plays: Limiter<(PipelineScheduleId, UserId)>,
    issues: Limiter<UserId>,
    /// Imports that one person asks for.
    imports: Limiter<UserId>,
    /// Calls of monitors for one project.
    alerts: Limiter<ProjectId>,
    /// What an address sends to the protected paths.
    protected: Limiter<IpAddr>,
    /// Downloads of one file of a project.
    raw_files: Limiter<(ProjectId, String)>,
    user_addresses: UserAddresses,
    text_settings: RwLock<Arc<TextSettings>>,
}

/// Rate limit settings that are texts or lists.
#[derive(Debug, Default)]
struct TextSettings {
    /// What is said to who asks too often.
    refusal: Option<Arc<str>>,
    /// User names, in lower case, of those who may write as many notes as they like.
    note_writers: Vec<String>,
    /// The same, for looking at people.
    people_readers: Vec<String>,
    /// Paths at which guesses at credentials arrive.
    protected_paths: Vec<String>,
}

impl TextSettings {
    fn new(set: &Settings) -> Self {
        let names = |names: Vec<&str>| names.into_iter().map(str::to_lowercase).collect();
        Self {
            refusal: set.rate_limiting_response_text().map(Arc::from),
            note_writers: names(set.notes_create_limit_allowlist()),
            people_readers: names(set.users_get_by_id_limit_allowlist()),
            protected_paths: set.protected_paths().into_iter().map(str::to_owned).collect(),
        }
    }
}

/// Which part of the server a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    Api,
    /// Files of repositories, by the API.
    Files,
    /// Git clients, and pages and files beside the API.
    Web,
    /// Large files of git clients.
    Lfs,
}

const MEMBER_REMOVALS_PER_MINUTE: u32 = 60;

const SCHEDULE_PLAYS_PER_MINUTE: u32 = 1;

/// Imports that one person may ask for in a minute.
const IMPORTS_PER_MINUTE: u32 = 6;

/// A person, or whoever is at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Caller {
    User(UserId),
    Address(Option<IpAddr>),
}

impl Rates {
    pub fn new(limits: Limits, set: &Settings) -> Self {
        let rules = Rules::new(limits, set);
        let minute = Rule::per_minute;
        Self {
            limits,
            users: Limiter::new("throttle_authenticated_api", rules.users),
            addresses: Limiter::new("throttle_unauthenticated_api", rules.addresses),
            web_users: Limiter::new("throttle_authenticated_web", rules.web_users),
            web_addresses: Limiter::new("throttle_unauthenticated_web", rules.web_addresses),
            lfs_users: Limiter::new("throttle_authenticated_git_lfs", rules.lfs_users),
            file_users: Limiter::new("throttle_authenticated_files_api", rules.file_users),
            file_addresses: Limiter::new(
                "throttle_unauthenticated_files_api",
                rules.file_addresses,
            ),
            archives: Limiter::new(
                "project_repositories_archive",
                minute(limits.archives_per_minute),
            ),
            project_archives: ArchiveRates::new(set),
            namespaces: Limiter::new("namespace_exists", minute(limits.namespaces_per_minute)),
            people: Limiter::new("users_get_by_id", rules.people),
            member_removals: Limiter::new("members_delete", minute(MEMBER_REMOVALS_PER_MINUTE)),
            notes: Limiter::new("notes_create", rules.notes),
            schedule_plays: Limiter::new(
                "play_pipeline_schedule",
                minute(SCHEDULE_PLAYS_PER_MINUTE),
            ),
            issues: Limiter::new("issues_create", rules.issues),
            imports: Limiter::new("github_import", minute(IMPORTS_PER_MINUTE)),
            alerts: Limiter::new("project_alerts_notify", rules.alerts),
            protected: Limiter::new("throttle_unauthenticated_protected_paths", rules.protected),
            raw_files: Limiter::new("raw_blob", rules.raw_files),
            user_addresses: UserAddresses::new(set),
            text_settings: RwLock::new(Arc::new(TextSettings::new(set))),
        }
    }

    /// Follows the settings of the installation. Limits that stay as they were go on counting.
    pub fn follow(&self, set: &Settings) {
        let rules = Rules::new(self.limits, set);
        self.users.follow(rules.users);
        self.addresses.follow(rules.addresses);
        self.web_users.follow(rules.web_users);
        self.web_addresses.follow(rules.web_addresses);
        self.lfs_users.follow(rules.lfs_users);
        self.file_users.follow(rules.file_users);
        self.file_addresses.follow(rules.file_addresses);
        self.project_archives.follow(set);
        self.people.follow(rules.people);
        self.notes.follow(rules.notes);
        self.issues.follow(rules.issues);
        self.alerts.follow(rules.alerts);
        self.protected.follow(rules.protected);
        self.raw_files.follow(rules.raw_files);
        self.user_addresses.follow(set);
        let text_settings = Arc::new(TextSettings::new(set));
        *self.text_settings.write().unwrap_or_else(PoisonError::into_inner) = text_settings;
    }

    fn text_settings(&self) -> Arc<TextSettings> {
        self.text_settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn worded(&self, within: Result<(), Refusal>) -> Result<(), Refusal> {
        within.map_err(|refusal| Refusal { text: self.text_settings().refusal.clone(), ..refusal })
    }

    pub fn check_user(&self, user: UserId, area: Area) -> Result<(), Refusal> {
        let limiter = match area {
            Area::Files if self.file_users.is_on() => &self.file_users,
            Area::Lfs if self.lfs_users.is_on() => &self.lfs_users,
            Area::Web | Area::Lfs if self.web_users.is_on() => &self.web_users,
            _ => &self.users,
        };
        self.worded(limiter.check(&user))
    }

    pub fn check_address(&self, address: Option<IpAddr>, area: Area) -> Result<(), Refusal> {
        let Some(address) = address else { return Ok(()) };
        let limiter = match area {
            Area::Files if self.file_addresses.is_on() => &self.file_addresses,
            Area::Web | Area::Lfs if self.web_addresses.is_on() => &self.web_addresses,
            _ => &self.addresses,
        };
        self.worded(limiter.check(&address))
    }

    /// Refuses somebody who comes from more addresses than one person may within a while.
    pub fn check_user_address(
        &self,
        user: UserId,
        address: Option<IpAddr>,
        now: Ts,
    ) -> Result<(), Error> {
        match address.is_none_or(|address| self.user_addresses.admits(user, address, now)) {
            true => Ok(()),
            false => Err(Error::forbidden()),
        }
    }

    /// Counts what is sent to a path that the settings protect.
    pub fn check_protected(&self, address: Option<IpAddr>, path: &str) -> Result<(), Refusal> {
        let (Some(address), true) = (address, self.protected.is_on()) else { return Ok(()) };
        let path = path.trim_end_matches('/');
        match self
            .text_settings()
            .protected_paths
            .iter()
            .any(|one| one.trim_end_matches('/') == path)
        {
            true => self.worded(self.protected.check(&address)),
            false => Ok(()),
        }
    }

    /// Archives are far more work than anything else that is read.
    pub fn check_archive(
        &self,
        user: Option<UserId>,
        address: Option<IpAddr>,
    ) -> Result<(), Error> {
        let caller = user.map_or(Caller::Address(address), Caller::User);
        self.archives.check(&caller).map_err(Error::from)
    }

    /// An archive of a whole project or group is hours of work.
    pub fn check_project_archive(&self, call: ArchiveCall, user: UserId) -> Result<(), Error> {
        self.project_archives.check(call, user)
    }

    /// Who asks which paths are taken learns what others have.
    pub fn check_namespace(&self, user: UserId) -> Result<(), Error> {
        self.namespaces.check(&user).map_err(Error::from)
    }

    /// Who asks for one person after the other gathers them all.
    pub fn check_person(&self, reader: &User) -> Result<(), Error> {
        if self.text_settings().people_readers.contains(&reader.username.to_lowercase()) {
            return Ok(());
        }
        self.people.check(&reader.id).map_err(Error::from)
    }

    pub fn check_member_removal(&self, source: Source, user: UserId) -> Result<(), Error> {
        self.member_removals.check(&(source, user)).map_err(Error::from)
    }

    /// Limits manual runs of a pipeline schedule.
    pub fn check_schedule_play(
        &self,
        schedule: PipelineScheduleId,
        user: UserId,
    ) -> Result<(), Error> {
        self.schedule_plays.check(&(schedule, user)).map_err(Error::from)
    }

    /// Whoever speaks disturbs many others.
    pub fn check_note(&self, author: &User) -> Result<(), Error> {
        if self.text_settings().note_writers.contains(&author.username.to_lowercase()) {
            return Ok(());
        }
        self.notes.check(&author.id).map_err(Error::from)
    }

    /// As [`check_note`](Self::check_note), for issues.
    pub fn check_issue(&self, user: UserId) -> Result<(), Error> {
        self.issues.check(&user).map_err(Error::from)
    }

    /// Each import asks a server elsewhere at once, and for hours afterwards.
    pub fn check_import(&self, user: UserId) -> Result<(), Error> {
        self.imports.check(&user).map_err(Error::from)
    }

    /// A monitor that cannot stop fills the lists of its project.
    pub fn check_alert(&self, project: ProjectId) -> Result<(), Error> {
        self.alerts.check(&project).map_err(Error::from)
    }

    /// One file that many fetch, as pages elsewhere do that embed it.
    pub fn check_raw_file(&self, project: ProjectId, path: String) -> Result<(), Error> {
        match self.raw_files.is_on() {
            true => self.raw_files.check(&(project, path)).map_err(Error::from),
            false => Ok(()),
        }
    }

    /// Forgets who has been quiet for long enough to have the whole quota again.
    pub fn forget_the_quiet(&self, now: Ts) {
        self.user_addresses.forget_the_quiet(now);
        self.users.forget_the_quiet();
        self.addresses.forget_the_quiet();
        self.web_users.forget_the_quiet();
        self.web_addresses.forget_the_quiet();
        self.lfs_users.forget_the_quiet();
        self.file_users.forget_the_quiet();
        self.file_addresses.forget_the_quiet();
        self.protected.forget_the_quiet();
        self.archives.forget_the_quiet();
        self.project_archives.forget_the_quiet();
        self.namespaces.forget_the_quiet();
        self.people.forget_the_quiet();
        self.member_removals.forget_the_quiet();
        self.notes.forget_the_quiet();
        self.schedule_plays.forget_the_quiet();
        self.issues.forget_the_quiet();
        self.imports.forget_the_quiet();
        self.alerts.forget_the_quiet();
        self.raw_files.forget_the_quiet();
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use kernel::{
        Ts,
        error::Kind,
        ids::{ProjectId, UserId},
    };
    use org::settings::Settings;
    use serde_json::{Value, json};

    use super::{Area, Rates, refusal::httpdate};
    use crate::limits::Limits;

    fn limited(per_minute: u32) -> Rates {
        let limits = Limits { user_per_minute: per_minute, ..Limits::default() };
        Rates::new(limits, &Settings::default())
    }

    fn with(values: Value) -> Settings {
        serde_json::from_value(values).unwrap()
    }

    #[test]
    fn one_person_too_fast_does_not_slow_another() {
        let rates = limited(2);
        assert!(rates.check_user(UserId(1), Area::Api).is_ok());
        assert!(rates.check_user(UserId(1), Area::Web).is_ok());

        let refusal = rates.check_user(UserId(1), Area::Files).unwrap_err();

        let response = refusal.response(Ts::from_unix(0));
        assert_eq!(response.status(), 429);
        assert_eq!(response.headers().get("RateLimit-Limit").unwrap(), "2");
        assert!(rates.check_user(UserId(2), Area::Api).is_ok());
        let address = Some("192.0.2.1".parse().unwrap());
        assert!(rates.check_address(address, Area::Api).is_ok(), "no limit is set for addresses");
    }

    #[test]
    fn settings_change_a_limit_and_the_same_settings_go_on_counting() {
        let rates = limited(1);
        assert!(rates.check_user(UserId(1), Area::Api).is_ok());
        rates.follow(&Settings::default());
        assert!(rates.check_user(UserId(1), Area::Api).is_err());

        rates.follow(&with(json!({
            "throttle_authenticated_api_enabled": true,
            "throttle_authenticated_api_requests_per_period": 2,
            "throttle_authenticated_api_period_in_seconds": 3600,
            "rate_limiting_response_text": "Slowly",
        })));

        assert!((0..2).all(|_| rates.check_user(UserId(1), Area::Api).is_ok()));
        let refusal = rates.check_user(UserId(1), Area::Api).unwrap_err();
        assert_eq!(refusal.text.as_deref(), Some("Slowly"));
        rates.follow(&Settings::default());
        assert!(rates.check_user(UserId(1), Area::Api).is_ok(), "the limit of the server is back");
    }

    #[test]
    fn git_clients_and_files_have_limits_of_their_own() {
        let rates = limited(1);
        rates.follow(&with(json!({
            "throttle_authenticated_web_enabled": true,
            "throttle_authenticated_web_requests_per_period": 1,
            "throttle_authenticated_git_lfs_enabled": true,
            "throttle_authenticated_git_lfs_requests_per_period": 1,
            "throttle_authenticated_files_api_enabled": true,
            "throttle_authenticated_files_api_requests_per_period": 1,
        })));

        for area in [Area::Api, Area::Web, Area::Lfs, Area::Files] {
            assert!(rates.check_user(UserId(1), area).is_ok(), "{area:?}");
            assert!(rates.check_user(UserId(1), area).is_err(), "{area:?}");
        }
    }

    #[test]
    fn strangers_have_limits_by_what_they_ask_for() {
        let rates = limited(1);
        rates.follow(&with(json!({
            "throttle_unauthenticated_api_enabled": true,
            "throttle_unauthenticated_api_requests_per_period": 1,
            "throttle_unauthenticated_api_period_in_seconds": 600,
            "throttle_unauthenticated_files_api_enabled": true,
            "throttle_unauthenticated_files_api_requests_per_period": 2,
            "throttle_unauthenticated_files_api_period_in_seconds": 700,
        })));
        let from = |last: u8| Some(IpAddr::from([192, 0, 2, last]));

        for (area, most, seconds) in [(Area::Api, 1, 600), (Area::Files, 2, 700)] {
            assert!((0..most).all(|_| rates.check_address(from(1), area).is_ok()), "{area:?}");
            let refusal = rates.check_address(from(1), area).unwrap_err();
            assert_eq!((refusal.limit, refusal.interval.as_secs()), (most, seconds), "{area:?}");
            assert!(rates.check_address(from(2), area).is_ok(), "{area:?}");
        }
    }

    #[test]
    fn monitors_have_a_limit_for_each_project() {
        let rates = limited(1);
        rates.follow(&with(json!({
            "throttle_incident_management_notification_enabled": true,
            "throttle_incident_management_notification_per_period": 2,
            "throttle_incident_management_notification_period_in_seconds": 900,
        })));

        assert!((0..2).all(|_| rates.check_alert(ProjectId(1)).is_ok()));
        let refusal = rates.check_alert(ProjectId(1)).unwrap_err();
        assert_eq!(refusal.kind, Kind::TooMany { retry_after: 900 });
        assert!(rates.check_alert(ProjectId(2)).is_ok());
    }

    #[test]
    fn protected_paths_have_a_limit_of_their_own() {
        let rates = limited(100);
        let address = Some("192.0.2.1".parse().unwrap());
        let many = |path: &str| (0..3).all(|_| rates.check_protected(address, path).is_ok());
        assert!(many("/users/sign_in"), "it is off");
        rates.follow(&with(json!({
            "throttle_protected_paths_enabled": true,
            "throttle_protected_paths_requests_per_period": 2,
            "throttle_protected_paths_period_in_seconds": 60,
            "protected_paths": ["/users/sign_in"],
        })));

        assert!(!many("/users/sign_in"));
        assert!(rates.check_protected(address, "/users/sign_in/").is_err());
        assert!(many("/users/sign_up"));
        assert!(
            rates.check_protected(Some("192.0.2.2".parse().unwrap()), "/users/sign_in").is_ok()
        );
    }

    #[test]
    fn a_moment_is_written_as_http_wants_it() {
        assert_eq!(httpdate(Ts::from_unix(784_111_777)), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
