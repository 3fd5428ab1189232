//! Which facts are told to whom, and as what. Heard in the transaction that made them true: what is known of rows is
//! written down at once, what only git knows is added before it is sent.

use std::{any::Any, sync::Arc};

use admin::{
    delivery::{DeliveryQueue as _, NewEvent},
    flags::Flag,
};
use ci::{job::JobListStore as _, pipeline::PipelineStore as _};
use db::Tx;
use deployments::{
    deployment::{DeploymentStatus, DeploymentStore as _},
    environment::EnvironmentStore as _,
};
use kernel::{
    Result,
    event::Event,
    ids::{
        CommitNoteId, IssueId, JobId, MergeRequestId, NoteId, PipelineId, ProjectId, RunnerId,
        UserId,
    },
    page::PageRequest,
};
use org::{
    settings::store::SettingsStore as _,
    user::{State, store::UserStore as _},
};
use repo::{
    commit::note::CommitNoteStore as _,
    event::{MovedRef, WikiAction},
    push::journal::JournalStore as _,
    wiki::PageName,
};
use review::{
    approval,
    event::{Change, IssueFact},
    issue::IssueStore as _,
    item::{ItemKind, time},
    merge_request::{MergeRequestStore as _, VersionStore as _, state::Step},
    note::NoteStore as _,
};
use runners::runner::RunnerStore as _;
use secrets::Vault;
use serde_json::Value;
use tokio::sync::Notify;

use super::{
    audience::Audience,
    gaps::Gaps,
    occasion::{occasion, pipeline_state},
    payload::{self, Scene, environment::JobSurroundings, issue, job, merge_request, note},
    system_events,
};
use crate::{integration::Occasion, urls::Urls};

/// What is needed to tell.
#[derive(Clone, Debug)]
pub(crate) struct Announcer {
    pub(crate) urls: Urls,
    pub(crate) vault: Arc<Vault>,
    /// Wakes whoever sends.
    pub(crate) wake: Arc<Notify>,
}

impl Announcer {
    pub(crate) fn new(urls: &Urls, vault: &Arc<Vault>, wake: &Arc<Notify>) -> Self {
        Self { urls: urls.clone(), vault: Arc::clone(vault), wake: Arc::clone(wake) }
    }
}

/// One thing to tell, and where it happened.
#[derive(Debug)]
pub(super) struct News {
    pub(super) flag: Flag,
    pub(super) header: &'static str,
    pub(super) project: Option<ProjectId>,
    pub(super) object: String,
    pub(super) payload: Value,
    pub(super) gaps: Option<Gaps>,
}

/// Heard before the commit, in the same transaction.
pub(crate) fn heard(tx: &mut Tx<'_>, announcer: &Announcer, fact: &dyn Event) -> Result<()> {
    let any: &dyn Any = fact;
    if let Some(fact) = any.downcast_ref() {
        return of_repository(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return of_issue(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return of_merge_request(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return of_approval(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return of_note(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return of_time(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return of_pipeline(tx, announcer, fact);
    }
    if let Some(fact) = any.downcast_ref() {
        return of_deployment(tx, announcer, fact);
    }
    system_events::heard(tx, announcer, any)
}

impl Announcer {
    /// Tells webhooks and integrations.
    pub(super) fn tell(
        &self,
        tx: &mut Tx<'_>,
        audience: &Audience,
        news: News,
        occasion: &Occasion<'_>,
    ) -> Result<()> {
        let receivers = audience.receivers(news.flag, occasion);
        self.announce(tx, news, &receivers)
    }

    /// Tells system hooks: those with the flag, or all of them.
    pub(super) fn tell_system(
        &self,
        tx: &mut Tx<'_>,
        audience: &Audience,
        news: News,
        flag: Option<Flag>,
    ) -> Result<()> {
        let receivers = audience.system(flag);
        self.announce(tx, News { header: "System Hook", ..news }, &receivers)
    }

    fn announce(
        &self,
        tx: &mut Tx<'_>,
        news: News,
        receivers: &[admin::delivery::Receiver],
    ) -> Result<()> {
        if receivers.is_empty() {
            return Ok(());
        }
        let event = NewEvent {
            trigger: news.flag,
            header: news.header,
            project: news.project,
            object: news.object,
            payload: news.payload.to_string(),
            gaps: news.gaps.map(|gaps| gaps.to_text()).transpose()?,
        };
        tx.announce(&event, receivers)?;
        let wake = Arc::clone(&self.wake);
        tx.after_commit(move || wake.notify_one());
        Ok(())
    }

    /// The project, and who is told of it; nothing where nobody is told of any such event.
    fn place(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        flags: &[Flag],
    ) -> Result<Option<(Scene, Audience)>> {
        let audience = Audience::of_project(tx, project)?;
        if !flags.iter().any(|flag| audience.hears(*flag)) {
            return Ok(None);
        }
        Ok(Scene::load(tx, &self.urls, project)?.map(|scene| (scene, audience)))
    }
}

fn of_repository(tx: &mut Tx<'_>, by: &Announcer, fact: &repo::Event) -> Result<()> {
    match fact {
        repo::Event::RefsMoved { project, user, moves, options, .. } => {
            pushed(tx, by, *project, *user, (moves, options))
        }
        repo::Event::WikiChanged { project: Some(project), user, action, path, commit, .. } => {
            wrote(tx, by, *project, *user, (*action, path, commit))
        }
        repo::Event::CommitCommented { project, user, note, .. } => {
            commented(tx, by, *project, (*user, "create"), *note)
        }
        repo::Event::CommitCommentChanged { project, user, note, .. } => {
            commented(tx, by, *project, (*user, "update"), *note)
        }
        _ => Ok(()),
    }
}

fn pushed(
    tx: &mut Tx<'_>,
    by: &Announcer,
    project: ProjectId,
    user: Option<UserId>,
    (moves, options): (&[MovedRef], &[String]),
) -> Result<()> {
    let flags = [Flag::Push, Flag::Commits, Flag::TagPush, Flag::RepositoryUpdate];
    let Some((scene, audience)) = by.place(tx, project, &flags)? else { return Ok(()) };
    let user = user.map(|id| tx.find_user(id)).transpose()?.flatten();
    let (branches, tags): (Vec<&MovedRef>, Vec<&MovedRef>) = moves
        .iter()
        .filter(|moved| !moved.name.starts_with("refs/notes/"))
        .partition(|moved| moved.name.starts_with("refs/heads/"));
    // A push that moved more branches, or more tags, tells of none of them.
    let most = tx.settings()?.push_event_hooks_limit().unwrap_or_default();
    let most = usize::try_from(most).unwrap_or_default();
    let kinds = [
        (Flag::Push, "Push Hook", branches.clone()),
        // Trackers are told of commits alone, and only of those on branches.
        (Flag::Commits, "Push Hook", branches),
        (Flag::TagPush, "Tag Push Hook", tags),
    ];
    for (flag, header, moves) in kinds {
        if moves.len() > most || !audience.hears(flag) {
            continue;
        }
        let is_for_system = !audience.system(Some(flag)).is_empty();
        for moved in moves {
            let branch = moved.name.strip_prefix("refs/heads/");
            let occasion = occasion(tx, (&scene, &audience), flag, branch)?;
            if !is_for_system && audience.receivers(flag, &occasion).is_empty() {
                continue;
            }
            let payload = payload::push::push(&scene, user.as_ref(), moved, options);
            let gaps = Gaps::push(project, moved);
            let object = format!("ref/{}", moved.name);
            let news = |gaps, payload| News {
                flag,
                header,
                project: Some(project),
                object: object.clone(),
                payload,
                gaps,
            };
            by.tell(tx, &audience, news(Some(gaps), payload.clone()), &occasion)?;
            by.tell_system(tx, &audience, news(None, payload), Some(flag))?;
        }
    }
    if audience.system(Some(Flag::RepositoryUpdate)).is_empty() {
        return Ok(());
    }
    let news = News {
        flag: Flag::RepositoryUpdate,
        header: "System Hook",
        project: Some(project),
        object: format!("repository/{project}"),
        payload: payload::push::repository_update(&scene, user.as_ref(), moves),
        gaps: None,
    };
    by.tell_system(tx, &audience, news, Some(Flag::RepositoryUpdate))
}

fn wrote(
    tx: &mut Tx<'_>,
    by: &Announcer,
    project: ProjectId,
    user: UserId,
    (action, path, commit): (WikiAction, &str, &str),
) -> Result<()> {
    let Some(page) = PageName::of(path).filter(|_| action != WikiAction::Attach) else {
        return Ok(());
    };
    let flags = [Flag::WikiPages];
    let Some((scene, audience)) = by.place(tx, project, &flags)? else { return Ok(()) };
    let user = tx.find_user(user)?;
    let news = News {
        flag: Flag::WikiPages,
        header: "Wiki Page Hook",
        project: Some(project),
        object: format!("wiki/{}", page.slug),
        payload: payload::wiki::page(&scene, user.as_ref(), &page, (action, commit)),
        gaps: Some(Gaps::wiki(project, path, commit, action == WikiAction::Delete)),
    };
    by.tell(tx, &audience, news, &Occasion::default())
}

fn commented(
    tx: &mut Tx<'_>,
    by: &Announcer,
    project: ProjectId,
    who: (UserId, &str),
    id: CommitNoteId,
) -> Result<()> {
    let Some((scene, audience)) = by.place(tx, project, &[Flag::Notes])? else { return Ok(()) };
    let Some(row) = tx.commit_notes_by_id(&[id])?.pop() else { return Ok(()) };
    let news = News {
        flag: Flag::Notes,
        header: "Note Hook",
        project: Some(project),
        object: format!("commit_note/{id}"),
        payload: note::commit_note(tx, &scene, &row, who)?,
        gaps: Some(Gaps::commit(project, &row.sha, "/commit")),
    };
    by.tell(tx, &audience, news, &Occasion::default())
}

fn of_issue(tx: &mut Tx<'_>, by: &Announcer, fact: &review::Event) -> Result<()> {
    use issue::IssueAction;
    let (issue, user, deed) = match fact {
        review::Event::IssueOpened { issue, user, .. } => (issue, *user, IssueAction::Open),
        review::Event::IssueUpdated { issue, user, changes } => {
            (issue, *user, IssueAction::Update(changes))
        }
        review::Event::IssueClosed { issue, user } => (issue, *user, IssueAction::Close),
        review::Event::IssueReopened { issue, user } => (issue, *user, IssueAction::Reopen),
        review::Event::IssueRemoved { .. } => return Ok(()),
    };
    let IssueFact { id, project, .. } = issue;
    tell_issue(tx, by, (*id, *project), user, deed)
}

fn tell_issue(
    tx: &mut Tx<'_>,
    by: &Announcer,
    (id, project): (IssueId, ProjectId),
    user: UserId,
    deed: issue::IssueAction<'_>,
) -> Result<()> {
    let flags = [Flag::Issues, Flag::ConfidentialIssues];
    let Some((scene, audience)) = by.place(tx, project, &flags)? else { return Ok(()) };
    let Some(row) = tx.find_issue_by_id(id)? else { return Ok(()) };
    let (flag, header) = match row.confidential {
        true => (Flag::ConfidentialIssues, "Confidential Issue Hook"),
        false => (Flag::Issues, "Issue Hook"),
    };
    if !audience.hears(flag) {
        return Ok(());
    }
    let part = issue::IssuePart::load(tx, row)?;
    let news = News {
        flag,
        header,
        project: Some(project),
        object: format!("issue/{id}"),
        payload: issue::issue(tx, &scene, &part, user, deed)?,
        gaps: None,
    };
    by.tell(tx, &audience, news, &Occasion::default())
}

/// Time is told as a change of the item.
fn of_time(tx: &mut Tx<'_>, by: &Announcer, fact: &time::event::Event) -> Result<()> {
    let Some(project) = fact.project else { return Ok(()) };
    let changes = time_changes(fact);
    match fact.item_kind {
        ItemKind::Issue => {
            let deed = issue::IssueAction::Update(&changes);
            tell_issue(tx, by, (IssueId(fact.item), project), fact.user, deed)
        }
        ItemKind::MergeRequest => {
            let deed = merge_request::MergeRequestAction::Update(&changes);
            let place = (MergeRequestId(fact.item), project);
            tell_merge_request(tx, by, place, Some(fact.user), deed)
        }
        ItemKind::Epic => Ok(()),
    }
}

fn time_changes(fact: &time::event::Event) -> Vec<Change> {
    let mut all = Vec::new();
    let mut add = |field, before: i64, after: i64| {
        let (before, after) = (Some(before.to_string()), Some(after.to_string()));
        all.push(Change { field, before, after });
    };
    if fact.estimated_more != 0 {
        let before = fact.estimate.saturating_sub(fact.estimated_more);
        add("time_estimate", before, fact.estimate);
    }
    if fact.spent_more != 0 {
        add("total_time_spent", fact.spent.saturating_sub(fact.spent_more), fact.spent);
        add("time_change", 0, fact.spent_more);
    }
    all
}

fn of_merge_request(
    tx: &mut Tx<'_>,
    by: &Announcer,
    fact: &review::merge_request::Event,
) -> Result<()> {
    use merge_request::MergeRequestAction;
    use review::merge_request::Event as Fact;
    match fact {
        Fact::Opened { merge_request, project, user } => tell_merge_request(
            tx,
            by,
            (*merge_request, *project),
            Some(*user),
            MergeRequestAction::Open,
        ),
        Fact::Updated { merge_request, project, user, changes, .. } => {
            let deed = MergeRequestAction::Update(changes);
            tell_merge_request(tx, by, (*merge_request, *project), Some(*user), deed)
        }
        Fact::Stepped { merge_request, project, user, step } => {
            let deed = match step {
                Step::Close => MergeRequestAction::Step("close"),
                Step::Reopen => MergeRequestAction::Step("reopen"),
                Step::Merge => MergeRequestAction::Step("merge"),
                Step::Lock | Step::Unlock => return Ok(()),
            };
            tell_merge_request(tx, by, (*merge_request, *project), *user, deed)
        }
        Fact::Moved { merge_request, project, opener: None, head: Some(head) } => {
            if !Audience::of_project(tx, *project)?.hears(Flag::MergeRequests) {
                return Ok(());
            }
            let page = PageRequest { page: 1, per_page: 2 };
            let versions = tx.versions(*merge_request, page)?.items;
            // Where the target alone has moved, it holds what it held before.
            let before = versions.get(1).filter(|version| version.head_commit_sha != *head);
            let Some(before) = before.map(|version| version.head_commit_sha.clone()) else {
                return Ok(());
            };
            let Some(row) = tx.merge_requests_in_order(&[merge_request.0])?.pop() else {
                return Ok(());
            };
            let source = row.source_project_id.unwrap_or(*project);
            let name = format!("refs/heads/{}", row.source_branch);
            let pusher = tx.find_pusher(source, &name, head)?;
            let deed = MergeRequestAction::Push { before: Some(&before) };
            tell_merge_request(tx, by, (*merge_request, *project), pusher, deed)
        }
        Fact::Moved { .. } | Fact::Removed { .. } => Ok(()),
    }
}

fn tell_merge_request(
    tx: &mut Tx<'_>,
    by: &Announcer,
    (id, project): (MergeRequestId, ProjectId),
    user: Option<UserId>,
    deed: merge_request::MergeRequestAction<'_>,
) -> Result<()> {
    let flags = [Flag::MergeRequests];
    let Some((scene, audience)) = by.place(tx, project, &flags)? else { return Ok(()) };
    let Some(row) = tx.merge_requests_in_order(&[id.0])?.pop() else { return Ok(()) };
    let head = row.head_sha.clone();
    let home = row.source_project_id.unwrap_or(project);
    let part = merge_request::MergeRequestPart::load(tx, &scene, row)?;
    let payload = merge_request::merge_request(tx, &scene, &part, user, deed)?;
    let gaps = head.map(|sha| Gaps::commit(home, &sha, "/object_attributes/last_commit"));
    let news = |gaps, payload| News {
        flag: Flag::MergeRequests,
        header: "Merge Request Hook",
        project: Some(project),
        object: format!("merge_request/{id}"),
        payload,
        gaps,
    };
    by.tell(tx, &audience, news(gaps.clone(), payload.clone()), &Occasion::default())?;
    by.tell_system(tx, &audience, news(gaps, payload), Some(Flag::MergeRequests))
}

fn of_approval(tx: &mut Tx<'_>, by: &Announcer, fact: &approval::Event) -> Result<()> {
    let (of, user, action) = match fact {
        approval::Event::Approved { of, user, complete: true } => (of, *user, "approved"),
        approval::Event::Approved { of, user, .. } => (of, *user, "approval"),
        approval::Event::Unapproved { of, user } => (of, *user, "unapproved"),
        approval::Event::Pushed { .. } | approval::Event::Reset { .. } => return Ok(()),
    };
    let deed = merge_request::MergeRequestAction::Step(action);
    tell_merge_request(tx, by, (of.merge_request, of.project), Some(user), deed)
}

fn of_note(tx: &mut Tx<'_>, by: &Announcer, fact: &review::note::event::Event) -> Result<()> {
    use review::note::event::Event as Fact;
    let (fact, action) = match fact {
        Fact::NoteCreated(fact) => (fact, "create"),
        Fact::NoteUpdated(fact) => (fact, "update"),
        Fact::NoteDeleted(_) => return Ok(()),
    };
    let Some(project) = fact.project else { return Ok(()) };
    tell_note(tx, by, (project, fact.note), (fact.item_kind, fact.item), (fact.user, action))
}

fn tell_note(
    tx: &mut Tx<'_>,
    by: &Announcer,
    (project, id): (ProjectId, NoteId),
    (kind, item): (ItemKind, i64),
    who: (UserId, &str),
) -> Result<()> {
    let flags = [Flag::Notes, Flag::ConfidentialNotes];
    let Some((scene, audience)) = by.place(tx, project, &flags)? else { return Ok(()) };
    let Some(row) = tx.notes_by_id(&[id])?.pop().filter(|row| !row.is_system) else {
        return Ok(());
    };
    let Some((subject, gaps)) = note_subject(tx, &scene, kind, item)? else { return Ok(()) };
    let (flag, header) = match note::is_confidential(&row, &subject) {
        true => (Flag::ConfidentialNotes, "Confidential Note Hook"),
        false => (Flag::Notes, "Note Hook"),
    };
    if !audience.hears(flag) {
        return Ok(());
    }
    let news = News {
        flag,
        header,
        project: Some(project),
        object: format!("note/{id}"),
        payload: note::note(tx, &scene, &row, &subject, who)?,
        gaps,
    };
    by.tell(tx, &audience, news, &Occasion::default())
}

/// What a comment is about, with what is to be read of it.
pub(super) fn note_subject(
    tx: &mut Tx<'_>,
    scene: &Scene,
    kind: ItemKind,
    item: i64,
) -> Result<Option<(note::Subject, Option<Gaps>)>> {
    match kind {
        ItemKind::Issue => {
            let Some(row) = tx.issues_in_order(&[item])?.pop() else { return Ok(None) };
            let part = issue::IssuePart::load(tx, row)?;
            Ok(Some((note::Subject::Issue(Box::new(part)), None)))
        }
        ItemKind::MergeRequest => {
            let Some(row) = tx.merge_requests_in_order(&[item])?.pop() else { return Ok(None) };
            let home = row.source_project_id.unwrap_or(row.project_id);
            let gaps = row.head_sha.as_deref();
            let gaps = gaps.map(|sha| Gaps::commit(home, sha, "/merge_request/last_commit"));
            let part = merge_request::MergeRequestPart::load(tx, scene, row)?;
            Ok(Some((note::Subject::MergeRequest(Box::new(part)), gaps)))
        }
        ItemKind::Epic => Ok(None),
    }
}

fn of_pipeline(tx: &mut Tx<'_>, by: &Announcer, fact: &ci::Event) -> Result<()> {
    match fact {
        ci::Event::PipelineChanged { project, pipeline, before, status, .. }
            if before != status || *status == ci::Status::Created =>
        {
            tell_pipeline(tx, by, *project, *pipeline)
        }
        ci::Event::JobsMoved { project, pipeline, jobs } => {
            let jobs: Vec<JobId> = jobs.iter().map(|moved| moved.job).collect();
            tell_jobs(tx, by, *project, *pipeline, &jobs)
        }
        ci::Event::StatusChanged { project, pipeline, job, .. } => {
            tell_jobs(tx, by, *project, *pipeline, &[*job])
        }
        _ => Ok(()),
    }
}

/// Somebody who may not act is not told of.
fn is_silent(tx: &mut Tx<'_>, user: Option<UserId>) -> Result<bool> {
    let user = user.map(|id| tx.find_user(id)).transpose()?.flatten();
    Ok(user.is_some_and(|user| user.state == State::Blocked))
}

fn tell_pipeline(
    tx: &mut Tx<'_>,
    by: &Announcer,
    project: ProjectId,
    id: PipelineId,
) -> Result<()> {
    let flag = Flag::Pipelines;
    let Some((scene, audience)) = by.place(tx, project, &[flag])? else { return Ok(()) };
    let Some(row) = tx.find_pipeline(project, id)? else { return Ok(()) };
    if is_silent(tx, row.user_id)? {
        return Ok(());
    }
    let branch = (!row.tag).then_some(row.ref_name.as_str());
    let of_branch = occasion(tx, (&scene, &audience), flag, branch)?;
    let state = pipeline_state(tx, &audience, &row)?;
    let occasion = Occasion { pipeline: Some(state), ..of_branch };
    if audience.receivers(flag, &occasion).is_empty() {
        return Ok(());
    }
    let news = News {
        flag,
        header: "Pipeline Hook",
        project: Some(project),
        object: format!("pipeline/{id}"),
        payload: payload::pipeline::pipeline(tx, &scene, &by.vault, &row)?,
        gaps: Some(Gaps::commit(project, &row.sha, "/commit")),
    };
    by.tell(tx, &audience, news, &occasion)
}

fn tell_jobs(
    tx: &mut Tx<'_>,
    by: &Announcer,
    project: ProjectId,
    pipeline: PipelineId,
    jobs: &[JobId],
) -> Result<()> {
    let Some((scene, audience)) = by.place(tx, project, &[Flag::Jobs])? else { return Ok(()) };
    let Some(row) = tx.find_pipeline(project, pipeline)? else { return Ok(()) };
    let ids: Vec<i64> = jobs.iter().map(|id| id.0).collect();
    let rows = tx.jobs_by_id(&ids)?;
    let users: Vec<UserId> = rows.iter().filter_map(|job| job.user_id).collect();
    let users = tx.users_by_id(&users)?;
    let runners: Vec<RunnerId> =
        rows.iter().filter_map(|job| job.runner_id.map(RunnerId)).collect();
    let runners = tx.runners_by_id(&runners)?;
    let around = JobSurroundings::load(tx, &rows)?;
    for job in rows.iter().rev() {
        let user = job.user_id.and_then(|id| users.get(&id));
        if user.is_some_and(|user| user.state == State::Blocked) {
            continue;
        }
        let runner = runners.iter().find(|runner| Some(runner.id.0) == job.runner_id);
        let now = tx.now;
        let beside = job::JobRecords { pipeline: &row, user, runner, around: &around, now };
        let news = News {
            flag: Flag::Jobs,
            header: "Job Hook",
            project: Some(project),
            object: format!("job/{}", job.id),
            payload: job::job(&scene, job, beside)?,
            gaps: Some(Gaps::job(project, &job.sha)),
        };
        by.tell(tx, &audience, news, &Occasion::default())?;
    }
    Ok(())
}

fn of_deployment(tx: &mut Tx<'_>, by: &Announcer, fact: &deployments::Event) -> Result<()> {
    let deployments::Event::DeploymentChanged { project, environment, deployment, status } = fact
    else {
        return Ok(());
    };
    let is_told = matches!(
        status,
        DeploymentStatus::Running
            | DeploymentStatus::Success
            | DeploymentStatus::Failed
            | DeploymentStatus::Canceled
    );
    if !is_told {
        return Ok(());
    }
    let flags = [Flag::Deployments];
    let Some((scene, audience)) = by.place(tx, *project, &flags)? else { return Ok(()) };
    let Some(row) = tx.deployment(*project, *deployment)? else { return Ok(()) };
    let Some(environment) = tx.environments_by_id(&[*environment])?.pop() else { return Ok(()) };
    let news = News {
        flag: Flag::Deployments,
        header: "Deployment Hook",
        project: Some(*project),
        object: format!("deployment/{deployment}"),
        payload: payload::deployment::deployment(tx, &scene, &row, &environment)?,
        gaps: Some(Gaps::deployment(*project, &row.sha)),
    };
    by.tell(tx, &audience, news, &Occasion::default())
}

/// A payload without an event of its own.
pub(super) fn plain(header: &'static str, flag: Flag, object: String, payload: Value) -> News {
    News { flag, header, project: None, object, payload, gaps: None }
}
