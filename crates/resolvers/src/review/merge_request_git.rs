//! Merge requests: what git says of their branches, commits and files.

use std::sync::Arc;

use entities::review::merge_request_records::diverged_commits;
use forge::merge_request::{
    contents::{self, CommitSpan},
    merge::{DefaultMessages, default_messages},
};
use graphql::{Arguments, Connection, Failure, Fields, Value};
use kernel::{ids::ProjectId, page::PageRequest};
use org::project::settings::{MergeMethod, SquashOption};
use repo::git::CommitInfo;
use review::merge_request::MergeRequest;

use super::{loaders::ReviewLoaders, records::MergeRequestRecord};
use crate::{
    context::Context,
    failure::{failure_of, visible},
    projects::{self, ProjectRecord},
    repository,
};

/// The most commits among which merges are left out.
const MOST_COMMITS: i64 = 1_000;

type RecordFields<'r> = Fields<'r, Context, MergeRequestRecord>;

pub(super) fn add_fields(fields: RecordFields<'_>) -> RecordFields<'_> {
    let fields = fields
        .lookup("commitCount", |one, _, context| async move {
            let found = visible(contents::commit_ids(&context.forge, &one.row).await)?;
            Ok(found.map(|ids| ids.len()).into())
        })
        .reads_git("commitCount")
        .lookup("commits", |one, arguments, context| async move {
            commits(&context, &one.row, &arguments).await
        })
        .reads_git("commits")
        .lookup("commitsWithoutMergeCommits", |one, arguments, context| async move {
            own_commits(&context, &one.row, &arguments).await
        })
        .reads_git("commitsWithoutMergeCommits")
        .lookup("diffStats", |one, arguments, context| async move {
            stats(&context, &one.row, &arguments).await
        })
        .reads_git("diffStats")
        .lookup(
            "diffStatsSummary",
            |one, _, context| async move { summary(&context, &one.row).await },
        )
        .reads_git("diffStatsSummary");
    branch_fields(message_fields(fields))
}

fn message_fields(fields: RecordFields<'_>) -> RecordFields<'_> {
    fields
        .lookup("defaultMergeCommitMessage", |one, _, context| async move {
            Ok(messages(&context, &one.row).await?.map(|found| found.merge).into())
        })
        .reads_git("defaultMergeCommitMessage")
        .lookup("defaultMergeCommitMessageWithDescription", |one, _, context| async move {
            Ok(messages(&context, &one.row).await?.map(|found| found.merge).into())
        })
        .reads_git("defaultMergeCommitMessageWithDescription")
        .lookup("defaultSquashCommitMessage", |one, _, context| async move {
            Ok(messages(&context, &one.row).await?.map(|found| found.squash).into())
        })
        .reads_git("defaultSquashCommitMessage")
}

fn branch_fields(fields: RecordFields<'_>) -> RecordFields<'_> {
    fields
        .lookup("divergedFromTargetBranch", |one, _, context| async move {
            Ok(diverged(&context, &one.row).await?.into())
        })
        .reads_git("divergedFromTargetBranch")
        .lookup("shouldBeRebased", |one, _, context| async move {
            let settings = ReviewLoaders::of(&context).settings.load(one.row.project_id).await?;
            let straight = settings.is_some_and(|all| all.merge_method != MergeMethod::Merge);
            Ok((straight && diverged(&context, &one.row).await?).into())
        })
        .reads_git("shouldBeRebased")
        .lookup("sourceBranchExists", |one, _, context| async move {
            exists(&context, one.row.source_project_id, &one.row.source_branch).await
        })
        .reads_git("sourceBranchExists")
        .lookup("targetBranchExists", |one, _, context| async move {
            exists(&context, Some(one.row.project_id), &one.row.target_branch).await
        })
        .reads_git("targetBranchExists")
        .lookup("sourceBranchProtected", |one, _, context| async move {
            let Some(source) = one.row.source_project_id else { return Ok(false.into()) };
            let rules = ReviewLoaders::of(&context).protections.load(source).await?;
            Ok(rules.is_some_and(|all| all.branch(&one.row.source_branch).is_protected()).into())
        })
        .lookup("squashOnMerge", |one, _, context| async move {
            let settings = ReviewLoaders::of(&context).settings.load(one.row.project_id).await?;
            Ok(match settings.map(|all| all.squash_option) {
                Some(SquashOption::Always) => true,
                Some(SquashOption::Never) => false,
                _ => one.row.squash,
            }
            .into())
        })
        .lookup("availableAutoMergeStrategies", |one, _, context| async move {
            let head = one.row.source_project_id.zip(one.row.head_sha.clone());
            let piped = match head {
                Some(head) => ReviewLoaders::of(&context).piped.load(head).await?,
                None => None,
            };
            let known = piped.unwrap_or_default() && one.row.merged_at.is_none();
            let names: Vec<&str> =
                known.then_some("merge_when_pipeline_succeeds").into_iter().collect();
            Ok(Value::list(names))
        })
}

async fn project(context: &Context, id: ProjectId) -> Result<Option<Arc<ProjectRecord>>, Failure> {
    projects::record_of(context, id).await
}

fn values(project: &Arc<ProjectRecord>, commits: Vec<CommitInfo>) -> Vec<Value> {
    commits.into_iter().map(|one| repository::commit(project.clone(), one)).collect()
}

async fn commits(
    context: &Context,
    row: &MergeRequest,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let ids = visible(contents::commit_ids(&context.forge, row).await)?.unwrap_or_default();
    let Some(project) = project(context, row.project_id).await? else {
        return Ok(Connection::empty().into());
    };
    let total = u64::try_from(ids.len()).unwrap_or(u64::MAX);
    let offset = usize::try_from(page.offset_within(total)).unwrap_or(usize::MAX);
    let wanted: Vec<String> = ids.into_iter().skip(offset).take(page.limit()).collect();
    let found = contents::commits_by_id(&context.forge, row.project_id, wanted).await;
    let found = visible(found)?.unwrap_or_default();
    Ok(Connection::of_slice(&page, values(&project, found), Some(total)).into())
}

async fn own_commits(
    context: &Context,
    row: &MergeRequest,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let all = PageRequest { page: 1, per_page: MOST_COMMITS };
    let found = contents::commits(&context.forge, row, CommitSpan::of(row), all).await;
    let found = visible(found)?.map(|found| found.items).unwrap_or_default();
    let Some(project) = project(context, row.project_id).await? else {
        return Ok(Connection::empty().into());
    };
    let own = found.into_iter().filter(|commit| !commit.is_merge()).collect();
    Ok(Connection::of_list(&page, values(&project, own)).into())
}

async fn stats(
    context: &Context,
    row: &MergeRequest,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let only = arguments.maybe_text("path");
    let files = visible(contents::files(&context.forge, row, CommitSpan::of(row)).await)?;
    let Some(files) = files else { return Ok(Value::Null) };
    let shown = files.iter().filter_map(|file| {
        let path = file.new_path.to_text().into_owned();
        if only.as_ref().is_some_and(|only| *only != path) {
            return None;
        }
        let fields = [
            ("path", path.into()),
            ("additions", file.stats.additions.into()),
            ("deletions", file.stats.deletions.into()),
        ];
        Some(Value::fields("DiffStats", fields))
    });
    Ok(Value::list(shown))
}

async fn summary(context: &Context, row: &MergeRequest) -> Result<Value, Failure> {
    let files = visible(contents::files(&context.forge, row, CommitSpan::of(row)).await)?;
    let Some(files) = files else { return Ok(Value::Null) };
    let (additions, deletions) = files.iter().fold((0_u64, 0_u64), |(more, less), file| {
        (more + file.stats.additions, less + file.stats.deletions)
    });
    Ok(Value::fields(
        "DiffStatsSummary",
        [
            ("additions", additions.into()),
            ("changes", (additions + deletions).into()),
            ("deletions", deletions.into()),
            ("fileCount", files.len().into()),
        ],
    ))
}

async fn messages(
    context: &Context,
    row: &MergeRequest,
) -> Result<Option<DefaultMessages>, Failure> {
    let Some(user) = context.user() else { return Ok(None) };
    let Some(project) = project(context, row.project_id).await? else { return Ok(None) };
    let place = (project.facts.clone(), project.who);
    Ok(visible(default_messages(&context.forge, row, place, user).await)?.flatten())
}

async fn diverged(context: &Context, row: &MergeRequest) -> Result<bool, Failure> {
    let found = visible(diverged_commits(&context.forge, row).await)?;
    Ok(found.is_some_and(|count| count > 0))
}

async fn exists(
    context: &Context,
    project: Option<ProjectId>,
    branch: &str,
) -> Result<Value, Failure> {
    let Some(project) = project else { return Ok(false.into()) };
    let head = context.forge.branch_head(project, branch).await.map_err(failure_of)?;
    Ok(head.is_some().into())
}
