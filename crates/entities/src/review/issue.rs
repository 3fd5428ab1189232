//! An issue.

use db::Tx;
use forge::urls::Urls;
use kernel::{
    Actor, Result, Ts,
    ids::{IssueId, UserId},
    time::date_text,
};
use review::{
    issue::{HealthStatus, Issue, IssueState, IssueType},
    item::subscriptions::is_subscribed,
    label::Label,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    epic::BriefEpic,
    issue_context::{IssueContext, ItemHints},
    item::{LabelNames, ReferenceScope, References, TaskCompletion, TimeStatsEntity},
    iteration::IterationEntity,
    milestone::MilestoneEntity,
};
use crate::org::brief_user::BriefUser;

/// How issues are shown.
#[derive(Clone, Debug)]
pub struct IssueView {
    pub from: ReferenceScope,
    pub with_labels_details: bool,
    /// Only what they may read is shown and counted.
    pub reader: Actor,
}

impl IssueView {
    /// As seen from its own project.
    pub fn of(reader: Actor) -> Self {
        Self { from: ReferenceScope::Home, with_labels_details: false, reader }
    }

    /// As seen from a project, by its full path.
    pub fn in_project(reader: Actor, path: &str) -> Self {
        Self { from: ReferenceScope::Project(path.to_owned()), ..Self::of(reader) }
    }
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct IssueEntity {
    pub id: i64,
    pub iid: i64,
    pub project_id: i64,
    pub title: String,
    pub description: Option<String>,
    #[schema(value_type = String)]
    pub state: IssueState,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    #[schema(value_type = Option<String>)]
    pub closed_at: Option<Ts>,
    pub closed_by: Option<BriefUser>,
    pub labels: LabelNames,
    pub milestone: Option<MilestoneEntity>,
    pub assignees: Vec<BriefUser>,
    pub author: Option<BriefUser>,
    /// Same as `issue_type`, in upper case.
    #[serde(rename = "type")]
    pub kind: String,
    /// First of `assignees`; deprecated.
    pub assignee: Option<BriefUser>,
    pub user_notes_count: i64,
    /// Number of merge requests visible to the caller that close the issue when merged.
    pub merge_requests_count: i64,
    pub upvotes: i64,
    pub downvotes: i64,
    /// Date (`2026-12-31`).
    pub due_date: Option<String>,
    pub confidential: bool,
    pub discussion_locked: Option<bool>,
    #[schema(value_type = String)]
    pub issue_type: IssueType,
    pub web_url: String,
    pub time_stats: TimeStatsEntity,
    pub task_completion_status: TaskCompletion,
    pub weight: Option<i64>,
    pub blocking_issues_count: i64,
    pub has_tasks: bool,
    /// Present when the description has tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_status: Option<String>,
    #[serde(rename = "_links")]
    pub links: IssueLinks,
    pub references: References,
    pub severity: String,
    /// Whether the caller is subscribed. Not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscribed: Option<bool>,
    pub moved_to_id: Option<i64>,
    pub service_desk_reply_to: Option<String>,
    /// IID of the epic; deprecated.
    pub epic_iid: Option<i64>,
    /// Epic of the issue, if visible to the caller.
    pub epic: Option<BriefEpic>,
    /// Iteration of the issue, if visible to the caller.
    pub iteration: Option<IterationEntity>,
    #[schema(value_type = Option<String>)]
    pub health_status: Option<HealthStatus>,
}

/// API URLs of related resources.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct IssueLinks {
    #[serde(rename = "self")]
    pub this: String,
    pub notes: String,
    pub award_emoji: String,
    pub project: String,
    pub closed_as_duplicate_of: Option<String>,
}

impl IssueEntity {
    /// What belongs to them is looked up once for all of them.
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        rows: Vec<Issue>,
        view: &IssueView,
    ) -> Result<Vec<Self>> {
        Ok(Self::all_labelled(tx, urls, rows, view)?.into_iter().map(|(issue, _)| issue).collect())
    }

    /// As [`all`](Self::all), with the labels of each.
    pub fn all_labelled(
        tx: &mut Tx<'_>,
        urls: &Urls,
        rows: Vec<Issue>,
        view: &IssueView,
    ) -> Result<Vec<(Self, Vec<Label>)>> {
        let mut around = IssueContext::load(tx, urls, view.reader, &rows)?;
        let record = |row: Issue| {
            let id = row.id.0;
            let issue = Self::new(urls, row, &around, view);
            (issue, around.labels.remove(&id).unwrap_or_default())
        };
        Ok(rows.into_iter().map(record).collect())
    }

    /// One issue alone, with whether somebody hears of it.
    pub fn one(tx: &mut Tx<'_>, urls: &Urls, issue: Issue, reader: Actor) -> Result<Self> {
        let subscribed = match reader.id {
            Some(user) => is_subscribed(tx, &issue.item(), user)?,
            None => false,
        };
        let around = IssueContext::load(tx, urls, reader, std::slice::from_ref(&issue))?;
        let shown = Self::new(urls, issue, &around, &IssueView::of(reader));
        Ok(Self { subscribed: Some(subscribed), ..shown })
    }

    /// As [`one`](Self::one), of which something is known.
    pub fn one_with(
        tx: &mut Tx<'_>,
        urls: &Urls,
        issue: Issue,
        reader: Actor,
        known: &ItemHints<'_>,
    ) -> Result<Self> {
        let around = IssueContext::of_one(tx, urls, reader, &issue, known)?;
        let shown = Self::new(urls, issue, &around, &IssueView::of(reader));
        Ok(Self { subscribed: Some(known.beside.subscribed && reader.id.is_some()), ..shown })
    }

    fn new(urls: &Urls, row: Issue, around: &IssueContext, view: &IssueView) -> Self {
        let user = |id: UserId| around.users.get(&id).map(|user| BriefUser::of(urls, user));
        let assignees: Vec<BriefUser> =
            around.assignees_of(row.id).into_iter().filter_map(user).collect();
        let labels: &[Label] = around.labels.get(&row.id.0).map_or(&[], Vec::as_slice);
        let path = around.path(row.project_id);
        let milestone = row.milestone_id.and_then(|id| around.milestones.get(&id.0).cloned());
        let epic = row.epic_id.and_then(|id| around.epics.get(&id).cloned());
        let iteration = row.iteration_id.and_then(|id| around.iterations.get(&id).cloned());
        let tasks =
            TaskCompletion { count: row.task_count, completed_count: row.task_completed_count };
        Self {
            links: IssueLinks::new(urls, &row, around),
            references: References::new(format!("#{}", row.iid), path, &view.from),
            web_url: urls.at(&format!("{path}/-/issues/{}", row.iid)),
            labels: LabelNames::new(labels, view.with_labels_details),
            assignee: assignees.first().cloned(),
            assignees,
            milestone,
            author: user(row.author_id),
            closed_by: row.closed_by_id.and_then(user),
            kind: row.issue_type.to_string().to_uppercase(),
            severity: row.shown_severity().to_string().to_uppercase(),
            time_stats: TimeStatsEntity::new(urls, row.time_estimate, row.total_time_spent),
            has_tasks: tasks.count > 0,
            task_status: task_status(tasks),
            task_completion_status: tasks,
            due_date: row.due_date.map(|day| date_text(day.date())),
            id: row.id.0,
            iid: row.iid,
            project_id: row.project_id.0,
            title: row.title,
            description: row.description,
            state: row.state,
            created_at: row.created_at,
            updated_at: row.updated_at,
            closed_at: row.closed_at,
            user_notes_count: row.user_notes_count,
            merge_requests_count: around.closing(row.id),
            upvotes: row.upvotes,
            downvotes: row.downvotes,
            confidential: row.confidential,
            discussion_locked: row.discussion_locked,
            issue_type: row.issue_type,
            weight: row.weight,
            blocking_issues_count: row.blocking_issues_count,
            subscribed: None,
            moved_to_id: row.moved_to_id.map(|id: IssueId| id.0),
            // Nobody writes to a service desk here.
            service_desk_reply_to: None,
            epic_iid: epic.as_ref().map(|epic| epic.iid),
            epic,
            iteration,
            health_status: row.health_status,
        }
    }
}

impl IssueLinks {
    fn new(urls: &Urls, row: &Issue, around: &IssueContext) -> Self {
        let project = urls.at(&format!("api/v4/projects/{}", row.project_id));
        let this = format!("{project}/issues/{}", row.iid);
        Self {
            notes: format!("{this}/notes"),
            award_emoji: format!("{this}/award_emoji"),
            closed_as_duplicate_of: around.original(row).map(|path| urls.at(&path)),
            this,
            project,
        }
    }
}

/// `1 of 3 tasks completed`; nothing where there are none.
fn task_status(tasks: TaskCompletion) -> Option<String> {
    let TaskCompletion { count, completed_count } = tasks;
    let noun = if count == 1 { "task" } else { "tasks" };
    (count > 0).then(|| format!("{completed_count} of {count} {noun} completed"))
}
