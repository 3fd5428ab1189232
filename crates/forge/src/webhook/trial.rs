//! Examples of events, made of what a project has.

use admin::{flags::Flag, home::Home};
use ci::{
    job::{JobFilter, JobKind, JobListStore as _},
    pipeline::{
        Pipeline, PipelineFilter, PipelineListStore as _, PipelineOrder, PipelineStore as _,
    },
};
use db::Tx;
use kernel::{
    Result,
    ids::{NoteId, ProjectId, UserId},
    page::PageRequest,
};
use org::user::store::UserStore as _;
use repo::{event::MovedRef, push::journal::PushAction};
use review::{
    issue::IssueStore as _, item::ItemId, merge_request::MergeRequestStore as _,
    note::NoteStore as _,
};
use secrets::Vault;
use serde_json::Value;

use super::{
    actions::no_data,
    announce::note_subject,
    gaps::Gaps,
    payload::{self, Scene, issue, merge_request, note},
};
use crate::urls::Urls;

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
    home: Home,
    (flag, user): (Flag, UserId),
) -> Result<Example> {
    let Home::Project(project) = home else {
        return Ok(Example {
            header: "Push Hook",
            payload: payload::project::example(),
            gaps: None,
        });
    };
    let scene = Scene::load(tx, urls, project)?.ok_or_else(|| no_data("a repository"))?;
    match flag {
        Flag::Push => push(tx, &scene, user, "Push Hook", "refs/heads/"),
        Flag::TagPush => push(tx, &scene, user, "Tag Push Hook", "refs/tags/"),
        Flag::Issues | Flag::ConfidentialIssues => issue(tx, &scene, user),
        Flag::MergeRequests => merge_request(tx, &scene, user),
        Flag::Notes | Flag::ConfidentialNotes => note(tx, &scene, user),
        Flag::Pipelines => pipeline(tx, &scene, vault),
        Flag::Jobs => job(tx, &scene),
        Flag::Deployments => Err(no_data("deployments")),
        Flag::WikiPages => Err(no_data("wiki pages")),
        Flag::Releases => Err(no_data("releases")),
        _ => Err(no_data("such events")),
    }
}

fn push(
    tx: &mut Tx<'_>,
    scene: &Scene,
    user: UserId,
    header: &'static str,
    prefix: &str,
) -> Result<Example> {
    let user = tx.find_user(user)?;
    let branch = scene.project.default_branch.clone().ok_or_else(|| no_data("a repository"))?;
    let moved = MovedRef {
        name: format!("{prefix}{branch}"),
        action: PushAction::Pushed,
        before: None,
        after: None,
        commit_count: 0,
        commit_title: None,
    };
    let payload = payload::push::push(scene, user.as_ref(), &moved, &[]);
    let gaps = Gaps::Head { project: scene.project.id, branch };
    Ok(Example { header, payload, gaps: Some(gaps) })
}

fn issue(tx: &mut Tx<'_>, scene: &Scene, user: UserId) -> Result<Example> {
    let row = tx.newest_issue(scene.project.id)?.ok_or_else(|| no_data("issues"))?;
    let part = issue::IssuePart::load(tx, row)?;
    let payload = issue::issue(tx, scene, &part, user, issue::IssueAction::Trial)?;
    Ok(Example { header: "Issue Hook", payload, gaps: None })
}

fn merge_request(tx: &mut Tx<'_>, scene: &Scene, user: UserId) -> Result<Example> {
    let row = tx.newest_merge_request(scene.project.id)?;
    let row = row.ok_or_else(|| no_data("merge requests"))?;
    let home = row.source_project_id.unwrap_or(row.project_id);
    let gaps = row.head_sha.as_deref();
    let gaps = gaps.map(|sha| Gaps::commit(home, sha, "/object_attributes/last_commit"));
    let part = merge_request::MergeRequestPart::load(tx, scene, row)?;
    let deed = merge_request::MergeRequestAction::Trial;
    let payload = merge_request::merge_request(tx, scene, &part, Some(user), deed)?;
    Ok(Example { header: "Merge Request Hook", payload, gaps })
}

/// The newest comment on the newest issue, or else on the newest merge request.
fn note(tx: &mut Tx<'_>, scene: &Scene, user: UserId) -> Result<Example> {
    let issue = tx.newest_issue(scene.project.id)?.map(|row| ItemId::from(row.id));
    let request = tx.newest_merge_request(scene.project.id)?.map(|row| ItemId::from(row.id));
    for item in [issue, request].into_iter().flatten() {
        let heads = tx.note_heads(item)?;
        let ids: Vec<NoteId> = heads.iter().map(|head| head.id).collect();
        let newest = tx.notes_by_id(&ids)?.into_iter().rev().find(|row| !row.is_system);
        let subject = note_subject(tx, scene, item.kind, item.id)?;
        if let (Some(row), Some((subject, gaps))) = (newest, subject) {
            let payload = note::note(tx, scene, &row, &subject, (user, "create"))?;
            return Ok(Example { header: "Note Hook", payload, gaps });
        }
    }
    Err(no_data("notes"))
}

fn pipeline(tx: &mut Tx<'_>, scene: &Scene, vault: &Vault) -> Result<Example> {
    let row = newest_pipeline(tx, scene.project.id)?.ok_or_else(|| no_data("CI pipelines"))?;
    let payload = payload::pipeline::pipeline(tx, scene, vault, &row)?;
    let gaps = Some(Gaps::commit(scene.project.id, &row.sha, "/commit"));
    Ok(Example { header: "Pipeline Hook", payload, gaps })
}

fn newest_pipeline(tx: &mut Tx<'_>, project: ProjectId) -> Result<Option<Pipeline>> {
    let filter = PipelineFilter {
        statuses: Vec::new(),
        source: None,
        ref_name: None,
        sha: None,
        newest: None,
        yaml_errors: None,
        users: None,
        updated_before: None,
        updated_after: None,
        order: PipelineOrder::Id,
        descending: true,
    };
    let page = PageRequest { page: 1, per_page: 1 };
    Ok(tx.pipelines(project, &filter, page)?.items.into_iter().next())
}

fn job(tx: &mut Tx<'_>, scene: &Scene) -> Result<Example> {
    let filter =
        JobFilter { kind: JobKind::Build, statuses: Vec::new(), retried: true, before: None };
    let page = PageRequest { page: 1, per_page: 1 };
    let found = tx.project_jobs(scene.project.id, &filter, page)?.items.into_iter().next();
    let row = found.ok_or_else(|| no_data("CI jobs"))?;
    let pipeline = tx.find_pipeline(scene.project.id, row.pipeline_id)?;
    let pipeline = pipeline.ok_or_else(|| no_data("CI jobs"))?;
    let user = row.user_id.map(|id| tx.find_user(id)).transpose()?.flatten();
    let beside = payload::job::JobRecords {
        pipeline: &pipeline,
        user: user.as_ref(),
        runner: None,
        now: tx.now,
    };
    let payload = payload::job::job(scene, &row, beside)?;
    Ok(Example { header: "Job Hook", payload, gaps: Some(Gaps::job(scene.project.id, &row.sha)) })
}
