//! The parts of an import, in the order in which they are done.

use super::{ImportKind, OptionalStages};

kernel::text_enum! {
    /// A part of an import. Each ends before the next one begins.
    pub enum Stage {
        Repository = "repository",
        Wiki = "wiki",
        Labels = "labels",
        Milestones = "milestones",
        Collaborators = "collaborators",
        ProtectedBranches = "protected_branches",
        PullRequests = "pull_requests",
        /// Merges, reviews and what else is asked for one pull request at a time.
        PullRequestDetails = "pull_request_details",
        Issues = "issues",
        Notes = "notes",
        DiffNotes = "diff_notes",
        Events = "events",
        Releases = "releases",
        LfsObjects = "lfs_objects",
        Attachments = "attachments",
        /// Nothing is left to do.
        Done = "done",
    }
}

const REMOTE_HOST: &[Stage] = &[
    Stage::Repository,
    Stage::Wiki,
    Stage::Labels,
    Stage::Milestones,
    Stage::Collaborators,
    Stage::ProtectedBranches,
    Stage::PullRequests,
    Stage::PullRequestDetails,
    Stage::Issues,
    Stage::Notes,
    Stage::DiffNotes,
    Stage::Events,
    Stage::Releases,
    Stage::LfsObjects,
    Stage::Attachments,
];

const REMOTE_SERVER: &[Stage] =
    &[Stage::Repository, Stage::PullRequests, Stage::PullRequestDetails, Stage::LfsObjects];

const URL: &[Stage] = &[Stage::Repository, Stage::LfsObjects];

impl Stage {
    /// The stage that follows, for a source of this kind.
    pub fn next(self, kind: ImportKind, optional: OptionalStages) -> Self {
        let all = match kind {
            ImportKind::RemoteHost => REMOTE_HOST,
            ImportKind::RemoteServer => REMOTE_SERVER,
            ImportKind::Url => URL,
        };
        let is_wanted = |stage: &&Self| **stage != Self::Attachments || optional.attachments;
        let mut rest = all.iter().skip_while(|stage| **stage != self).skip(1).filter(is_wanted);
        rest.next().copied().unwrap_or(Self::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::{ImportKind, OptionalStages, Stage};

    #[test]
    fn attachments_are_a_stage_only_where_they_are_asked_for() {
        let with = OptionalStages { attachments: true, ..OptionalStages::default() };
        let after = |optional| Stage::LfsObjects.next(ImportKind::RemoteHost, optional);
        assert_eq!(after(OptionalStages::default()), Stage::Done);
        assert_eq!(after(with), Stage::Attachments);
        assert_eq!(Stage::Repository.next(ImportKind::Url, with), Stage::LfsObjects);
        assert_eq!(Stage::Done.next(ImportKind::Url, with), Stage::Done);
    }
}
