//! How many requests one person, or one address, may make in a minute.

use std::{hash::Hash, net::IpAddr, num::NonZeroU32, time::Duration};

use actix_web::{HttpResponse, http::header};
use governor::{
    Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
    middleware::StateInformationMiddleware,
    state::keyed::DashMapStateStore,
};
use kernel::{
    Error, Ts,
    ids::{PipelineScheduleId, ProjectId, UserId},
};
use org::member::Source;

use crate::{limits::Limits, metrics};

type Rate<K> = RateLimiter<K, DashMapStateStore<K>, DefaultClock, StateInformationMiddleware>;

/// So many requests in so long a time.
struct Limiter<K: Hash + Eq + Clone> {
    rate: Rate<K>,
    interval: Duration,
}

/// All limits; each may be off.
pub struct Rates {
    users: Option<Limiter<UserId>>,
    addresses: Option<Limiter<IpAddr>>,
    archives: Option<Limiter<Caller>>,
    namespaces: Option<Limiter<UserId>>,
    people: Option<Limiter<UserId>>,
    /// Members that one person takes out of one project or group.
    member_removals: Option<Limiter<(Source, UserId)>>,
    notes: Option<Limiter<UserId>>,
    /// Manual runs of one pipeline schedule by one user.
    schedule_plays: Option<Limiter<(PipelineScheduleId, UserId)>>,
    issues: Option<Limiter<UserId>>,
    /// Calls of monitors for one project.
    alerts: Option<Limiter<ProjectId>>,
}

const MEMBER_REMOVALS_PER_MINUTE: u32 = 60;
const SCHEDULE_PLAYS_PER_MINUTE: u32 = 1;
const TEN_MINUTES: Duration = Duration::from_secs(600);

/// A person, or whoever is at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Caller {
    User(UserId),
    Address(Option<IpAddr>),
}

/// A request too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    name: &'static str,
    limit: u32,
    wait_seconds: u64,
    interval: Duration,
}

fn limiter<K: Hash + Eq + Clone>(per_minute: u32) -> Option<Limiter<K>> {
    limiter_within(Duration::from_secs(60), per_minute)
}

fn limiter_within<K: Hash + Eq + Clone>(time: Duration, most: u32) -> Option<Limiter<K>> {
    let most = NonZeroU32::new(most)?;
    let quota = Quota::with_period(time / most.get())?.allow_burst(most);
    Some(Limiter { rate: RateLimiter::dashmap(quota).with_middleware(), interval: time })
}

fn check<K: Hash + Eq + Clone>(
    limiter: Option<&Limiter<K>>,
    key: &K,
    name: &'static str,
) -> Result<(), Refusal> {
    let Some(limiter) = limiter else { return Ok(()) };
    match limiter.rate.check_key(key) {
        Ok(_) => Ok(()),
        Err(until) => {
            metrics::refused(name);
            let wait = until.wait_time_from(DefaultClock::default().now());
            Err(Refusal {
                name,
                limit: until.quota().burst_size().get(),
                wait_seconds: whole_seconds(wait),
                interval: limiter.interval,
            })
        }
    }
}

/// Rounded up: who waits so long is not refused again.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

impl Rates {
    pub fn new(limits: Limits) -> Self {
        Self {
            users: limiter(limits.user_per_minute),
            addresses: limiter(limits.address_per_minute),
            archives: limiter(limits.archives_per_minute),
            namespaces: limiter(limits.namespaces_per_minute),
            people: limiter_within(TEN_MINUTES, limits.people_per_ten_minutes),
            member_removals: limiter(MEMBER_REMOVALS_PER_MINUTE),
            notes: limiter(limits.notes_per_minute),
            schedule_plays: limiter(SCHEDULE_PLAYS_PER_MINUTE),
            issues: limiter(limits.issues_per_minute),
            alerts: limiter(limits.alerts_per_minute),
        }
    }

    pub fn check_user(&self, user: UserId) -> Result<(), Refusal> {
        check(self.users.as_ref(), &user, "throttle_authenticated_api")
    }

    pub fn check_address(&self, address: Option<IpAddr>) -> Result<(), Refusal> {
        address.map_or(Ok(()), |address| {
            check(self.addresses.as_ref(), &address, "throttle_unauthenticated_api")
        })
    }

    /// Archives are far more work than anything else that is read.
    pub fn check_archive(
        &self,
        user: Option<UserId>,
        address: Option<IpAddr>,
    ) -> Result<(), Error> {
        let caller = user.map_or(Caller::Address(address), Caller::User);
        check(self.archives.as_ref(), &caller, "project_repositories_archive").map_err(Error::from)
    }

    /// Who asks which paths are taken learns what others have.
    pub fn check_namespace(&self, user: UserId) -> Result<(), Error> {
        check(self.namespaces.as_ref(), &user, "namespace_exists").map_err(Error::from)
    }

    /// Who asks for one person after the other gathers them all.
    pub fn check_person(&self, user: UserId) -> Result<(), Error> {
        check(self.people.as_ref(), &user, "users_get_by_id").map_err(Error::from)
    }

    pub fn check_member_removal(&self, source: Source, user: UserId) -> Result<(), Error> {
        check(self.member_removals.as_ref(), &(source, user), "members_delete").map_err(Error::from)
    }

    /// Limits manual runs of a pipeline schedule.
    pub fn check_schedule_play(
        &self,
        schedule: PipelineScheduleId,
        user: UserId,
    ) -> Result<(), Error> {
        let limiter = self.schedule_plays.as_ref();
        check(limiter, &(schedule, user), "play_pipeline_schedule").map_err(Error::from)
    }

    /// Whoever speaks disturbs many others.
    pub fn check_note(&self, user: UserId) -> Result<(), Error> {
        check(self.notes.as_ref(), &user, "notes_create").map_err(Error::from)
    }

    /// As [`check_note`](Self::check_note), for issues.
    pub fn check_issue(&self, user: UserId) -> Result<(), Error> {
        check(self.issues.as_ref(), &user, "issues_create").map_err(Error::from)
    }

    /// A monitor that cannot stop fills the lists of its project.
    pub fn check_alert(&self, project: ProjectId) -> Result<(), Error> {
        check(self.alerts.as_ref(), &project, "project_alerts_notify").map_err(Error::from)
    }

    /// Forgets who has been quiet for long enough to have the whole quota again.
    pub fn forget_the_quiet(&self) {
        if let Some(users) = &self.users {
            users.rate.retain_recent();
        }
        if let Some(addresses) = &self.addresses {
            addresses.rate.retain_recent();
        }
        if let Some(archives) = &self.archives {
            archives.rate.retain_recent();
        }
        if let Some(namespaces) = &self.namespaces {
            namespaces.rate.retain_recent();
        }
        if let Some(people) = &self.people {
            people.rate.retain_recent();
        }
        if let Some(removals) = &self.member_removals {
            removals.rate.retain_recent();
        }
        if let Some(notes) = &self.notes {
            notes.rate.retain_recent();
        }
        if let Some(issues) = &self.issues {
            issues.rate.retain_recent();
        }
        if let Some(alerts) = &self.alerts {
            alerts.rate.retain_recent();
        }
    }
}

impl From<Refusal> for Error {
    /// The limit of one endpoint: clients are told to come back when all of it is theirs again.
    fn from(refusal: Refusal) -> Self {
        Self::too_many(refusal.interval.as_secs())
    }
}

impl Refusal {
    /// The plain answer of the outermost limiter, with the headers that clients pace themselves by.
    pub fn response(&self, now: Ts) -> HttpResponse {
        let reset = Ts::from_unix(now.unix() + i64::try_from(self.wait_seconds).unwrap_or(60));
        let http_date = httpdate(reset);
        HttpResponse::TooManyRequests()
            .content_type("text/plain")
            .insert_header(("RateLimit-Name", self.name))
            .insert_header(("RateLimit-Limit", self.limit.to_string()))
            .insert_header(("RateLimit-Observed", self.limit.saturating_add(1).to_string()))
            .insert_header(("RateLimit-Remaining", "0"))
            .insert_header(("RateLimit-Reset", reset.unix().to_string()))
            .insert_header(("RateLimit-ResetTime", http_date))
            .insert_header((header::RETRY_AFTER, self.wait_seconds.to_string()))
            .body("Retry later\n")
    }
}

fn httpdate(at: Ts) -> String {
    let form = time::macros::format_description!(
        "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
    );
    at.datetime().format(form).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kernel::{Ts, ids::UserId};

    use super::{Rates, httpdate};
    use crate::limits::Limits;

    #[test]
    fn one_person_too_fast_does_not_slow_another() {
        let rates = Rates::new(Limits { user_per_minute: 2, ..Limits::default() });
        assert!(rates.check_user(UserId(1)).is_ok());
        assert!(rates.check_user(UserId(1)).is_ok());

        let refusal = rates.check_user(UserId(1)).unwrap_err();

        let response = refusal.response(Ts::from_unix(0));
        assert_eq!(response.status(), 429);
        assert_eq!(response.headers().get("RateLimit-Limit").unwrap(), "2");
        assert!(rates.check_user(UserId(2)).is_ok());
        assert!(
            rates.check_address(Some("192.0.2.1".parse().unwrap())).is_ok(),
            "no limit is set for addresses"
        );
    }

    #[test]
    fn a_moment_is_written_as_http_wants_it() {
        assert_eq!(httpdate(Ts::from_unix(784_111_777)), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
