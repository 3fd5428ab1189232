//! Parameters of issues.

use kernel::{
    Ts,
    ids::{MilestoneId, UserId},
};
use review::{
    epic::EpicName,
    issue::{
        HealthStatus, IssueStep, IssueType,
        actions::{IssueChange, NewIssue},
        follow_up::FollowUp,
    },
    item::labels::LabelChange,
};
use time::Date;

pub(super) use super::item_params::OneIssue;
use crate::{
    extract::{Change, Csv},
    param_enums, params,
};

param_enums! { IssueStep, HealthStatus }

params! {
    pub struct CreateIssue {
        title: String,
        description: Option<String>,
        assignee_ids: Option<Csv<UserId>>,
        /// Same as `assignee_ids` with one ID; deprecated.
        assignee_id: Option<UserId>,
        milestone_id: Option<MilestoneId>,
        labels: Option<Csv<String>>,
        due_date: Option<Date>,
        confidential: bool = false,
        discussion_locked: Option<bool>,
        issue_type: Option<IssueType>,
        weight: Option<i64>,
        epic_id: Option<i64>,
        /// IID of the epic in the project's group; deprecated in favor of `epic_id`.
        epic_iid: Option<i64>,
        health_status: Option<HealthStatus>,
        /// Creation time. Owners only.
        created_at: Option<Ts>,
        /// IID of the issue. Owners only.
        iid: Option<i64>,
        /// IID of a merge request whose open threads the issue takes over and resolves.
        merge_request_to_resolve_discussions_of: Option<i64>,
        /// ID of a thread; only this one is considered.
        discussion_to_resolve: Option<String>,
    }
}

impl From<CreateIssue> for NewIssue {
    fn from(params: CreateIssue) -> Self {
        let people = params.assignee_ids.map(|ids| ids.0);
        Self {
            title: params.title,
            description: params.description,
            issue_type: params.issue_type,
            confidential: params.confidential,
            discussion_locked: params.discussion_locked,
            labels: LabelChange {
                all: params.labels.map(|names| names.0),
                ..LabelChange::default()
            },
            assignees: people.or(params.assignee_id.map(|id| vec![id])).unwrap_or_default(),
            milestone: params.milestone_id,
            weight: params.weight,
            epic: epic(given(params.epic_id), given(params.epic_iid)).flatten(),
            health_status: params.health_status,
            due_date: params.due_date.map(Ts::from_date),
            created_at: params.created_at,
            iid: params.iid,
            follow_up: FollowUp {
                merge_request: params.merge_request_to_resolve_discussions_of,
                discussion: params.discussion_to_resolve.filter(|id| !id.is_empty()),
            },
            ..Self::default()
        }
    }
}

params! {
    pub struct ChangeIssue {
        title: Option<String>,
        description: Change<String>,
        /// User IDs. `0` or an empty value removes all assignees.
        assignee_ids: Option<Csv<UserId>>,
        /// Same as `assignee_ids` with one ID; deprecated.
        assignee_id: Change<UserId>,
        /// `0` or an empty value removes the milestone.
        milestone_id: Change<MilestoneId>,
        /// Replaces the existing ones.
        labels: Option<Csv<String>>,
        add_labels: Option<Csv<String>>,
        remove_labels: Option<Csv<String>>,
        due_date: Change<Date>,
        confidential: Option<bool>,
        discussion_locked: Option<bool>,
        issue_type: Option<IssueType>,
        state_event: Option<IssueStep>,
        weight: Change<i64>,
        /// `0` or an empty value removes the issue from its epic.
        epic_id: Change<i64>,
        /// IID of the epic in the project's group; deprecated in favor of `epic_id`.
        epic_iid: Change<i64>,
        health_status: Change<HealthStatus>,
        /// Creation time. Owners only.
        created_at: Option<Ts>,
        /// Update time. Owners only.
        updated_at: Option<Ts>,
        /// IID of the issue. Owners only.
        iid: Option<i64>,
    } with at_least_one(
        "assignee_id", "assignee_ids", "confidential", "created_at", "description", "discussion_locked", "due_date",
        "labels", "add_labels", "remove_labels", "milestone_id", "state_event", "title", "issue_type", "weight",
        "health_status", "epic_id", "epic_iid", "iid",
    );
}

impl From<ChangeIssue> for IssueChange {
    fn from(params: ChangeIssue) -> Self {
        let names = |names: Option<Csv<String>>| names.unwrap_or_default().0;
        let older = match params.assignee_id {
            Change::Keep => None,
            Change::Clear => Some(Vec::new()),
            Change::Set(id) => Some(vec![id]),
        };
        Self {
            title: params.title,
            description: params.description.into_update(),
            step: params.state_event,
            issue_type: params.issue_type,
            confidential: params.confidential,
            discussion_locked: params.discussion_locked,
            labels: LabelChange {
                all: params.labels.map(|names| names.0),
                add: names(params.add_labels),
                remove: names(params.remove_labels),
            },
            assignees: params.assignee_ids.map(|ids| ids.0).or(older),
            milestone: params.milestone_id.into_update(),
            weight: params.weight.into_update(),
            epic: epic(params.epic_id, params.epic_iid),
            health_status: params.health_status.into_update(),
            due_date: params.due_date.into_update().map(|day| day.map(Ts::from_date)),
            created_at: params.created_at,
            updated_at: params.updated_at,
            iid: params.iid,
            ..Self::default()
        }
    }
}

fn given(number: Option<i64>) -> Change<i64> {
    number.map_or(Change::Keep, Change::Set)
}

/// The epic that is asked for; 0 is none.
fn epic(id: Change<i64>, iid: Change<i64>) -> Option<Option<EpicName>> {
    let (change, name): (_, fn(i64) -> EpicName) = match id {
        Change::Keep => (iid, EpicName::Numbered),
        id => (id, EpicName::Id),
    };
    let number = change.into_update()?;
    Some(number.filter(|number| *number != 0).map(name))
}
