//! Parameters of merge requests.

use kernel::ids::{MilestoneId, ProjectId, UserId};
use review::{
    item::labels::LabelChange,
    merge_request::{
        actions::NewMergeRequest, change::MergeRequestChange, metadata::Metadata, state::Step,
    },
};

use crate::{
    extract::{Change, Csv, NonEmpty, NonNegative},
    param_enums, params,
};

kernel::text_enum! {
    /// What becomes of a merge request.
    pub enum StateEvent { Close = "close", Reopen = "reopen" }
}

param_enums! { StateEvent }

params! {
    pub struct OneMergeRequest {
        merge_request_iid: i64,
    }
}

params! {
    pub struct ReadMergeRequest {
        merge_request_iid: i64,
        render_html: bool = false,
        include_diverged_commits_count: bool = false,
        include_rebase_in_progress: bool = false,
    }
}

params! {
    pub struct CreateMergeRequest {
        title: String,
        source_branch: String,
        target_branch: String,
        /// ID of the target project. Default: this project.
        target_project_id: Option<ProjectId>,
        assignee_id: Change<UserId>,
        assignee_ids: Option<Csv<UserId>>,
        reviewer_ids: Option<Csv<UserId>>,
        description: Option<String>,
        labels: Option<Csv<String>>,
        add_labels: Option<Csv<String>>,
        milestone_id: Change<MilestoneId>,
        remove_source_branch: Option<bool>,
        allow_collaboration: Option<bool>,
        allow_maintainer_to_push: Option<bool>,
        squash: Option<bool>,
        approvals_before_merge: Option<NonNegative>,
    }
}

impl From<CreateMergeRequest> for NewMergeRequest {
    fn from(params: CreateMergeRequest) -> Self {
        let collaboration = params.allow_collaboration.or(params.allow_maintainer_to_push);
        Self {
            title: params.title,
            description: params.description,
            labels: label_change(params.labels, params.add_labels, None),
            assignees: people(params.assignee_ids, params.assignee_id),
            reviewers: params.reviewer_ids.map(|ids| ids.0),
            milestone: milestone(params.milestone_id).flatten(),
            remove_source_branch: params.remove_source_branch,
            allow_collaboration: collaboration.unwrap_or_default(),
            squash: params.squash.unwrap_or_default(),
            approvals_before_merge: params.approvals_before_merge.map(|count| count.0),
        }
    }
}

params! {
    pub struct UpdateMergeRequest {
        assignee_id: Change<UserId>,
        assignee_ids: Option<Csv<UserId>>,
        reviewer_ids: Option<Csv<UserId>>,
        description: Change<String>,
        labels: Option<Csv<String>>,
        add_labels: Option<Csv<String>>,
        remove_labels: Option<Csv<String>>,
        milestone_id: Change<MilestoneId>,
        remove_source_branch: Option<bool>,
        allow_collaboration: Option<bool>,
        allow_maintainer_to_push: Option<bool>,
        squash: Option<bool>,
        target_branch: Option<NonEmpty>,
        title: Option<NonEmpty>,
        state_event: Option<StateEvent>,
        discussion_locked: Option<bool>,
        approvals_before_merge: Option<NonNegative>,
    } with at_least_one(
        "assignee_id", "assignee_ids", "reviewer_ids", "description", "labels", "add_labels",
        "remove_labels", "milestone_id", "remove_source_branch", "allow_collaboration",
        "allow_maintainer_to_push", "squash", "target_branch", "title", "state_event",
        "discussion_locked",
    );
}

impl From<UpdateMergeRequest> for MergeRequestChange {
    fn from(params: UpdateMergeRequest) -> Self {
        Self {
            title: params.title.map(|title| title.0),
            description: params.description.into_update(),
            step: params.state_event.map(|event| match event {
                StateEvent::Close => Step::Close,
                StateEvent::Reopen => Step::Reopen,
            }),
            target_branch: params.target_branch.map(|branch| branch.0),
            metadata: Metadata {
                labels: label_change(params.labels, params.add_labels, params.remove_labels),
                assignees: people(params.assignee_ids, params.assignee_id),
                reviewers: params.reviewer_ids.map(|ids| ids.0),
                milestone: milestone(params.milestone_id),
                discussion_locked: params.discussion_locked,
            },
            remove_source_branch: params.remove_source_branch,
            squash: params.squash,
            allow_collaboration: params.allow_collaboration.or(params.allow_maintainer_to_push),
            approvals_before_merge: params.approvals_before_merge.map(|count| count.0),
        }
    }
}

fn label_change(
    all: Option<Csv<String>>,
    add: Option<Csv<String>>,
    remove: Option<Csv<String>>,
) -> LabelChange {
    LabelChange {
        all: all.map(|names| names.0),
        add: add.unwrap_or_default().0,
        remove: remove.unwrap_or_default().0,
    }
}

/// The list counts before the single one, which is older.
fn people(many: Option<Csv<UserId>>, one: Change<UserId>) -> Option<Vec<UserId>> {
    many.map(|ids| ids.0).or_else(|| one.into_update().map(|id| id.into_iter().collect()))
}

/// The number 0 clears, as does an empty one.
fn milestone(given: Change<MilestoneId>) -> Option<Option<MilestoneId>> {
    given.into_update().map(|id| id.filter(|id| id.0 != 0))
}
