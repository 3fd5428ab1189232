//! A merge request and its states.

use kernel::{
    Ts,
    ids::{MergeRequestId, MilestoneId, ProjectId, UserId},
};

use crate::{
    Home,
    item::{
        Item,
        list::{ListPosition, Order, Sorting},
    },
};

kernel::text_enum! {
    pub enum MergeRequestState {
        Opened = "opened",
        Closed = "closed",
        /// While git merges, and no longer.
        Locked = "locked",
        Merged = "merged",
    }
}

kernel::text_enum! {
    /// The result of the last merge check in git; drafts, approvals and pipelines have no influence.
    pub enum MergeStatus {
        Unchecked = "unchecked",
        Checking = "checking",
        CanBeMerged = "can_be_merged",
        CannotBeMerged = "cannot_be_merged",
        CannotBeMergedRecheck = "cannot_be_merged_recheck",
    }
}

db::record! {
    #[derive(Clone, Debug)]
    pub struct MergeRequest from merge_requests {
        pub id: MergeRequestId,
        /// Where it leads.
        pub project_id: ProjectId,
        /// Counts within the project it leads to.
        pub iid: i64,
        /// `None` once the fork it came from is gone.
        pub source_project_id: Option<ProjectId>,
        pub source_branch: String,
        pub target_branch: String,
        pub title: String,
        pub description: Option<String>,
        pub state: MergeRequestState,
        pub draft: bool,
        pub author_id: UserId,
        pub milestone_id: Option<MilestoneId>,
        pub merge_status: MergeStatus,
        pub merge_error: Option<String>,
        /// The three commits of the latest version; `None` where the branch never was.
        pub head_sha: Option<String>,
        pub base_sha: Option<String>,
        pub start_sha: Option<String>,
        /// Files changed by the latest version.
        pub changes_count: Option<i64>,
        pub merge_commit_sha: Option<String>,
        pub squash_commit_sha: Option<String>,
        /// Who merged it, or wants it merged when its pipeline succeeds.
        pub merge_user_id: Option<UserId>,
        pub merged_at: Option<Ts>,
        pub closed_by_id: Option<UserId>,
        pub closed_at: Option<Ts>,
        pub discussion_locked: Option<bool>,
        pub squash: bool,
        pub allow_collaboration: bool,
        pub should_remove_source_branch: Option<bool>,
        pub force_remove_source_branch: Option<bool>,
        /// How it is to be merged when its pipeline succeeds, as JSON.
        pub auto_merge: Option<String>,
        pub approvals_before_merge: Option<i64>,
        /// Whether nobody has to approve any more.
        pub approved: bool,
        pub unresolved_threads: i64,
        /// Seconds, as is the time spent.
        pub time_estimate: i64,
        pub total_time_spent: i64,
        pub user_notes_count: i64,
        pub upvotes: i64,
        pub downvotes: i64,
        pub task_count: i64,
        pub task_completed_count: i64,
        pub created_at: Ts,
        pub updated_at: Ts,
    }
}

impl MergeRequest {
    /// The values by which a list in this order has its place for the merge request; none in orders whose values are not
    /// here.
    pub fn list_position(&self, sorting: Sorting) -> Option<ListPosition> {
        let value = match sorting.by {
            Order::Id => None,
            Order::Column("updated_at") => Some(self.updated_at.0),
            Order::Column("upvotes") => Some(self.upvotes),
            Order::Optional("merged_at") => self.merged_at.map(|moment| moment.0),
            Order::Optional("closed_at") => self.closed_at.map(|moment| moment.0),
            _ => return None,
        };
        Some(ListPosition { value, id: self.id.0 })
    }

    /// What is known of the merge. Without the fork that it came from there is nothing to merge, whatever git said
    /// before.
    pub fn known_merge_status(&self) -> MergeStatus {
        match self.source_project_id {
            Some(_) => self.merge_status,
            None => MergeStatus::CannotBeMerged,
        }
    }

    /// As notes, labels, people and to-dos see it.
    pub fn item(&self) -> Item {
        Item {
            id: self.id.into(),
            home: Home::Project(self.project_id),
            iid: self.iid,
            author: self.author_id,
            title: self.title.clone(),
            description: self.description.clone(),
            state: self.state.to_string(),
            confidential: false,
            locked: self.discussion_locked.unwrap_or_default(),
            updated_at: self.updated_at,
        }
    }

    /// Whether it came from another project.
    pub fn is_from_fork(&self) -> bool {
        self.source_project_id != Some(self.project_id)
    }

    /// From where to where it leads; `None` once the fork it came from is gone.
    pub fn ends(&self) -> Option<BranchPair> {
        Some(BranchPair {
            source: self.source_project_id?,
            source_branch: self.source_branch.clone(),
            target: self.project_id,
            target_branch: self.target_branch.clone(),
        })
    }
}

/// From where to where a merge request leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchPair {
    pub source: ProjectId,
    pub source_branch: String,
    pub target: ProjectId,
    pub target_branch: String,
}

/// The columns of a new merge request that are inserted first.
#[derive(Clone, Debug)]
pub struct NewRow<'a> {
    pub ends: &'a BranchPair,
    pub author: UserId,
    pub title: &'a str,
    pub draft: bool,
    pub description: Option<&'a str>,
}
