//! Merge requests: what follows from their rows.

use std::sync::Arc;

use entities::org::brief_user::BriefUser;
use graphql::{Connection, Failure, Fields, Page, Registry, Value};
use kernel::{
    Ability as _, AccessLevel, Result, Standing,
    ids::{MergeRequestId, ProjectId, UserId},
};
use review::{
    emoji::AwardTarget,
    merge_request::{
        MergeRequest, MergeRequestState, MergeStatus, mergeability::DetailedMergeStatus,
    },
    policy::{ManageMergeRequests, ReadMergeRequests, TakePartInMergeRequests},
};

use super::{
    issue::standing, items, loaders::ReviewLoaders, merge_request_people::MergeRequestPerson,
};
pub use super::{
    item_values::{merge_request, merge_request_of as shared, merge_request_of_id as of_id},
    records::MergeRequestRecord,
};
use crate::{
    context::Context,
    milestones, people, projects,
    values::{markdown, maybe_time, path_of, time},
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&[
        "DiffRefs",
        "DiffStats",
        "DiffStatsSummary",
        "MergeRequestPermissions",
        "SuggestedReviewersType",
    ]);
    registry.query().lookup("mergeRequest", |_, arguments, context| async move {
        of_id(&context, MergeRequestId(arguments.gid("id", &["MergeRequest"])?)).await
    });
    let fields = registry.object::<MergeRequestRecord>("MergeRequest");
    let fields = branch_fields(state_fields(text_fields(fields)));
    let fields = related_fields(fields);
    super::merge_request_git::add_fields(item_fields(fields)).none(&[
        "inProgressMergeCommitSha",
        "mergeTrainsCount",
        "rebaseCommitSha",
        "securityAutoFix",
        "suggestedReviewers",
    ]);
}

type RecordFields<'r> = Fields<'r, Context, MergeRequestRecord>;

fn text_fields(fields: RecordFields<'_>) -> RecordFields<'_> {
    fields
        .plain("id", |one| Value::gid("MergeRequest", one.row.id))
        .plain("iid", |one| one.row.iid.to_string().into())
        .plain("title", |one| one.row.title.as_str().into())
        .plain("name", |one| one.row.title.as_str().into())
        .plain("titleHtml", |one| markup::inline(&one.row.title).into())
        .plain("description", |one| one.row.description.as_deref().into())
        .lookup("descriptionHtml", |one, _, context| async move {
            let row = &one.row;
            markdown(&context.forge, row.description.as_deref(), Some(row.project_id)).await
        })
        .plain("createdAt", |one| time(one.row.created_at))
        .plain("preparedAt", |one| time(one.row.created_at))
        .plain("updatedAt", |one| time(one.row.updated_at))
        .plain("mergedAt", |one| maybe_time(one.row.merged_at))
        .cost("mergedAt", 5)
        .plain("closedAt", |one| maybe_time(one.row.closed_at))
        .plain("upvotes", |one| one.row.upvotes.into())
        .plain("downvotes", |one| one.row.downvotes.into())
        .plain("userNotesCount", |one| one.row.user_notes_count.into())
        .plain("timeEstimate", |one| one.row.time_estimate.into())
        .plain("totalTimeSpent", |one| one.row.total_time_spent.into())
        .plain("humanTimeEstimate", |one| one.shown.time_stats.human_time_estimate.clone().into())
        .plain("humanTotalTimeSpent", |one| {
            one.shown.time_stats.human_total_time_spent.clone().into()
        })
        .plain("taskCompletionStatus", |one| {
            items::tasks(one.row.task_count, one.row.task_completed_count)
        })
        .plain("webUrl", |one| one.shown.web_url.as_str().into())
        .lookup("webPath", |one, _, context| async move {
            Ok(path_of(&context.forge.urls, &one.shown.web_url).into())
        })
        .lookup("reference", |one, arguments, _| async move {
            let shown = &one.shown.references;
            let text = if arguments.flag("full") { &shown.full } else { &shown.short };
            Ok(text.as_str().into())
        })
}

fn state_fields(fields: RecordFields<'_>) -> RecordFields<'_> {
    fields
        .plain("state", |one| one.row.state.to_string().into())
        .plain("draft", |one| one.row.draft.into())
        .plain("discussionLocked", |one| one.row.discussion_locked.unwrap_or_default().into())
        .plain("approved", |one| one.row.approved.into())
        .plain("conflicts", |one| {
            (one.row.known_merge_status() == MergeStatus::CannotBeMerged).into()
        })
        .plain("mergeStatus", |one| one.row.known_merge_status().to_string().into())
        .plain("mergeStatusEnum", |one| {
            one.row.known_merge_status().to_string().to_uppercase().into()
        })
        .plain("detailedMergeStatus", |one| {
            one.shown.detailed_merge_status.to_string().to_uppercase().into()
        })
        .plain("mergeable", |one| {
            (one.shown.detailed_merge_status == DetailedMergeStatus::Mergeable).into()
        })
        .plain("mergeableDiscussionsState", |one| one.shown.blocking_discussions_resolved.into())
        .plain("mergeError", |one| one.row.merge_error.as_deref().into())
        .plain("mergeOngoing", |one| (one.row.state == MergeRequestState::Locked).into())
        .plain("autoMergeEnabled", |one| one.row.auto_merge.is_some().into())
        .plain("mergeWhenPipelineSucceeds", |one| one.row.auto_merge.is_some().into())
        .plain("autoMergeStrategy", |one| {
            one.row.auto_merge.as_ref().map(|_| "merge_when_pipeline_succeeds").into()
        })
        .plain("allowCollaboration", |one| one.shown.allow_collaboration.unwrap_or_default().into())
        .plain("forceRemoveSourceBranch", |one| one.row.force_remove_source_branch.into())
        .plain("shouldRemoveSourceBranch", |one| one.row.should_remove_source_branch.into())
        .plain("squash", |one| one.row.squash.into())
        .lookup("rebaseInProgress", |one, _, context| async move {
            let found = ReviewLoaders::of(&context).rebasing.load(one.row.id).await?;
            Ok(found.unwrap_or_default().into())
        })
        .lookup("hasCi", |one, _, context| async move {
            let head = one.row.source_project_id.zip(one.row.head_sha.clone());
            let Some(head) = head else { return Ok(false.into()) };
            Ok(ReviewLoaders::of(&context).piped.load(head).await?.unwrap_or_default().into())
        })
        .lookup(
            "userPermissions",
            |one, _, context| async move { permissions(&context, &one).await },
        )
}

fn branch_fields(fields: RecordFields<'_>) -> RecordFields<'_> {
    fields
        .plain("sourceBranch", |one| one.row.source_branch.as_str().into())
        .plain("targetBranch", |one| one.row.target_branch.as_str().into())
        .plain("projectId", |one| one.row.project_id.0.into())
        .plain("targetProjectId", |one| one.row.project_id.0.into())
        .plain("sourceProjectId", |one| one.row.source_project_id.map(|id| id.0).into())
        .plain("diffHeadSha", |one| one.row.head_sha.as_deref().into())
        .plain("mergeCommitSha", |one| one.row.merge_commit_sha.as_deref().into())
        .plain("diffRefs", |one| diff_refs(&one.row).unwrap_or(Value::Null))
        .lookup("project", |one, _, context| async move {
            projects::of_id(&context, one.row.project_id).await
        })
        .lookup("targetProject", |one, _, context| async move {
            projects::of_id(&context, one.row.project_id).await
        })
        .lookup("sourceProject", |one, _, context| async move {
            match one.row.source_project_id {
                Some(project) => projects::of_id(&context, project).await,
                None => Ok(Value::Null),
            }
        })
}

fn diff_refs(row: &MergeRequest) -> Option<Value> {
    let (base, head, start) =
        (row.base_sha.as_deref()?, row.head_sha.as_deref()?, row.start_sha.as_deref()?);
    let fields = [("baseSha", base.into()), ("headSha", head.into()), ("startSha", start.into())];
    Some(Value::fields("DiffRefs", fields))
}

fn related_fields(fields: RecordFields<'_>) -> RecordFields<'_> {
    fields
        .plain("milestone", |one| one.shown.milestone.clone().map(milestones::milestone).into())
        .plain("mergeUser", |one| one.shown.merge_user.clone().map(people::user).into())
        .lookup("author", |one, _, _| async move {
            let author = one.shown.author.clone();
            Ok(author.map(|user| person("MergeRequestAuthor", user, &one)).into())
        })
        .lookup("assignees", |one, arguments, _| async move {
            let people = one.shown.assignees.clone();
            persons("MergeRequestAssignee", people, &one, &arguments.page()?)
        })
        .lookup("reviewers", |one, arguments, _| async move {
            let people = one.shown.reviewers.clone();
            persons("MergeRequestReviewer", people, &one, &arguments.page()?)
        })
        .lookup("participants", |one, arguments, context| async move {
            let mut ids = items::participant_ids(&context, one.key()).await?;
            for reviewer in &one.shown.reviewers {
                if !ids.contains(&UserId(reviewer.id)) {
                    ids.push(UserId(reviewer.id));
                }
            }
            let people = items::users(&context, &ids).await?;
            persons("MergeRequestParticipant", people, &one, &arguments.page()?)
        })
        .cost("participants", 5)
        .lookup("committers", |one, arguments, context| async move {
            let found = ReviewLoaders::of(&context).committers.load(one.row.id).await?;
            let people = items::users(&context, &found.unwrap_or_default()).await?;
            let people = people.into_iter().map(people::user).collect();
            Ok(Connection::of_list(&arguments.page()?, people).into())
        })
        .cost("committers", 5)
        .lookup("labels", |one, arguments, context| async move {
            let found = context.loaders.labels_of_merge_request.load(one.row.id.0).await?;
            items::labels(&arguments.page()?, found)
        })
        .lookup("approvedBy", |one, arguments, context| async move {
            super::approvals::approved_by(&context, &one, &arguments.page()?).await
        })
        .lookup("approvalsRequired", |one, _, context| async move {
            super::approvals::required(&context, &one).await
        })
        .lookup("approvalsLeft", |one, _, context| async move {
            super::approvals::left(&context, &one).await
        })
        .lookup("approvalState", |one, _, context| async move {
            super::approvals::state(&context, &one).await
        })
}

fn item_fields(fields: RecordFields<'_>) -> RecordFields<'_> {
    fields
        .lookup("subscribed", |one, _, context| async move {
            items::subscribed(&context, one.key()).await
        })
        .cost("subscribed", 5)
        .lookup("notes", |one, arguments, context| async move {
            super::notes::notes_of(&context, one.key(), &arguments.page()?).await
        })
        .lookup("discussions", |one, arguments, context| async move {
            super::notes::discussions_of(&context, one.key(), &arguments.page()?).await
        })
        .lookup("userDiscussionsCount", |one, _, context| async move {
            super::notes::count_discussions(&context, one.key()).await
        })
        .lookup("awardEmoji", |one, arguments, context| async move {
            let target = AwardTarget::from(one.key().item());
            super::awards::of(&context, target, &arguments.page()?).await
        })
        .lookup("currentUserTodos", |one, arguments, context| async move {
            super::todos::about(&context, one.key(), &arguments).await
        })
        .lookup("timelogs", |one, arguments, context| async move {
            super::timelogs::of_item(&context, one.key().item(), &arguments.page()?).await
        })
}

fn person(kind: &'static str, user: BriefUser, of: &Arc<MergeRequestRecord>) -> Value {
    Value::object(kind, Arc::new(MergeRequestPerson { user, merge_request: of.clone() }))
}

fn persons(
    kind: &'static str,
    people: Vec<BriefUser>,
    of: &Arc<MergeRequestRecord>,
    page: &Page,
) -> Result<Value, Failure> {
    let people = people.into_iter().map(|user| person(kind, user, of)).collect();
    Ok(Connection::of_list(page, people).into())
}

async fn permissions(context: &Context, record: &MergeRequestRecord) -> Result<Value, Failure> {
    let (row, signed_in) = (&record.row, context.actor().id.is_some());
    let who = standing(context, row.project_id).await?.filter(|_| signed_in);
    let may = |ability: fn(&Standing) -> bool| who.as_ref().is_some_and(ability);
    let pushes = |project: Option<ProjectId>, branch: String| async move {
        let Some(project) = project else { return Ok::<bool, Failure>(false) };
        let found = ReviewLoaders::of(context).protections.load(project).await?;
        Ok(found.is_some_and(|rules| rules.branch(&branch).may_push()))
    };
    let target = ReviewLoaders::of(context).protections.load(row.project_id).await?;
    let merges = signed_in
        && who.as_ref().is_some_and(|who| !who.archived)
        && target.is_some_and(|rules| {
            let branch = rules.branch(&row.target_branch);
            branch.may_push() || branch.may_merge()
        });
    let to_source = pushes(row.source_project_id, row.source_branch.clone()).await?;
    let is_merged = row.merged_at.is_some();
    let updates = who.as_ref().is_some_and(|who| record.may_update(who));
    let open = !row.discussion_locked.unwrap_or_default() || may(|who| who.is(AccessLevel::Guest));
    let approves = super::approvals::can_approve(context, record).await?;
    let writes = may(|who| who.writes(AccessLevel::Developer));
    Ok(Value::fields(
        "MergeRequestPermissions",
        [
            ("adminMergeRequest", may(ManageMergeRequests::allows).into()),
            ("canApprove", approves.into()),
            ("canMerge", merges.into()),
            ("cherryPickOnCurrentMergeRequest", (is_merged && writes).into()),
            ("createNote", (may(TakePartInMergeRequests::allows) && open).into()),
            ("pushToSourceBranch", to_source.into()),
            ("readMergeRequest", may(ReadMergeRequests::allows).into()),
            ("removeSourceBranch", to_source.into()),
            ("revertOnCurrentMergeRequest", (is_merged && writes).into()),
            ("updateMergeRequest", updates.into()),
        ],
    ))
}
