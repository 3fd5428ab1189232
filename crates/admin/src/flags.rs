//! The events that a receiver can ask for, as bits of one column.

use diesel_derive_newtype::DieselNewType;
use kernel::TextEnum as _;

kernel::text_enum! {
    /// An event that receivers switch on and off. A new one is added at the end: its position is its bit.
    pub enum Flag {
        Push = "push_events",
        TagPush = "tag_push_events",
        MergeRequests = "merge_requests_events",
        RepositoryUpdate = "repository_update_events",
        Issues = "issues_events",
        ConfidentialIssues = "confidential_issues_events",
        Notes = "note_events",
        ConfidentialNotes = "confidential_note_events",
        Pipelines = "pipeline_events",
        WikiPages = "wiki_page_events",
        Deployments = "deployment_events",
        Jobs = "job_events",
        Releases = "releases_events",
        FeatureFlags = "feature_flag_events",
        Milestones = "milestone_events",
        Emoji = "emoji_events",
        ResourceAccessTokens = "resource_access_token_events",
        Members = "member_events",
        Vulnerabilities = "vulnerability_events",
        Subgroups = "subgroup_events",
        Projects = "project_events",
        Commits = "commit_events",
        Comments = "comment_on_event_enabled",
        Incidents = "incident_events",
        Alerts = "alert_events",
        ArchivedTraces = "archive_trace_events",
    }
}

/// Which events are switched on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, DieselNewType)]
pub struct Flags(pub i64);

impl Flag {
    fn bit(self) -> i64 {
        let position = Self::ALL.iter().position(|flag| *flag == self).unwrap_or_default();
        1 << position
    }
}

impl Flags {
    pub fn of(flags: &[Flag]) -> Self {
        Self(flags.iter().fold(0, |bits, flag| bits | flag.bit()))
    }

    pub fn has(self, flag: Flag) -> bool {
        self.0 & flag.bit() != 0
    }

    #[must_use]
    pub fn with(self, flag: Flag, on: bool) -> Self {
        if on { Self(self.0 | flag.bit()) } else { Self(self.0 & !flag.bit()) }
    }

    /// With each of these changes.
    #[must_use]
    pub fn changed(self, changes: &[(Flag, bool)]) -> Self {
        changes.iter().fold(self, |flags, (flag, on)| flags.with(*flag, *on))
    }
}

#[cfg(test)]
mod tests {
    use super::{Flag, Flags};

    #[test]
    fn a_flag_is_switched_alone() {
        let flags = Flags::of(&[Flag::Push, Flag::Jobs]);
        assert!(flags.has(Flag::Push) && flags.has(Flag::Jobs) && !flags.has(Flag::Issues));
        let changed = flags.changed(&[(Flag::Push, false), (Flag::Issues, true)]);
        assert_eq!(changed, Flags::of(&[Flag::Issues, Flag::Jobs]));
    }

    #[test]
    fn bits_of_stored_rows_keep_their_meaning() {
        assert_eq!(Flags::of(&[Flag::Push]).0, 1);
        assert_eq!(Flags::of(&[Flag::ArchivedTraces]).0, 1 << 25);
    }
}
