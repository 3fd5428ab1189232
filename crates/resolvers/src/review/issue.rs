//! Issues.

use std::sync::Arc;

use graphql::{Arguments, Connection, Failure, Fields, Page, Registry, Value};
use kernel::{Ability as _, Result, Standing, ids::IssueId};
use review::{
    emoji::AwardTarget,
    issue::{HealthStatus, actions::may_update_as},
    policy::{CreateIssues, ManageIssues, ReadIssues},
};

pub use super::{
    item_values::{issue, issue_of as shared, issue_of_id as of_id, standing},
    records::IssueRecord,
};
use super::{items, loaders::ReviewLoaders, scope};
use crate::{
    context::Context,
    iterations, milestones, people,
    values::{markdown, maybe_time, path_of, time},
};

async fn of_maybe_id(context: &Context, id: Option<IssueId>) -> Result<Value, Failure> {
    match id {
        Some(id) => of_id(context, id).await,
        None => Ok(Value::Null),
    }
}

/// An issue of an epic.
pub struct EpicIssueRecord {
    pub issue: Arc<IssueRecord>,
    /// Where the epic is, as a path.
    pub epic_path: String,
}

/// A record that holds an issue.
pub trait IssueRecordSource: Send + Sync + 'static {
    fn record(&self) -> &IssueRecord;
}

impl IssueRecordSource for IssueRecord {
    fn record(&self) -> &IssueRecord {
        self
    }
}

impl IssueRecordSource for EpicIssueRecord {
    fn record(&self) -> &IssueRecord {
        &self.issue
    }
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&[
        "DesignCollection",
        "IssuePermissions",
        "IssueStatusCountsType",
        "MetricImage",
        "TaskCompletionStatus",
    ]);
    registry.query().lookup("issue", |_, arguments, context| async move {
        of_id(&context, IssueId(arguments.gid("id", &["Issue", "WorkItem"])?)).await
    });
    add_fields::<IssueRecord>(registry.object("Issue"));
    add_fields::<EpicIssueRecord>(registry.object("EpicIssue"))
        .plain("epicIssueId", |one| Value::gid("EpicIssue", one.record().row.id))
        .plain("relationPath", |one| {
            format!("{}/issues/{}", one.epic_path, one.record().row.id).into()
        });
}

fn add_fields<T: IssueRecordSource>(fields: Fields<'_, Context, T>) -> Fields<'_, Context, T> {
    let fields = plain_fields(fields);
    let fields = related_fields(fields);
    let fields = item_fields(fields).lookup("updatedBy", |one: Arc<T>, _, context| async move {
        let id = one.record().row.id;
        match ReviewLoaders::of(&context).updaters.load(id).await? {
            Some(user) => people::of_id(&context, user).await,
            None => Ok(Value::Null),
        }
    });
    fields.none(&[
        "createNoteEmail",
        "customerRelationsContacts",
        "designCollection",
        "escalationPolicy",
        "escalationStatus",
        "hidden",
        "metricImages",
        "slaDueAt",
        "statusPagePublishedIncident",
    ])
}

fn plain_fields<T: IssueRecordSource>(fields: Fields<'_, Context, T>) -> Fields<'_, Context, T> {
    fields
        .plain("id", |one| Value::gid("Issue", one.record().row.id))
        .plain("iid", |one| one.record().row.iid.to_string().into())
        .plain("title", |one| one.record().row.title.as_str().into())
        .plain("titleHtml", |one| markup::inline(&one.record().row.title).into())
        .plain("description", |one| one.record().row.description.as_deref().into())
        .lookup("descriptionHtml", |one: Arc<T>, _, context| async move {
            let row = &one.record().row;
            markdown(&context.forge, row.description.as_deref(), Some(row.project_id)).await
        })
        .plain("state", |one| one.record().row.state.to_string().into())
        .plain("type", |one| one.record().row.issue_type.to_string().to_uppercase().into())
        .plain("confidential", |one| one.record().row.confidential.into())
        .plain("discussionLocked", |one| {
            one.record().row.discussion_locked.unwrap_or_default().into()
        })
        .plain("severity", |one| one.record().shown.severity.as_str().into())
        .plain("healthStatus", |one| one.record().row.health_status.map(health).into())
        .plain("weight", |one| one.record().row.weight.into())
        .plain("relativePosition", |one| relative(one.record().row.relative_position))
        .plain("projectId", |one| one.record().row.project_id.0.into())
        .plain("dueDate", |one| maybe_time(one.record().row.due_date))
        .plain("createdAt", |one| time(one.record().row.created_at))
        .plain("updatedAt", |one| time(one.record().row.updated_at))
        .plain("closedAt", |one| maybe_time(one.record().row.closed_at))
        .plain("upvotes", |one| one.record().row.upvotes.into())
        .plain("downvotes", |one| one.record().row.downvotes.into())
        .plain("userNotesCount", |one| one.record().row.user_notes_count.into())
        .plain("blockingCount", |one| one.record().row.blocking_issues_count.into())
        .plain("mergeRequestsCount", |one| one.record().shown.merge_requests_count.into())
        .plain("timeEstimate", |one| one.record().row.time_estimate.into())
        .plain("totalTimeSpent", |one| one.record().row.total_time_spent.into())
        .plain("humanTimeEstimate", |one| {
            one.record().shown.time_stats.human_time_estimate.clone().into()
        })
        .plain("humanTotalTimeSpent", |one| {
            one.record().shown.time_stats.human_total_time_spent.clone().into()
        })
        .plain("taskCompletionStatus", |one| {
            let row = &one.record().row;
            items::tasks(row.task_count, row.task_completed_count)
        })
        .plain("moved", |one| one.record().row.moved_to_id.is_some().into())
        .plain("hasEpic", |one| one.record().shown.epic.is_some().into())
        .plain("webUrl", |one| one.record().shown.web_url.as_str().into())
}

fn related_fields<T: IssueRecordSource>(fields: Fields<'_, Context, T>) -> Fields<'_, Context, T> {
    fields
        .plain("author", |one| one.record().shown.author.clone().map(people::user).into())
        .plain("milestone", |one| {
            one.record().shown.milestone.clone().map(milestones::milestone).into()
        })
        .plain("iteration", |one| {
            one.record().shown.iteration.clone().map(iterations::iteration).into()
        })
        .lookup("reference", |one: Arc<T>, arguments, _| async move {
            let shown = &one.record().shown.references;
            let text = if arguments.flag("full") { &shown.full } else { &shown.short };
            Ok(text.as_str().into())
        })
        .lookup("webPath", |one: Arc<T>, _, context| async move {
            Ok(path_of(&context.forge.urls, &one.record().shown.web_url).into())
        })
        .lookup("assignees", |one: Arc<T>, arguments, _| async move {
            let people = one.record().shown.assignees.iter().cloned().map(people::user);
            Ok(Connection::of_list(&arguments.page()?, people.collect()).into())
        })
        .lookup("labels", |one: Arc<T>, arguments, _| async move {
            items::labels(&arguments.page()?, Some(one.record().labels.clone()))
        })
        .lookup("epic", |one: Arc<T>, _, context| async move {
            match one.record().row.epic_id {
                Some(epic) => super::item_values::epic_of_id(&context, epic).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("movedTo", |one: Arc<T>, _, context| async move {
            of_maybe_id(&context, one.record().row.moved_to_id).await
        })
        .lookup("closedAsDuplicateOf", |one: Arc<T>, _, context| async move {
            of_maybe_id(&context, one.record().row.duplicated_to_id).await
        })
        .lookup("blocked", |one: Arc<T>, _, context| async move {
            Ok((!blockers(&context, one.record()).await?.is_empty()).into())
        })
        .lookup("blockedByCount", |one: Arc<T>, _, context| async move {
            Ok(blockers(&context, one.record()).await?.len().into())
        })
        .lookup("blockedByIssues", |one: Arc<T>, arguments, context| async move {
            blocked_by(&context, one.record(), &arguments).await
        })
        .lookup("emailsDisabled", |one: Arc<T>, _, context| async move {
            items::sends_no_mail(&context, one.record().row.project_id).await
        })
        .lookup("userPermissions", |one: Arc<T>, _, context| async move {
            permissions(&context, one.record()).await
        })
}

fn item_fields<T: IssueRecordSource>(fields: Fields<'_, Context, T>) -> Fields<'_, Context, T> {
    fields
        .lookup("subscribed", |one: Arc<T>, _, context| async move {
            items::subscribed(&context, one.record().key()).await
        })
        .cost("subscribed", 5)
        .lookup("participants", |one: Arc<T>, arguments, context| async move {
            items::participants(&context, one.record().key(), &arguments.page()?).await
        })
        .cost("participants", 5)
        .lookup("notes", |one: Arc<T>, arguments, context| async move {
            super::notes::notes_of(&context, one.record().key(), &arguments.page()?).await
        })
        .lookup("discussions", |one: Arc<T>, arguments, context| async move {
            super::notes::discussions_of(&context, one.record().key(), &arguments.page()?).await
        })
        .lookup("userDiscussionsCount", |one: Arc<T>, _, context| async move {
            super::notes::count_discussions(&context, one.record().key()).await
        })
        .lookup("awardEmoji", |one: Arc<T>, arguments, context| async move {
            let target = AwardTarget::from(one.record().key().item());
            super::awards::of(&context, target, &arguments.page()?).await
        })
        .lookup("currentUserTodos", |one: Arc<T>, arguments, context| async move {
            super::todos::about(&context, one.record().key(), &arguments).await
        })
        .lookup("timelogs", |one: Arc<T>, arguments, context| async move {
            super::timelogs::of_item(&context, one.record().key().item(), &arguments.page()?).await
        })
}

/// Positions are stored with more room than `Int` has; where one does not fit, none is told.
fn relative(position: i64) -> Value {
    i32::try_from(position).map_or(Value::Null, Value::from)
}

pub fn health(status: HealthStatus) -> &'static str {
    match status {
        HealthStatus::OnTrack => "onTrack",
        HealthStatus::NeedsAttention => "needsAttention",
        HealthStatus::AtRisk => "atRisk",
    }
}

async fn blockers(context: &Context, record: &IssueRecord) -> Result<Arc<Vec<IssueId>>, Failure> {
    let found = ReviewLoaders::of(context).blockers.load(record.row.id).await?;
    Ok(found.unwrap_or_default())
}

async fn blocked_by(
    context: &Context,
    record: &IssueRecord,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page: Page = arguments.page()?;
    let ids = blockers(context, record).await?;
    let loaders = ReviewLoaders::of(context);
    let mut found = Vec::with_capacity(ids.len());
    for one in futures_util::future::join_all(ids.iter().map(|id| loaders.issues.load(*id))).await {
        found.extend(one?);
    }
    let weights = found.iter().filter_map(|one| one.row.weight);
    let weight = weights.fold(0, i64::saturating_add);
    let values = found.into_iter().map(shared).collect();
    Ok(Connection::of_list(&page, values).field("weight", weight).into())
}

async fn permissions(context: &Context, record: &IssueRecord) -> Result<Value, Failure> {
    let who = standing(context, record.row.project_id).await?;
    let user = context.actor().id.map(|user| user.0);
    let assigned = record.shown.assignees.iter().any(|assignee| Some(assignee.id) == user);
    let may = |ability: fn(&Standing) -> bool| who.as_ref().is_some_and(ability);
    let signed_in = user.is_some();
    let updates =
        signed_in && who.as_ref().is_some_and(|who| may_update_as(who, &record.row, assigned));
    let speaks = signed_in && may(CreateIssues::allows);
    let open = !record.row.discussion_locked.unwrap_or_default()
        || may(|who| who.is(kernel::AccessLevel::Guest));
    Ok(Value::fields(
        "IssuePermissions",
        [
            ("adminIssue", (signed_in && may(ManageIssues::allows)).into()),
            ("createDesign", false.into()),
            ("createNote", (speaks && open).into()),
            ("destroyDesign", false.into()),
            ("readDesign", false.into()),
            ("readIssue", may(ReadIssues::allows).into()),
            ("reopenIssue", updates.into()),
            ("updateDesign", false.into()),
            ("updateIssue", updates.into()),
        ],
    ))
}

/// The issue of a number in a project, for somebody who may read it.
///
/// # Errors
/// `NotFoundOrForbidden` for any other.
pub async fn named(
    context: &Context,
    path: String,
    iid: &str,
) -> Result<(kernel::Grant<CreateIssues>, i64), Failure> {
    let grant = scope::grant_at::<CreateIssues>(context, path).await?;
    let iid = iid.parse().map_err(|_cause| Failure::NotFoundOrForbidden)?;
    Ok((grant, iid))
}
