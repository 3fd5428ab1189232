//! Examples of events, made of what a project has.

use admin::{flags::Flag, owner::Owner};
use ci::{
    job::{JobFilter, JobKind, JobListStore as _},
    pipeline::{Pipeline, PipelineFilter, PipelineListStore as _, PipelineStore as _},
};
use db::Tx;
use deployments::{
    deployment::{DeploymentStatus, DeploymentStore as _},
    environment::{EnvironmentFilter, EnvironmentStore as _},
};
use kernel::{
    AccessLevel, Result,
    ids::{EnvironmentId, NamespaceId, NoteId, ProjectId, RunnerId, UserId},
    page::PageRequest,
};
use org::{
    hierarchy,
    member::{Source, event::Fact, store::MemberStore as _},
    namespace::{event::NamespacePath, store::NamespaceStore as _},
    project::store::ProjectStore as _,
    token::resource,
    user::store::UserStore as _,
};
use repo::{
    event::MovedRef,
    push::journal::PushAction,
    release::{ReleaseOrder, ReleaseStore as _},
};
use review::{
    Home,
    emoji::{self, Award, AwardTarget},
    event::EarlierValues,
    issue::IssueStore as _,
    item::ItemId,
    merge_request::MergeRequestStore as _,
    milestone::{self, MilestoneFilter, MilestoneStore as _},
    note::{Note, NoteStore as _},
};
use runners::runner::RunnerStore as _;
use secrets::Vault;
use security::vulnerability::{ChangeStore as _, VulnerabilityFilter, VulnerabilityStore as _};
use serde_json::Value;

use super::{
    announce::note_subject,
    gaps::{Gaps, NOTE_PLACE},
    missing_data::{no_data, no_group_data},
    payload::{self, ProjectContext, issue, merge_request, note},
};
use crate::urls::Urls;

/// Environments that are looked through for a deployment.
const MOST_ENVIRONMENTS: i64 = 100;

/// An example, and what is to be read of it.
#[derive(Debug)]
pub(super) struct Example {
    pub(super) header: &'static str,
    pub(super) payload: Value,
    pub(super) gaps: Option<Gaps>,
}

/// An example of an event for somebody who tries a hook out.
pub(super) fn example(
    tx: &mut Tx<'_>,
    urls: &Urls,
    vault: &Vault,
    home: Owner,
    (flag, user): (Flag, UserId),
) -> Result<Example> {
    let project = match home {
        Owner::Project(project) => project,
        Owner::Group(group) if flag == Flag::Members => return member(tx, group, user),
        Owner::Group(group) if flag == Flag::Subgroups => return subgroup(tx, group, user),
        Owner::Group(group) if flag == Flag::Milestones => return group_milestone(tx, group, user),
        Owner::Group(group) if flag == Flag::Projects => return group_project(tx, group, user),
        Owner::Group(group) if flag == Flag::ResourceAccessTokens => return group_token(tx, group),
        Owner::Group(group) => first_project(tx, group, user)?,
        Owner::Instance => {
            let payload = payload::project::example();
            return Ok(Example { header: admin::delivery::SYSTEM_HEADER, payload, gaps: None });
        }
    };
    let context =
        ProjectContext::load(tx, urls, project)?.ok_or_else(|| no_data("a repository"))?;
    match flag {
        Flag::Push => push(tx, &context, user, "Push Hook", "refs/heads/"),
        Flag::TagPush => push(tx, &context, user, "Tag Push Hook", "refs/tags/"),
        Flag::Issues | Flag::ConfidentialIssues => issue(tx, &context, user),
        Flag::MergeRequests => merge_request(tx, &context, user),
        Flag::Notes | Flag::ConfidentialNotes => note(tx, &context, user),
        Flag::Emoji => emoji(tx, &context, user),
        Flag::Milestones => milestone(tx, &context, user),
        Flag::Pipelines => pipeline(tx, &context, vault),
        Flag::Jobs => job(tx, &context),
        Flag::Deployments => deployment(tx, &context),
        Flag::FeatureFlags => Err(no_data("feature flags")),
        Flag::WikiPages => wiki_page(tx, &context, user),
        Flag::Releases => release(tx, &context),
        Flag::ResourceAccessTokens => token(tx, &context),
        Flag::Vulnerabilities => vulnerability(tx, &context),
        _ => Err(no_data("such events")),
    }
}

/// The first project of a group that has a branch.
fn first_project(tx: &mut Tx<'_>, group: NamespaceId, user: UserId) -> Result<ProjectId> {
    let actor = tx.user(user)?.actor();
    let known = hierarchy::projects_in(tx, actor, &[group])?;
    let projects = tx.projects_by_id(&known)?.into_iter();
    let first = projects.filter(|one| one.default_branch.is_some()).map(|one| one.id).min();
    first.ok_or_else(|| no_group_data("a project with commits"))
}

/// Whoever tries it out, as a member.
fn member(tx: &mut Tx<'_>, group: NamespaceId, user: UserId) -> Result<Example> {
    let (row, person) = (tx.namespace(group)?, tx.user(user)?);
    let found = tx.find_member(Source::Group(group), user)?;
    let level = found.as_ref().map_or(AccessLevel::Owner, |member| member.access_level);
    let end = found.and_then(|member| member.expires_at);
    let fact = Fact::new(Source::Group(group), user, level, end, Some(user));
    let payload = payload::member::of_group("user_add_to_group", &row, &person, &fact, tx.now);
    Ok(Example { header: "Member Hook", payload, gaps: None })
}

/// The newest group below.
fn subgroup(tx: &mut Tx<'_>, group: NamespaceId, user: UserId) -> Result<Example> {
    let actor = tx.user(user)?.actor();
    let below = hierarchy::below_group(tx, actor, group)?;
    let newest = below.into_iter().max().map(|id| tx.namespace(id)).transpose()?;
    let newest = newest.ok_or_else(|| no_group_data("a subgroup"))?;
    let parent = tx.namespace(newest.parent_id.unwrap_or(group))?;
    let payload = payload::subgroup::subgroup(
        "subgroup_create",
        &NamespacePath::from(&newest),
        &NamespacePath::from(&parent),
        tx.now,
    );
    Ok(Example { header: "Subgroup Hook", payload, gaps: None })
}

/// The newest project in a group.
fn group_project(tx: &mut Tx<'_>, group: NamespaceId, user: UserId) -> Result<Example> {
    let actor = tx.user(user)?.actor();
    let newest = hierarchy::projects_in(tx, actor, &[group])?.into_iter().max();
    let row = newest.map(|id| tx.find_project(id)).transpose()?.flatten();
    let row = row.ok_or_else(|| no_group_data("a project"))?;
    let payload = payload::project::project(tx, &row, "project_create", None)?;
    let payload = payload::project::for_groups(&payload);
    Ok(Example { header: "Project Hook", payload, gaps: None })
}

/// The newest token of a group.
fn group_token(tx: &mut Tx<'_>, group: NamespaceId) -> Result<Example> {
    let row = resource::newest(tx, Source::Group(group))?;
    let row = row.ok_or_else(|| no_group_data("access tokens"))?;
    let payload = payload::token::of_group(&tx.namespace(group)?, &row);
    Ok(Example { header: "Resource Access Token Hook", payload, gaps: None })
}

/// The newest token of a project.
fn token(tx: &mut Tx<'_>, context: &ProjectContext) -> Result<Example> {
    let row = resource::newest(tx, Source::Project(context.project.id))?;
    let row = row.ok_or_else(|| no_data("access tokens"))?;
    let payload = payload::token::of_project(context, &row);
    Ok(Example { header: "Resource Access Token Hook", payload, gaps: None })
}

/// The newest vulnerability.
fn vulnerability(tx: &mut Tx<'_>, context: &ProjectContext) -> Result<Example> {
    let (all, page) = (VulnerabilityFilter::default(), PageRequest { page: 1, per_page: 1 });
    let newest = tx.vulnerabilities(context.project.id, &all, page)?.items.pop();
    let row = newest.ok_or_else(|| no_data("vulnerabilities"))?;
    let changes = tx.state_changes(&[row.id])?;
    let payload = payload::vulnerability::vulnerability(context, &row, &changes)?;
    Ok(Example { header: "Vulnerability Hook", payload, gaps: None })
}

/// The first page of the wiki, which git knows.
fn wiki_page(tx: &mut Tx<'_>, context: &ProjectContext, user: UserId) -> Result<Example> {
    let payload = payload::wiki::unknown_page(context, &tx.user(user)?);
    let gaps = Some(Gaps::FirstPage { project: context.project.id });
    Ok(Example { header: "Wiki Page Hook", payload, gaps })
}

fn push(
    tx: &mut Tx<'_>,
    context: &ProjectContext,
    user: UserId,
    header: &'static str,
    prefix: &str,
) -> Result<Example> {
    let user = tx.find_user(user)?;
    let branch = context.project.default_branch.clone().ok_or_else(|| no_data("a repository"))?;
    let moved = MovedRef {
        name: format!("{prefix}{branch}"),
        action: PushAction::Pushed,
        before: None,
        after: None,
        commit_count: 0,
        commit_title: None,
    };
    let payload = payload::push::push(context, user.as_ref(), &moved, &[]);
    let gaps = Gaps::Head { project: context.project.id, branch };
    Ok(Example { header, payload, gaps: Some(gaps) })
}

fn issue(tx: &mut Tx<'_>, context: &ProjectContext, user: UserId) -> Result<Example> {
    let row = tx.newest_issue(context.project.id)?.ok_or_else(|| no_data("issues"))?;
    let part = issue::IssuePart::load(tx, row)?;
    let deed = (issue::IssueAction::Trial, &EarlierValues::default());
    let payload = issue::issue(tx, context, &part, user, deed)?;
    Ok(Example { header: "Issue Hook", payload, gaps: None })
}

fn merge_request(tx: &mut Tx<'_>, context: &ProjectContext, user: UserId) -> Result<Example> {
    let row = tx.newest_merge_request(context.project.id)?;
    let row = row.ok_or_else(|| no_data("merge requests"))?;
    let home = row.source_project_id.unwrap_or(row.project_id);
    let gaps = row.head_sha.as_deref();
    let gaps = gaps.map(|sha| Gaps::commit(home, sha, "/object_attributes/last_commit"));
    let part = merge_request::MergeRequestPart::load(tx, context, row)?;
    let deed = (merge_request::MergeRequestAction::Trial, &EarlierValues::default());
    let payload = merge_request::merge_request(tx, context, &part, Some(user), deed)?;
    Ok(Example { header: "Merge Request Hook", payload, gaps })
}

fn note(tx: &mut Tx<'_>, context: &ProjectContext, user: UserId) -> Result<Example> {
    let (row, subject, gaps) = newest_note(tx, context)?;
    let payload = note::note(tx, context, &row, &subject, (user, "create"))?;
    let gaps = Gaps::note(gaps, context.project.id, row.position.as_deref(), NOTE_PLACE);
    Ok(Example { header: "Note Hook", payload, gaps })
}

/// A thumb up of whoever tries it out, for the newest comment.
fn emoji(tx: &mut Tx<'_>, context: &ProjectContext, user: UserId) -> Result<Example> {
    let (row, subject, gaps) = newest_note(tx, context)?;
    let of = AwardTarget::from(row.id);
    let award = Award {
        id: 1,
        item_kind: of.kind,
        item_id: of.id,
        user_id: user,
        name: "thumbsup".to_owned(),
        created_at: tx.now,
        updated_at: tx.now,
    };
    let fact = emoji::event::Fact::new(&award, of, Some(context.project.id), user);
    let payload = payload::emoji::emoji(tx, context, &fact, (&subject, Some(&row)), "award")?;
    let gaps = Gaps::note(gaps, context.project.id, row.position.as_deref(), "/note");
    Ok(Example { header: "Emoji Hook", payload, gaps })
}

/// The newest milestone of a project.
fn milestone(tx: &mut Tx<'_>, context: &ProjectContext, user: UserId) -> Result<Example> {
    let fact = newest_milestone(tx, Home::Project(context.project.id), user)?;
    let fact = fact.ok_or_else(|| no_data("milestones"))?;
    let payload = payload::milestone::of_project(context, &fact, "create");
    Ok(Example { header: "Milestone Hook", payload, gaps: None })
}

/// The newest milestone of a group.
fn group_milestone(tx: &mut Tx<'_>, group: NamespaceId, user: UserId) -> Result<Example> {
    let fact = newest_milestone(tx, Home::Group(group), user)?;
    let fact = fact.ok_or_else(|| no_group_data("milestones"))?;
    let payload = payload::milestone::of_group(&tx.namespace(group)?, &fact, "create");
    Ok(Example { header: "Milestone Hook", payload, gaps: None })
}

fn newest_milestone(
    tx: &mut Tx<'_>,
    home: Home,
    user: UserId,
) -> Result<Option<milestone::event::Fact>> {
    let page = PageRequest { page: 1, per_page: 1 };
    let newest = tx.milestones(&MilestoneFilter::of(home), page)?.items.pop();
    Ok(newest.map(|row| milestone::event::Fact::new(&row, user)))
}

/// The newest comment on the newest issue, or else on the newest merge request.
fn newest_note(
    tx: &mut Tx<'_>,
    context: &ProjectContext,
) -> Result<(Note, note::Subject, Option<Gaps>)> {
    let issue = tx.newest_issue(context.project.id)?.map(|row| ItemId::from(row.id));
    let request = tx.newest_merge_request(context.project.id)?.map(|row| ItemId::from(row.id));
    for item in [issue, request].into_iter().flatten() {
        let heads = tx.note_heads(item)?;
        let ids: Vec<NoteId> = heads.iter().map(|head| head.id).collect();
        let newest = tx.notes_by_id(&ids)?.into_iter().rev().find(|row| !row.is_system);
        let subject = note_subject(tx, context, item.kind, item.id)?;
        if let (Some(row), Some((subject, gaps))) = (newest, subject) {
            return Ok((row, subject, gaps));
        }
    }
    Err(no_data("notes"))
}

fn pipeline(tx: &mut Tx<'_>, context: &ProjectContext, vault: &Vault) -> Result<Example> {
    let row = newest_pipeline(tx, context.project.id)?.ok_or_else(|| no_data("CI pipelines"))?;
    let payload = payload::pipeline::pipeline(tx, context, vault, &row)?;
    let gaps = Some(Gaps::commit(context.project.id, &row.sha, "/commit"));
    Ok(Example { header: "Pipeline Hook", payload, gaps })
}

/// The newest release.
fn release(tx: &mut Tx<'_>, context: &ProjectContext) -> Result<Example> {
    let page = PageRequest { page: 1, per_page: 1 };
    let newest = tx.releases(context.project.id, ReleaseOrder::default(), page)?.items.pop();
    let row = newest.ok_or_else(|| no_data("releases"))?;
    let payload = payload::release::release(tx, context, &row, "create")?;
    let gaps = Some(Gaps::commit(context.project.id, &row.sha, "/commit"));
    Ok(Example { header: "Release Hook", payload, gaps })
}

/// The newest one that was brought to any of some environments.
fn deployment(tx: &mut Tx<'_>, context: &ProjectContext) -> Result<Example> {
    let project = context.project.id;
    let page = PageRequest { page: 1, per_page: MOST_ENVIRONMENTS };
    let environments = tx.environments(project, &EnvironmentFilter::default(), page)?.items;
    let ids: Vec<EnvironmentId> = environments.iter().map(|one| one.id).collect();
    let last = tx.last_deployments(&ids, DeploymentStatus::Success)?;
    let newest = last.into_iter().max_by_key(|(_, row)| row.id);
    let (id, row) = newest.ok_or_else(|| no_data("deployments"))?;
    let environment = environments.iter().find(|one| one.id == id);
    let environment = environment.ok_or_else(|| no_data("deployments"))?;
    let payload = payload::deployment::deployment(tx, context, &row, environment)?;
    let gaps = Some(Gaps::deployment(project, &row.sha));
    Ok(Example { header: "Deployment Hook", payload, gaps })
}

fn newest_pipeline(tx: &mut Tx<'_>, project: ProjectId) -> Result<Option<Pipeline>> {
    let page = PageRequest { page: 1, per_page: 1 };
    let newest = tx.pipelines(project, &PipelineFilter::default(), page)?;
    Ok(newest.items.into_iter().next())
}

fn job(tx: &mut Tx<'_>, context: &ProjectContext) -> Result<Example> {
    let filter = JobFilter {
        kind: JobKind::Build,
        statuses: Vec::new(),
        retried: true,
        before: None,
        after: None,
        oldest_first: false,
    };
    let page = PageRequest { page: 1, per_page: 1 };
    let found = tx.project_jobs(context.project.id, &filter, page)?.items.into_iter().next();
    let row = found.ok_or_else(|| no_data("CI jobs"))?;
    let pipeline = tx.find_pipeline(context.project.id, row.pipeline_id)?;
    let pipeline = pipeline.ok_or_else(|| no_data("CI jobs"))?;
    let user = row.user_id.map(|id| tx.find_user(id)).transpose()?.flatten();
    let runner = row.runner_id.map(|id| tx.runners_by_id(&[RunnerId(id)])).transpose()?;
    let runner = runner.and_then(|mut found| found.pop());
    let around = payload::environment::JobSurroundings::load(tx, std::slice::from_ref(&row))?;
    let beside = payload::job::JobRecords {
        pipeline: &pipeline,
        user: user.as_ref(),
        runner: runner.as_ref(),
        around: &around,
        now: tx.now,
    };
    let payload = payload::job::job(context, &row, beside)?;
    Ok(Example { header: "Job Hook", payload, gaps: Some(Gaps::job(context.project.id, &row.sha)) })
}
