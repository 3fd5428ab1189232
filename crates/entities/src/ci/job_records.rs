//! The records of jobs: what several domains know of them, loaded once for all of a page.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use ci::{
    artifact::{Artifact, ArtifactStore as _},
    job::{Job, JobKind, SpecStore as _},
    log::LogStore as _,
    pipeline::{Pipeline, PipelineStore as _},
};
use db::Tx;
use forge::{Forge, pipeline::with_shown_pipelines, urls::Urls};
use kernel::{
    Actor, Error, Result,
    access::ProjectFacts,
    ids::{JobId, PipelineId, ProjectId, RunnerId, UserId},
    page::Page,
};
use org::{
    access::locate_projects,
    project::settings::SettingsStore as _,
    user::{account::AccountStore as _, store::UserStore as _},
};
use repo::git::{CommitInfo, Oid};
use runners::runner::{Runner, RunnerStore as _};

use crate::{
    ci::{job::JobContext, pipeline::PipelineEntity},
    deployments::shared_json::SharedJson,
    org::user::{Reader, SingleUser},
    repo::commit::CommitEntity,
    runners::runner::RunnerEntity,
};

/// How a record is made of a job.
pub type Form<T> = fn(&Urls, &ProjectFacts, &Job, &JobContext) -> T;

/// A page of a project's jobs with what their records tell beside them, but for their commits.
pub struct JobPage {
    jobs: Page<Job>,
    around: JobContext,
}

impl JobPage {
    /// By a fixed number of statements.
    pub fn read(
        tx: &mut Tx<'_>,
        urls: &Urls,
        facts: &ProjectFacts,
        reader: Actor,
        jobs: Page<Job>,
    ) -> Result<Self> {
        let around = around(tx, urls, JobProjects::One(facts), reader, &jobs.items)?;
        Ok(Self { jobs, around })
    }

    pub async fn present<T>(
        self,
        forge: &Forge,
        facts: &ProjectFacts,
        form: Form<T>,
    ) -> Result<Page<T>> {
        let commits = commits(forge, facts, &self.jobs.items).await?;
        let around = JobContext { commits, ..self.around };
        Ok(self.jobs.map(|job| form(&forge.urls, facts, &job, &around)))
    }
}

/// Records of a page of jobs, which `list` reads in the transaction that reads what is told beside them.
pub async fn present_list<T>(
    forge: &Forge,
    facts: &Arc<ProjectFacts>,
    reader: Actor,
    form: Form<T>,
    list: impl FnOnce(&mut Tx<'_>) -> Result<Page<Job>> + Clone + Send + 'static,
) -> Result<Page<T>> {
    let (urls, of) = (forge.urls.clone(), Arc::clone(facts));
    let read = forge.db.read(move |tx| {
        let jobs = list(tx)?;
        JobPage::read(tx, &urls, &of, reader, jobs)
    });
    read.await?.present(forge, facts, form).await
}

/// Records of all jobs of a page, by a fixed number of statements.
pub async fn present<T>(
    forge: &Forge,
    facts: &Arc<ProjectFacts>,
    reader: Actor,
    jobs: Page<Job>,
    form: Form<T>,
) -> Result<Page<T>> {
    present_list(forge, facts, reader, form, |_| Ok(jobs)).await
}

/// A record and the project of its job.
pub type WithProject<T> = (T, Arc<ProjectFacts>);

/// Records of all jobs of a page, whatever their projects: by a fixed number of statements, and one reading of git for each
/// project. Jobs of projects that the reader does not know of are left out.
pub async fn present_across<T>(
    forge: &Forge,
    reader: Actor,
    jobs: Page<Job>,
    form: Form<T>,
) -> Result<Page<WithProject<T>>> {
    let (urls, own) = (forge.urls.clone(), jobs.items.clone());
    let read = forge.db.read(move |tx| {
        let ids: BTreeSet<ProjectId> = own.iter().map(|job| job.project_id).collect();
        let found = locate_projects(tx, reader, &Vec::from_iter(ids))?;
        let facts: HashMap<ProjectId, Arc<ProjectFacts>> =
            found.into_iter().map(|(project, _)| (project.0.id, project.0)).collect();
        let around = around(tx, &urls, JobProjects::Several(&facts), reader, &own)?;
        Ok((facts, around))
    });
    let (facts, mut around) = read.await?;
    for (project, facts) in &facts {
        let own = jobs.items.iter().filter(|job| job.project_id == *project).cloned();
        around.commits.extend(commits(forge, facts, &Vec::from_iter(own)).await?);
    }
    let record = |job: &Job| {
        let facts = facts.get(&job.project_id)?;
        Some((form(&forge.urls, facts, job, &around), Arc::clone(facts)))
    };
    let items = jobs.items.iter().filter_map(record).collect();
    Ok(Page { items, total: jobs.total })
}

/// The record of one job.
pub async fn present_one<T>(
    forge: &Forge,
    facts: &Arc<ProjectFacts>,
    reader: Actor,
    job: Job,
    form: Form<T>,
) -> Result<T> {
    let page = kernel::page::PageRequest::default().slice(vec![job]);
    present(forge, facts, reader, page, form).await?.items.pop().ok_or_else(Error::missing)
}

/// The projects of a page of jobs.
#[derive(Clone, Copy)]
enum JobProjects<'p> {
    One(&'p ProjectFacts),
    Several(&'p HashMap<ProjectId, Arc<ProjectFacts>>),
}

impl<'p> JobProjects<'p> {
    /// The only project.
    fn only(self) -> Option<&'p ProjectFacts> {
        match self {
            Self::One(facts) => Some(facts),
            Self::Several(_) => None,
        }
    }

    fn path(self, id: ProjectId) -> Option<&'p str> {
        let facts = match self {
            Self::One(facts) => facts,
            Self::Several(facts) => facts.get(&id)?,
        };
        Some(&facts.full_path)
    }
}

/// What the records of jobs tell beside them; what bridges made is only told for the jobs of one project.
fn around(
    tx: &mut Tx<'_>,
    urls: &Urls,
    projects: JobProjects<'_>,
    reader: Actor,
    jobs: &[Job],
) -> Result<JobContext> {
    if jobs.is_empty() {
        return Ok(JobContext { now: tx.now, ..JobContext::default() });
    }
    let facts = projects.only();
    let specs: BTreeSet<_> = jobs.iter().filter_map(|job| job.spec_id).collect();
    let bridges: Vec<JobId> =
        jobs.iter().filter(|job| job.kind == JobKind::Bridge).map(|job| job.id).collect();
    // What never began left nothing behind.
    let begun = jobs.iter().filter(|job| job.started_at.is_some());
    let ids: Vec<JobId> = begun.map(|job| job.id).collect();
    Ok(JobContext {
        artifacts: artifacts(tx, &ids)?,
        logs: tx.logs_of(&ids)?.into_iter().map(|log| (log.job_id, log)).collect(),
        runners: runners(tx, jobs)?,
        pipelines: pipelines(tx, urls, projects, jobs)?,
        people: people(tx, urls, reader, jobs)?,
        commits: HashMap::new(),
        tags: tx.tags_of(&Vec::from_iter(specs))?,
        downstream: match facts {
            Some(facts) => downstream(tx, urls, facts, reader, &bridges)?,
            None => HashMap::new(),
        },
        token_scope: match facts {
            Some(facts) => tx.project_settings(facts.id)?.ci_job_token_scope_enabled,
            None => false,
        },
        now: tx.now,
    })
}

fn artifacts(tx: &mut Tx<'_>, jobs: &[JobId]) -> Result<HashMap<JobId, Vec<Artifact>>> {
    let mut by_job: HashMap<JobId, Vec<Artifact>> = HashMap::new();
    for artifact in tx.artifacts_of(jobs)? {
        if artifact.is_there(tx.now) {
            by_job.entry(artifact.job_id).or_default().push(artifact);
        }
    }
    Ok(by_job)
}

fn pipelines(
    tx: &mut Tx<'_>,
    urls: &Urls,
    projects: JobProjects<'_>,
    jobs: &[Job],
) -> Result<HashMap<PipelineId, SharedJson>> {
    let ids: BTreeSet<PipelineId> = jobs.iter().map(|job| job.pipeline_id).collect();
    let found = tx.pipelines_by_id(&Vec::from_iter(ids))?.into_values();
    let record = |pipeline: Pipeline| {
        let url = urls.at(projects.path(pipeline.project_id)?);
        let record = SharedJson::new(&PipelineEntity::new(&pipeline, &url));
        Some(record.map(|record| (pipeline.id, record)))
    };
    found.filter_map(record).collect()
}

fn runners(tx: &mut Tx<'_>, jobs: &[Job]) -> Result<HashMap<i64, SharedJson>> {
    let ids: BTreeSet<RunnerId> =
        jobs.iter().filter_map(|job| job.runner_id).map(RunnerId).collect();
    let found = tx.runners_by_id(&Vec::from_iter(ids))?;
    let record = |one: &Runner| Ok((one.id.0, SharedJson::new(&RunnerEntity::new(one, tx.now))?));
    found.iter().map(record).collect()
}

fn people(
    tx: &mut Tx<'_>,
    urls: &Urls,
    reader: Actor,
    jobs: &[Job],
) -> Result<HashMap<UserId, SharedJson>> {
    let ids: BTreeSet<UserId> = jobs.iter().filter_map(|job| job.user_id).collect();
    let ids = Vec::from_iter(ids);
    let full = match ids.as_slice() {
        // Of most pages, whose one person is read by one statement; who made the account is not told.
        [id] => vec![tx.full_user(*id, reader.id, false)?],
        _ => {
            let users = tx.users_by_id(&ids)?.into_values().collect();
            tx.full_users(users, reader.id)?
        }
    };
    let entity = |full: &org::user::model::FullUser| {
        let id = full.user.id;
        let by = match reader.id {
            None => Reader::Anonymous,
            Some(own) if own == id || reader.admin => Reader::Privileged,
            Some(_) => Reader::Other,
        };
        Ok((id, SharedJson::new(&SingleUser::new(urls, full, by))?))
    };
    full.iter().map(entity).collect()
}

/// What bridges made, as far as the reader may know of it.
fn downstream(
    tx: &mut Tx<'_>,
    urls: &Urls,
    facts: &ProjectFacts,
    reader: Actor,
    bridges: &[JobId],
) -> Result<HashMap<JobId, (Pipeline, String)>> {
    if bridges.is_empty() {
        return Ok(HashMap::new());
    }
    let made = tx.pipelines_of_bridges(bridges)?;
    let projects: BTreeSet<ProjectId> =
        made.iter().map(|pipeline| pipeline.project_id).filter(|id| *id != facts.id).collect();
    let elsewhere = with_shown_pipelines(tx, reader, &Vec::from_iter(projects))?;
    let shown = made.into_iter().filter_map(|pipeline| {
        let path = match pipeline.project_id == facts.id {
            true => &facts.full_path,
            false => &elsewhere.get(&pipeline.project_id)?.0.full_path,
        };
        Some((pipeline.parent_job_id?, (pipeline, urls.at(path))))
    });
    Ok(shown.collect())
}

/// The commits of jobs, where they are still there.
async fn commits(
    forge: &Forge,
    facts: &ProjectFacts,
    jobs: &[Job],
) -> Result<HashMap<String, SharedJson>> {
    let ids = jobs.iter().filter_map(|job| job.sha.parse::<Oid>().ok()).collect();
    let url = forge.urls.at(&facts.full_path);
    let found = forge.shared_commits(facts.id, ids).await?;
    let entity = |(id, commit): (Oid, Arc<CommitInfo>)| {
        let record = CommitEntity::new(&commit, &url).with_trailers(&commit);
        Ok((id.to_string(), SharedJson::new(&record)?))
    };
    found.into_iter().map(entity).collect()
}
