//! The hosted service: its REST API, one page of one stage at a time.

mod events;
mod issues;
mod item_cursor;
mod notes;
mod project;
mod pull_requests;
mod releases;
mod repository;
mod reviews;
mod step;

use admin::import::Stage;

pub(super) use self::{
    repository::{HostRepository, encoded},
    step::HostStep,
};
use super::{SourceError, batch::Step};

impl HostStep<'_> {
    /// Does the next step of the import's stage.
    pub(crate) async fn run(&self) -> Result<Step, SourceError> {
        let optional = self.origin.optional;
        match self.import.stage {
            Stage::Labels => self.labels().await,
            Stage::Milestones => self.milestones().await,
            Stage::Collaborators => self.collaborators().await,
            Stage::ProtectedBranches => self.protected_branches().await,
            Stage::PullRequests => self.pull_requests().await,
            Stage::PullRequestDetails => self.details().await,
            Stage::Issues => self.issues().await,
            Stage::Notes if optional.single_endpoint_notes => self.notes_of_items().await,
            Stage::Notes => self.notes().await,
            Stage::DiffNotes if optional.single_endpoint_notes => self.diff_notes_of_items().await,
            Stage::DiffNotes => self.diff_notes().await,
            Stage::Events if optional.single_endpoint_issue_events => self.events_of_items().await,
            Stage::Events => self.events().await,
            Stage::Releases => self.releases().await,
            Stage::Repository
            | Stage::Wiki
            | Stage::LfsObjects
            | Stage::Attachments
            | Stage::Done => Ok(Step::default()),
        }
    }
}
