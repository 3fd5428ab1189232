//! Loaders of pipelines and jobs.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    hash::{Hash, Hasher},
    sync::Arc,
};

use ci::{
    artifact::{Artifact, ArtifactStore as _},
    job::{
        Job, JobSpec, JobVariableStore as _, SpecStore as _, StageJob, StageJobStore as _,
        permission::{changeable_jobs, updatable_pipelines},
    },
    log::{JobLog, LogStore as _},
    pipeline::{MergeRequestPipelines, Pipeline, PipelineListStore as _, PipelineStore as _},
    policy::{UpdateJobs, UpdatePipelines},
    report::TestSuite,
    schedule::{ScheduleStore as _, ScheduleVariable},
};
use dataloader::{BatchFn, cached::Loader};
use db::Tx;
use deployments::deployment::{DeploymentStatus, DeploymentStore as _};
use forge::{
    Forge,
    merge_request::contents::commit_ids_or_head,
    pipeline::{lookup::shown_pipelines, shown_standings, with_shown_pipelines},
    ports::ci::Refs,
    runner::{reports, stuck_jobs},
};
use futures_util::future::join_all;
use graphql::Failure;
use kernel::{
    Actor, Result,
    ids::{JobId, JobSpecId, MergeRequestId, PipelineId, PipelineScheduleId, ProjectId},
};
use org::{
    access::locate_projects,
    project::settings::{Settings, SettingsStore as _},
};
use review::merge_request::MergeRequest;

use super::located_project::LocatedProject;
use crate::{context::Context, failure::failure_of, loaders::BatchLoader};

/// Pipelines of one merge request that are shown.
const OF_MERGE_REQUEST: usize = 500;

type Records<K, V> = HashMap<K, V>;
/// The pipelines of commits, by project and id of the commit.
type PipelinesOfCommits = HashMap<(ProjectId, String), Arc<Vec<Pipeline>>>;

/// The loaders of pipelines and jobs.
pub struct CiLoaders {
    /// Projects that the caller may know of.
    pub homes: BatchLoader<ProjectId, Arc<LocatedProject>>,
    /// Projects whose pipelines the caller may know of.
    pub shown_homes: BatchLoader<ProjectId, Arc<LocatedProject>>,
    /// Whether the caller may see them is not asked.
    pub pipelines: BatchLoader<PipelineId, Pipeline>,
    /// Whether the caller may see them is not asked.
    pub jobs: BatchLoader<JobId, Arc<StageJob>>,
    /// All jobs of a pipeline in the order of stages.
    pub jobs_of_pipeline: BatchLoader<PipelineId, Arc<Vec<Arc<StageJob>>>>,
    /// Those that are still there.
    pub artifacts: BatchLoader<JobId, Arc<Vec<Artifact>>>,
    pub logs: BatchLoader<JobId, JobLog>,
    pub tags: BatchLoader<JobSpecId, Vec<String>>,
    pub specs: BatchLoader<JobSpecId, Arc<JobSpec>>,
    /// The pipeline that a bridge made.
    pub downstream: BatchLoader<JobId, Pipeline>,
    /// What tests told in reports that the caller may have.
    pub suites: BatchLoader<PipelineId, Arc<Vec<TestSuite>>>,
    pub settings: BatchLoader<ProjectId, Arc<Settings>>,
    /// The newest pipeline of a commit, where the caller may know of it.
    pub newest: BatchLoader<(ProjectId, String), Pipeline>,
    /// The pipelines of a commit, the newest first.
    pub of_commit: BatchLoader<(ProjectId, String), Arc<Vec<Pipeline>>>,
    /// Pipelines that the caller may retry and cancel.
    pub updatable: BatchLoader<PipelineId, ()>,
    /// Jobs that the caller may change.
    pub changeable: BatchLoader<JobId, ()>,
    /// Jobs that no runner takes.
    pub stuck: BatchLoader<JobId, ()>,
    /// Jobs that wait for an approval of what they deploy.
    pub blocked: BatchLoader<JobId, ()>,
    /// The newest pipeline of a schedule.
    pub last_of_schedule: BatchLoader<PipelineScheduleId, Pipeline>,
    /// The variables of a schedule, by their keys.
    pub variables_of_schedule: BatchLoader<PipelineScheduleId, Arc<Vec<ScheduleVariable>>>,
    /// What whoever played a job by hand set for it, in clear.
    pub manual_variables: BatchLoader<JobId, Arc<Vec<(String, String)>>>,
    of_merge_request: Loader<RequestKey, Result<Arc<Vec<Pipeline>>, Failure>, RequestBatch>,
}

impl CiLoaders {
    /// The loaders of this request.
    pub fn of(context: &Context) -> Arc<Self> {
        let (actor, forge) = (context.actor(), context.forge.clone());
        context.loaders.of(|db| Self {
            homes: BatchLoader::new(db, move |tx, ids| homes(tx, actor, ids)),
            shown_homes: BatchLoader::new(db, move |tx, ids| {
                let found = shown_standings(tx, actor, ids)?.into_iter();
                Ok(found
                    .map(|(id, (project, who))| (id, Arc::new(LocatedProject { project, who })))
                    .collect())
            }),
            pipelines: BatchLoader::new(db, |tx, ids| tx.pipelines_by_id(ids)),
            jobs: BatchLoader::new(db, |tx, ids| {
                let found = tx.stage_jobs(ids)?.into_iter();
                Ok(found.map(|one| (one.job.id, Arc::new(one))).collect())
            }),
            jobs_of_pipeline: BatchLoader::new(db, jobs_of_pipelines),
            artifacts: BatchLoader::new(db, artifacts),
            logs: BatchLoader::new(db, |tx, ids| {
                Ok(tx.logs_of(ids)?.into_iter().map(|log| (log.job_id, log)).collect())
            }),
            tags: BatchLoader::new(db, |tx, ids| tx.tags_of(ids)),
            specs: BatchLoader::new(db, |tx, ids| {
                Ok(tx.specs(ids)?.into_iter().map(|(id, spec)| (id, Arc::new(spec))).collect())
            }),
            downstream: BatchLoader::new(db, |tx, ids| {
                let made = tx.pipelines_of_bridges(ids)?.into_iter();
                Ok(made.filter_map(|one| Some((one.parent_job_id?, one))).collect())
            }),
            suites: BatchLoader::new(db, move |tx, ids| suites(tx, actor, ids)),
            settings: BatchLoader::new(db, |tx, ids| {
                let found = tx.settings_by_project(ids)?.into_iter();
                Ok(found.map(|(id, settings)| (id, Arc::new(settings))).collect())
            }),
            newest: BatchLoader::new(db, move |tx, keys| newest(tx, actor, keys)),
            of_commit: BatchLoader::new(db, of_commits),
            updatable: BatchLoader::new(db, move |tx, ids| updatable(tx, actor, ids)),
            changeable: BatchLoader::new(db, move |tx, ids| changeable(tx, actor, ids)),
            stuck: BatchLoader::new(db, |tx, ids| {
                let jobs = rows(tx, ids)?;
                Ok(marked(stuck_jobs(tx, &jobs)?))
            }),
            blocked: BatchLoader::new(db, |tx, ids| {
                let found = tx.deployments_of_jobs(ids)?.into_iter();
                let blocked = found.filter(|one| one.status == DeploymentStatus::Blocked);
                Ok(blocked.filter_map(|one| Some((one.job_id?, ()))).collect())
            }),
            last_of_schedule: BatchLoader::new(db, |tx, ids| {
                let found = tx.newest_pipelines_of_schedules(ids)?.into_iter();
                Ok(found.filter_map(|one| Some((one.schedule_id?, one))).collect())
            }),
            variables_of_schedule: BatchLoader::new(db, variables_of_schedules),
            manual_variables: {
                let vault = forge.vault.clone();
                BatchLoader::new(db, move |tx, ids| {
                    let jobs = rows(tx, ids)?;
                    let found = tx.variables_of_jobs(&vault, &jobs)?.into_iter();
                    Ok(found.map(|(id, own)| (id, Arc::new(own))).collect())
                })
            },
            of_merge_request: Loader::new(RequestBatch { forge: forge.clone(), actor }),
        })
    }

    /// The newest pipelines of a merge request, the newest first, where the caller may know of them.
    pub async fn of_merge_request(&self, row: MergeRequest) -> Result<Arc<Vec<Pipeline>>, Failure> {
        self.of_merge_request
            .try_load(RequestKey(Arc::new(row)))
            .await
            .map_err(Failure::internal)?
    }
}

fn variables_of_schedules(
    tx: &mut Tx<'_>,
    ids: &[PipelineScheduleId],
) -> kernel::Result<Records<PipelineScheduleId, Arc<Vec<ScheduleVariable>>>> {
    let mut all: Records<PipelineScheduleId, Vec<ScheduleVariable>> = HashMap::new();
    for one in tx.variables_of_schedules(ids)? {
        all.entry(one.schedule_id).or_default().push(one);
    }
    Ok(all.into_iter().map(|(id, own)| (id, Arc::new(own))).collect())
}

fn marked<K: Eq + Hash>(ids: HashSet<K>) -> HashMap<K, ()> {
    ids.into_iter().map(|id| (id, ())).collect()
}

fn homes(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[ProjectId],
) -> Result<Records<ProjectId, Arc<LocatedProject>>> {
    let found = locate_projects(tx, actor, ids)?.into_iter();
    Ok(found
        .map(|(project, who)| (project.0.id, Arc::new(LocatedProject { project, who })))
        .collect())
}

fn rows(tx: &mut Tx<'_>, ids: &[JobId]) -> Result<Vec<Job>> {
    Ok(tx.stage_jobs(ids)?.into_iter().map(|one| one.job).collect())
}

fn jobs_of_pipelines(
    tx: &mut Tx<'_>,
    ids: &[PipelineId],
) -> Result<Records<PipelineId, Arc<Vec<Arc<StageJob>>>>> {
    let mut by_pipeline: HashMap<PipelineId, Vec<Arc<StageJob>>> = HashMap::new();
    for one in tx.jobs_of_pipelines(ids)? {
        by_pipeline.entry(one.job.pipeline_id).or_default().push(Arc::new(one));
    }
    Ok(by_pipeline.into_iter().map(|(id, jobs)| (id, Arc::new(jobs))).collect())
}

fn artifacts(tx: &mut Tx<'_>, ids: &[JobId]) -> Result<Records<JobId, Arc<Vec<Artifact>>>> {
    let mut by_job: HashMap<JobId, Vec<Artifact>> = HashMap::new();
    let now = tx.now;
    for artifact in tx.artifacts_of(ids)?.into_iter().filter(|one| one.is_there(now)) {
        by_job.entry(artifact.job_id).or_default().push(artifact);
    }
    Ok(by_job.into_iter().map(|(id, all)| (id, Arc::new(all))).collect())
}

fn suites(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[PipelineId],
) -> Result<Records<PipelineId, Arc<Vec<TestSuite>>>> {
    let mut by_pipeline: HashMap<PipelineId, Vec<TestSuite>> = HashMap::new();
    for suite in reports::test_suites_of(tx, actor, ids)? {
        by_pipeline.entry(suite.pipeline_id).or_default().push(suite);
    }
    Ok(by_pipeline.into_iter().map(|(id, all)| (id, Arc::new(all))).collect())
}

/// Commits by their projects.
fn by_project(keys: &[(ProjectId, String)]) -> BTreeMap<ProjectId, Vec<String>> {
    let mut by_project: BTreeMap<ProjectId, Vec<String>> = BTreeMap::new();
    for (project, sha) in keys {
        by_project.entry(*project).or_default().push(sha.clone());
    }
    by_project
}

fn newest(
    tx: &mut Tx<'_>,
    actor: Actor,
    keys: &[(ProjectId, String)],
) -> Result<Records<(ProjectId, String), Pipeline>> {
    let heads = by_project(keys);
    let projects: Vec<ProjectId> = heads.keys().copied().collect();
    let mut all = HashMap::new();
    for (project, who) in locate_projects(tx, actor, &projects)? {
        let id = project.0.id;
        let shas = heads.get(&id).map(Vec::as_slice).unwrap_or_default();
        for (sha, pipeline) in shown_pipelines(tx, &who, id, shas)? {
            all.insert((id, sha), pipeline);
        }
    }
    Ok(all)
}

fn of_commits(tx: &mut Tx<'_>, keys: &[(ProjectId, String)]) -> Result<PipelinesOfCommits> {
    let mut all = HashMap::new();
    for (project, shas) in by_project(keys) {
        for (sha, pipelines) in tx.pipelines_of_shas(project, &shas)? {
            all.insert((project, sha), Arc::new(pipelines));
        }
    }
    Ok(all)
}

fn updatable(tx: &mut Tx<'_>, actor: Actor, ids: &[PipelineId]) -> Result<Records<PipelineId, ()>> {
    let pipelines = tx.pipelines_by_id(ids)?;
    let mut all = HashSet::new();
    for (home, own) in in_homes(tx, actor, pipelines.into_values(), |one| one.project_id)? {
        if let Ok(grant) = home.grant::<UpdatePipelines>() {
            all.extend(updatable_pipelines(tx, &grant, &Refs, &own)?);
        }
    }
    Ok(marked(all))
}

fn changeable(tx: &mut Tx<'_>, actor: Actor, ids: &[JobId]) -> Result<Records<JobId, ()>> {
    let jobs = rows(tx, ids)?;
    let pipelines: BTreeSet<PipelineId> = jobs.iter().map(|job| job.pipeline_id).collect();
    let pipelines = tx.pipelines_by_id(&Vec::from_iter(pipelines))?;
    let mut all = HashSet::new();
    for (home, own) in in_homes(tx, actor, jobs.into_iter(), |job| job.project_id)? {
        if let Ok(grant) = home.grant::<UpdateJobs>() {
            let theirs = pipelines.values().filter(|one| one.project_id == home.id()).cloned();
            all.extend(changeable_jobs(tx, &grant, &Refs, &own, &Vec::from_iter(theirs))?);
        }
    }
    Ok(marked(all))
}

/// Rows by their projects, as far as the caller may know of these.
fn in_homes<T>(
    tx: &mut Tx<'_>,
    actor: Actor,
    rows: impl Iterator<Item = T>,
    project: impl Fn(&T) -> ProjectId,
) -> Result<Vec<(Arc<LocatedProject>, Vec<T>)>> {
    let mut by_project: BTreeMap<ProjectId, Vec<T>> = BTreeMap::new();
    for row in rows {
        by_project.entry(project(&row)).or_default().push(row);
    }
    let projects: Vec<ProjectId> = by_project.keys().copied().collect();
    let known = homes(tx, actor, &projects)?;
    let with_home = |(id, rows)| Some((known.get(&id)?.clone(), rows));
    Ok(by_project.into_iter().filter_map(with_home).collect())
}

/// A merge request whose pipelines are wanted.
#[derive(Clone, Debug)]
struct RequestKey(Arc<MergeRequest>);

impl PartialEq for RequestKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for RequestKey {}

impl Hash for RequestKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

/// Finds the pipelines of merge requests: git tells their commits, one statement the pipelines of all of these.
struct RequestBatch {
    forge: Forge,
    actor: Actor,
}

impl RequestBatch {
    async fn read(
        &self,
        keys: &[RequestKey],
    ) -> Result<HashMap<MergeRequestId, Arc<Vec<Pipeline>>>, Failure> {
        let shas = join_all(keys.iter().map(|key| commit_ids_or_head(&self.forge, &key.0))).await;
        let mut wanted = Vec::with_capacity(keys.len());
        for (key, shas) in keys.iter().zip(shas) {
            let Some(project) = key.0.source_project_id else { continue };
            wanted.push(MergeRequestPipelines {
                merge_request: key.0.id,
                project,
                source_branch: key.0.source_branch.clone(),
                shas: shas.map_err(failure_of)?,
            });
        }
        let actor = self.actor;
        let read = self.forge.db.read(move |tx| {
            let sources: BTreeSet<ProjectId> = wanted.iter().map(|one| one.project).collect();
            let shown = with_shown_pipelines(tx, actor, &Vec::from_iter(sources))?;
            wanted.retain(|one| shown.contains_key(&one.project));
            tx.pipelines_of_merge_requests(&wanted, OF_MERGE_REQUEST)
        });
        let found = read.await.map_err(failure_of)?.into_iter();
        Ok(found.map(|(id, pipelines)| (id, Arc::new(pipelines))).collect())
    }
}

impl BatchFn<RequestKey, Result<Arc<Vec<Pipeline>>, Failure>> for RequestBatch {
    async fn load(
        &mut self,
        keys: &[RequestKey],
    ) -> HashMap<RequestKey, Result<Arc<Vec<Pipeline>>, Failure>> {
        let found = self.read(keys).await;
        let of = |key: &RequestKey| {
            let found = found.as_ref().map_err(Failure::clone);
            found.map(|found| found.get(&key.0.id).cloned().unwrap_or_default())
        };
        keys.iter().map(|key| (key.clone(), of(key))).collect()
    }
}
