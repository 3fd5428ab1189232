//! Permissions on the pipelines and jobs of a list, checked for all rows at once.

use std::collections::{BTreeSet, HashMap, HashSet};

use db::Tx;
use kernel::{
    Grant, Result, Standing,
    ids::{JobId, MergeRequestId, PipelineId, ProjectId},
};

use super::{Job, rules::is_archived};
use crate::{
    pipeline::{Pipeline, PipelineRef},
    policy::{UpdateJobs, UpdatePipelines},
    ports::{DeployRight, Refs},
};

/// Those of a project's pipelines that the caller may retry and cancel: they are not archived, and their branches and tags
/// are not protected from the caller. A fixed number of statements.
pub fn updatable_pipelines(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdatePipelines>,
    refs: &impl Refs,
    pipelines: &[Pipeline],
) -> Result<HashSet<PipelineId>> {
    let archived_before = refs.archived_before(tx)?;
    let mut open = open_pipelines(tx, (grant.who(), grant.project()), refs, pipelines)?;
    for archived in pipelines.iter().filter(|one| one.is_archived(archived_before)) {
        open.remove(&archived.id);
    }
    Ok(open)
}

fn open_pipelines(
    tx: &mut Tx<'_>,
    (who, project): (&Standing, ProjectId),
    refs: &impl Refs,
    pipelines: &[Pipeline],
) -> Result<HashSet<PipelineId>> {
    let requests: BTreeSet<MergeRequestId> =
        pipelines.iter().filter_map(|one| one.merge_request_id).collect();
    let branches = match requests.is_empty() {
        true => HashMap::new(),
        false => refs.source_branches(tx, &Vec::from_iter(requests))?,
    };
    let place = |pipeline: &Pipeline| match pipeline
        .merge_request_id
        .and_then(|request| branches.get(&request))
    {
        Some(name) => PipelineRef { name: name.clone(), tag: false },
        None => pipeline.place(),
    };
    let places: Vec<PipelineRef> = pipelines.iter().map(place).collect();
    let guarded = refs.guarded_places(tx, who, project, &places)?;
    let open = pipelines.iter().zip(guarded).filter(|(_, at)| !at.protected || at.open);
    Ok(open.map(|(pipeline, _)| pipeline.id).collect())
}

/// Those of a project's jobs that the caller may change. `pipelines` are those of the jobs. A fixed number of
/// statements beside those about environments.
pub fn changeable_jobs(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdateJobs>,
    refs: &impl Refs,
    jobs: &[Job],
    pipelines: &[Pipeline],
) -> Result<HashSet<JobId>> {
    let is_developer = grant.also::<UpdatePipelines>().is_ok();
    let open = match is_developer {
        true => open_pipelines(tx, (grant.who(), grant.project()), refs, pipelines)?,
        false => HashSet::new(),
    };
    let archived_before = refs.archived_before(tx)?;
    let mut rights: HashMap<&str, DeployRight> = HashMap::new();
    let mut changeable = HashSet::new();
    for job in jobs.iter().filter(|job| !is_archived(job, archived_before)) {
        let right = match job.environment.as_deref() {
            None => DeployRight::Open,
            Some(name) => match rights.get(name) {
                Some(known) => *known,
                None => {
                    let right = refs.deploy_right(tx, grant.who(), job)?;
                    rights.insert(name, right);
                    right
                }
            },
        };
        let may = match right {
            DeployRight::Open => open.contains(&job.pipeline_id),
            DeployRight::Deployer => true,
            DeployRight::Refused => false,
        };
        if may && !(job.environment.is_some() && refs.is_outdated(tx, job)?) {
            changeable.insert(job.id);
        }
    }
    Ok(changeable)
}
