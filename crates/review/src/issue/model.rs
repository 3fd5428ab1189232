//! An issue and its states.

use kernel::{
    Ts,
    ids::{IssueId, MilestoneId, ProjectId, UserId},
};

use crate::{
    Home,
    item::{
        Item,
        list::{ListPosition, Order, Sorting},
    },
};

kernel::text_enum! {
    pub enum IssueState { Opened = "opened", Closed = "closed" }
}

kernel::text_enum! {
    pub enum IssueType { Issue = "issue", Incident = "incident", TestCase = "test_case" }
}

kernel::text_enum! {
    /// The severity of an incident.
    pub enum Severity {
        Unknown = "unknown",
        Low = "low",
        Medium = "medium",
        High = "high",
        Critical = "critical",
    }
}

kernel::text_enum! {
    pub enum HealthStatus {
        OnTrack = "on_track",
        NeedsAttention = "needs_attention",
        AtRisk = "at_risk",
    }
}

db::record! {
    #[derive(Clone, Debug)]
    pub struct Issue from issues {
        pub id: IssueId,
        pub project_id: ProjectId,
        /// Counts within its project.
        pub iid: i64,
        pub title: String,
        pub description: Option<String>,
        pub state: IssueState,
        pub issue_type: IssueType,
        pub severity: Severity,
        pub author_id: UserId,
        pub confidential: bool,
        pub discussion_locked: Option<bool>,
        pub milestone_id: Option<MilestoneId>,
        pub epic_id: Option<i64>,
        /// Its place among the issues of the epic.
        pub epic_position: Option<i64>,
        pub iteration_id: Option<i64>,
        pub weight: Option<i64>,
        pub health_status: Option<HealthStatus>,
        /// A day, as the moment at which it begins.
        pub due_date: Option<Ts>,
        pub relative_position: i64,
        /// Seconds, as is the time spent.
        pub time_estimate: i64,
        pub total_time_spent: i64,
        pub user_notes_count: i64,
        pub merge_requests_count: i64,
        pub blocking_issues_count: i64,
        pub upvotes: i64,
        pub downvotes: i64,
        pub task_count: i64,
        pub task_completed_count: i64,
        pub closed_at: Option<Ts>,
        pub closed_by_id: Option<UserId>,
        pub moved_to_id: Option<IssueId>,
        pub duplicated_to_id: Option<IssueId>,
        pub promoted_to_epic_id: Option<i64>,
        pub created_at: Ts,
        pub updated_at: Ts,
    }
}

impl Issue {
    /// The values by which a list in this order has its place for the issue; none in orders whose values are not here.
    pub fn list_position(&self, sorting: Sorting) -> Option<ListPosition> {
        let value = match sorting.by {
            Order::Id => None,
            Order::Column("updated_at") => Some(self.updated_at.0),
            Order::Column("relative_position") => Some(self.relative_position),
            Order::Column("upvotes") => Some(self.upvotes),
            Order::Column("blocking_issues_count") => Some(self.blocking_issues_count),
            Order::Optional("due_date") => self.due_date.map(|day| day.0),
            Order::Optional("closed_at") => self.closed_at.map(|moment| moment.0),
            Order::Optional("weight") => self.weight,
            _ => return None,
        };
        Some(ListPosition { value, id: self.id.0 })
    }

    /// How bad it is, which is known of incidents alone.
    pub fn shown_severity(&self) -> Severity {
        match self.issue_type {
            IssueType::Incident => self.severity,
            _ => Severity::Unknown,
        }
    }

    /// The issue as notes, to-dos and references see it.
    pub fn item(&self) -> Item {
        Item {
            id: self.id.into(),
            home: Home::Project(self.project_id),
            iid: self.iid,
            author: self.author_id,
            title: self.title.clone(),
            description: self.description.clone(),
            state: self.state.to_string(),
            confidential: self.confidential,
            locked: self.discussion_locked.unwrap_or_default(),
            updated_at: self.updated_at,
        }
    }
}
