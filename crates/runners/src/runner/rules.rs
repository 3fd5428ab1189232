//! Rules for the attributes of runners, and their status by time of contact.

use kernel::{Faults, Result, Ts};
use time::Duration;

use super::{Runner, RunnerAccess};

/// Contacted within this time a runner is online.
pub(super) const ONLINE: Duration = Duration::hours(2);
/// Neither made nor contacted within this time it is stale.
pub(super) const STALE: Duration = Duration::days(90);

const LONGEST_NOTE: usize = 1024;
const LONGEST_TAG: usize = 255;
const MOST_TAGS: usize = 50;
const SHORTEST_TIMEOUT: i64 = 600;

kernel::text_enum! {
    /// The status of a runner in lists.
    pub enum RunnerStatus {
        Online = "online",
        Offline = "offline",
        Stale = "stale",
        NeverContacted = "never_contacted",
        Paused = "paused",
    }
}

/// The status of a runner or manager, from when it was created and last contacted.
pub(crate) fn status_at(created_at: Ts, contacted_at: Option<Ts>, now: Ts) -> RunnerStatus {
    let old = |at: Ts| at.plus(STALE) <= now;
    match contacted_at {
        contact if old(created_at) && contact.is_none_or(old) => RunnerStatus::Stale,
        None => RunnerStatus::NeverContacted,
        Some(at) if at.plus(ONLINE) > now => RunnerStatus::Online,
        Some(_) => RunnerStatus::Offline,
    }
}

impl Runner {
    pub fn is_online(&self, now: Ts) -> bool {
        self.contacted_at.is_some_and(|at| at.plus(ONLINE) > now)
    }

    pub fn status(&self, now: Ts) -> RunnerStatus {
        match status_at(self.created_at, self.contacted_at, now) {
            RunnerStatus::Online | RunnerStatus::Offline if !self.active => RunnerStatus::Paused,
            status => status,
        }
    }
}

/// Attributes of a runner to set; unset ones stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    pub description: Option<String>,
    pub maintenance_note: Option<String>,
    pub active: Option<bool>,
    pub locked: Option<bool>,
    pub run_untagged: Option<bool>,
    pub access_level: Option<RunnerAccess>,
    pub tags: Option<Vec<String>>,
    /// `Some(None)` is no limit.
    pub maximum_timeout: Option<Option<i64>>,
}

impl Attributes {
    /// The runner with these attributes, which are checked.
    pub(super) fn apply(self, runner: Runner) -> Result<Runner> {
        let tags = match self.tags {
            Some(tags) => sorted(&tags),
            None => runner.tag_list()?,
        };
        let stored = serde_json::to_string(&tags).map_err(kernel::Error::internal)?;
        let after = Runner {
            description: self.description.or(runner.description),
            maintenance_note: self.maintenance_note.or(runner.maintenance_note),
            active: self.active.unwrap_or(runner.active),
            locked: self.locked.unwrap_or(runner.locked),
            run_untagged: self.run_untagged.unwrap_or(runner.run_untagged),
            access_level: self.access_level.unwrap_or(runner.access_level),
            maximum_timeout: self.maximum_timeout.unwrap_or(runner.maximum_timeout),
            tags: stored,
            ..runner
        };
        check(&after, &tags)?;
        Ok(after)
    }
}

fn sorted(tags: &[String]) -> Vec<String> {
    let mut tags: Vec<String> =
        tags.iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

fn check(runner: &Runner, tags: &[String]) -> Result<()> {
    let mut faults = Faults::default();
    if tags.is_empty() && !runner.run_untagged {
        let text = "can not be empty when runner is not allowed to pick untagged jobs";
        faults.add("tags_list", text);
    }
    if tags.len() > MOST_TAGS {
        let text =
            format!("Too many tags specified. Please limit the number of tags to {MOST_TAGS}");
        faults.add("tags_list", text);
    }
    for tag in tags {
        faults.at_most("tags_list", Some(tag), LONGEST_TAG);
    }
    if runner.maximum_timeout.is_some_and(|timeout| timeout < SHORTEST_TIMEOUT) {
        faults.add("maximum_timeout", "needs to be at least 10 minutes");
    }
    faults.at_most("description", runner.description.as_deref(), LONGEST_NOTE);
    faults.at_most("maintenance_note", runner.maintenance_note.as_deref(), LONGEST_NOTE);
    faults.into_result()
}

#[cfg(test)]
mod tests {
    use kernel::Ts;
    use time::Duration;

    use super::{RunnerStatus, status_at};

    #[test]
    fn a_status_follows_from_when_a_runner_was_made_and_heard_of() {
        let now = Ts::from_unix(1_767_225_600);
        let ago = |span: Duration| now.plus(-span);
        let (fresh, old) = (ago(Duration::minutes(1)), ago(Duration::days(91)));
        for (created, contacted, expected) in [
            (fresh, None, RunnerStatus::NeverContacted),
            (fresh, Some(fresh), RunnerStatus::Online),
            (fresh, Some(ago(Duration::hours(2))), RunnerStatus::Offline),
            (old, Some(fresh), RunnerStatus::Online),
            (old, Some(ago(Duration::days(89))), RunnerStatus::Offline),
            (old, Some(old), RunnerStatus::Stale),
            (old, None, RunnerStatus::Stale),
        ] {
            assert_eq!(status_at(created, contacted, now), expected, "{created:?} {contacted:?}");
        }
    }
}
