//! The jobs on which a job or a bridge depends: it gets what they left behind.

use std::collections::{HashMap, HashSet};

use ci::{
    artifact::ArtifactStore as _,
    config::{
        options::CrossDependency,
        variables::{UnknownVariable, Variable, expand, expanded},
    },
    job::{Job, JobSpec},
    pipeline::{Pipeline, PipelineStore as _, PipelineVariable, actions::is_shown},
    policy::ReadPipelines,
};
use db::Tx;
use kernel::{
    Ability as _, Result,
    access::ProjectFacts,
    ids::{JobId, PipelineId},
};
use org::access::IdOrPath;

use crate::{job_token::person_for_job, ports::ci::Projects};

/// The jobs on which one depends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Upstream {
    pub(crate) jobs: Vec<Job>,
    /// Whether one is missing that it names in another pipeline.
    pub(crate) is_incomplete: bool,
}

impl Upstream {
    pub(crate) fn ids(&self) -> Vec<JobId> {
        self.jobs.iter().map(|job| job.id).collect()
    }
}

/// Context that the dependent jobs of a pipeline share.
pub(super) struct Downstream<'d> {
    pub(super) facts: &'d ProjectFacts,
    pub(super) pipeline: &'d Pipeline,
    pub(super) variables: &'d [PipelineVariable],
}

impl Downstream<'_> {
    /// The jobs on which a job of this pipeline depends: those that it needs, or all of earlier stages, as far as it does
    /// not name some of them; then those of other pipelines.
    pub(super) fn upstream(&self, tx: &mut Tx<'_>, job: &Job, spec: &JobSpec) -> Result<Upstream> {
        let mut upstream = Upstream { jobs: own(tx, job, spec)?, is_incomplete: false };
        let cross = spec.options.cross_dependencies.iter().flatten();
        let mut cross = cross.filter(|one| one.artifacts).peekable();
        if cross.peek().is_none() {
            return Ok(upstream);
        }
        let values = self.values(job, spec);
        for dependency in cross {
            match self.cross(tx, job, &values, dependency)? {
                UpstreamJob::Job(other) => upstream.jobs.push(*other),
                UpstreamJob::Nothing => {}
                UpstreamJob::Missing => upstream.is_incomplete = true,
            }
        }
        Ok(upstream)
    }

    fn cross(
        &self,
        tx: &mut Tx<'_>,
        job: &Job,
        values: &HashMap<String, String>,
        dependency: &CrossDependency,
    ) -> Result<UpstreamJob> {
        let known = |name: &str| values.get(name).map(String::as_str);
        let written = |text: &str| expand(text, &known, UnknownVariable::Vanishes).into_owned();
        let name = written(&dependency.job);
        let found = match (&dependency.pipeline, &dependency.project) {
            (Some(pipeline), _) => {
                let Some(id) = written(pipeline).parse().ok().map(PipelineId) else {
                    return Ok(UpstreamJob::Missing);
                };
                let other = tx.find_pipeline(job.project_id, id)?;
                // Its own jobs it names without their pipeline.
                let related = other.filter(|other| {
                    other.root() == self.pipeline.root() && other.id != self.pipeline.id
                });
                match related {
                    Some(other) => tx.successful_job(other.id, &name)?,
                    None => None,
                }
            }
            (None, Some(project)) => {
                let reference = dependency.reference.as_deref().map(&written).unwrap_or_default();
                let found = elsewhere(tx, job, &written(project), &reference, &name)?;
                return Ok(
                    found.map_or(UpstreamJob::Nothing, |job| UpstreamJob::Job(Box::new(job)))
                );
            }
            (None, None) => return Ok(UpstreamJob::Nothing),
        };
        Ok(found.map_or(UpstreamJob::Missing, |job| UpstreamJob::Job(Box::new(job))))
    }

    /// The variables that may stand in the names of other pipelines and projects.
    fn values(&self, job: &Job, spec: &JobSpec) -> HashMap<String, String> {
        let facts = self.facts;
        let namespace = facts.full_path.rsplit_once('/').map_or("", |(namespace, _)| namespace);
        let predefined = [
            ("CI_COMMIT_REF_NAME", job.ref_name.clone()),
            ("CI_DEFAULT_BRANCH", facts.default_branch.clone().unwrap_or_default()),
            ("CI_PROJECT_PATH", facts.full_path.clone()),
            ("CI_PROJECT_NAMESPACE", namespace.to_owned()),
            ("CI_PIPELINE_ID", self.pipeline.id.to_string()),
        ];
        let mut all = predefined.map(|(key, value)| Variable::public(key, value)).to_vec();
        all.extend(spec.variables.iter().cloned());
        all.extend(self.variables.iter().map(PipelineVariable::for_jobs));
        expanded(&all).into_iter().map(|one| (one.key, one.value)).collect()
    }
}

enum UpstreamJob {
    Job(Box<Job>),
    Nothing,
    /// The job that depends on it cannot begin.
    Missing,
}

/// Those of the same pipeline.
fn own(tx: &mut Tx<'_>, job: &Job, spec: &JobSpec) -> Result<Vec<Job>> {
    let named: Option<HashSet<&str>> =
        spec.options.dependencies.as_ref().map(|names| names.iter().map(String::as_str).collect());
    if named.as_ref().is_some_and(HashSet::is_empty) {
        return Ok(Vec::new());
    }
    let position = tx.stage_position(job.id)?;
    let jobs: Vec<Job> = match &spec.needs {
        Some(needs) => {
            let fetched = needs.iter().filter(|need| need.artifacts);
            let names: HashSet<&str> = fetched.map(|need| need.name.as_str()).collect();
            let all = tx.jobs_up_to(job, position)?;
            all.into_iter().filter(|job| names.contains(job.name.as_str())).collect()
        }
        None => tx.jobs_up_to(job, position - 1)?,
    };
    let wanted = |job: &Job| named.as_ref().is_none_or(|named| named.contains(job.name.as_str()));
    Ok(jobs.into_iter().filter(wanted).collect())
}

/// A job of another project, as whoever began this one may read it where that project lets it in.
fn elsewhere(
    tx: &mut Tx<'_>,
    job: &Job,
    project: &str,
    reference: &str,
    name: &str,
) -> Result<Option<Job>> {
    let named = IdOrPath::Path(project.to_owned());
    let Some(person) = person_for_job(tx, job, &named)? else { return Ok(None) };
    let (who, id) = (person.who, person.facts.id);
    if !ReadPipelines::allows(&who) || !is_shown(tx, &Projects, &who, id)? {
        return Ok(None);
    }
    tx.newest_success(id, reference, name)
}
