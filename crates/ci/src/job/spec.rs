//! Job specifications: stored once for all pipelines with the same one.

use std::collections::{HashMap, HashSet};

use db::{OneOf as _, Tx, each_backend, error, schema::job_specs};
use diesel::prelude::*;
use kernel::{
    Error, Result,
    ids::{JobSpecId, ProjectId},
};
use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};

use crate::config::{Need, PlannedJob, Refusal, options::Options, variables::Variable};

/// So many rows go into one statement.
pub(crate) const AT_ONCE: usize = 100;

/// Bytes of a spec, and of its tags. An archive writes it as a text in a line, which takes up to twice as much.
pub(crate) const LONGEST_BODY: usize = 7 << 20;
pub(crate) const LONGEST_TAGS: usize = 1 << 18;

/// All of a job that is the same in every pipeline that has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    pub options: Options,
    /// Those of the configuration alone.
    #[serde(default)]
    pub variables: Vec<Variable>,
    /// A pattern without its slashes.
    #[serde(default)]
    pub coverage: Option<String>,
    /// The jobs whose artifacts are fetched, and for which it waits.
    #[serde(default)]
    pub needs: Option<Vec<Need>>,
}

/// What a spec is written from: the same members as [`JobSpec`], which may be long, without a copy of each.
#[derive(Serialize)]
struct SpecContent<'j> {
    options: &'j Options,
    variables: Vec<Variable>,
    coverage: Option<&'j str>,
    needs: Option<&'j [Need]>,
}

/// A spec as it is to be stored. Made before the transaction: hundreds of them take their time.
#[derive(Clone, Debug)]
pub struct SpecText {
    pub digest: String,
    pub body: String,
    pub tags: Option<String>,
}

impl SpecText {
    pub fn of(job: &PlannedJob) -> Result<Self> {
        let variables = job.variables.iter().map(|one| Variable {
            raw: one.raw,
            ..Variable::public(one.key.as_ref(), one.value.as_ref())
        });
        let options = job.own_options();
        let spec = SpecContent {
            options: &options,
            variables: variables.collect(),
            coverage: job.coverage.as_deref(),
            needs: job.needs.as_deref(),
        };
        let body = serde_json::to_string(&spec).map_err(Error::internal)?;
        let tags = job.tags.as_ref().map(serde_json::to_string).transpose();
        let tags = tags.map_err(Error::internal)?;
        Ok(Self { digest: spec_digest(tags.as_deref(), &body), body, tags })
    }

    /// The spec of a job that a pipeline is to get.
    ///
    /// # Errors
    /// `Invalid` where the job is so large that no archive of its project could hold it.
    pub(crate) fn for_storage(job: &PlannedJob) -> Result<Self, Refusal> {
        let spec = Self::of(job).map_err(Refusal::Fault)?;
        match spec.is_storable() {
            true => Ok(spec),
            false => {
                let problem = format!("jobs:{} config should be smaller than 7 MiB", job.name);
                Err(Refusal::Invalid(vec![problem]))
            }
        }
    }

    /// Whether archives take it.
    fn is_storable(&self) -> bool {
        let tags = self.tags.as_ref().map(String::len).unwrap_or_default();
        self.body.len() <= LONGEST_BODY && tags <= LONGEST_TAGS
    }
}

/// The digest by which a spec is found in its project.
pub(crate) fn spec_digest(tags: Option<&str>, body: &str) -> String {
    let mut digest = Sha1::new();
    digest.update(tags.unwrap_or("-"));
    digest.update([0]);
    digest.update(body);
    hex::encode(digest.finalize())
}

pub trait SpecStore {
    /// The ids of specs by their digests; those that are not there are made.
    fn save_specs(
        &mut self,
        project: ProjectId,
        specs: &[SpecText],
    ) -> Result<HashMap<String, JobSpecId>>;
    fn spec(&mut self, id: JobSpecId) -> Result<JobSpec>;
    /// Several specs by one statement.
    fn specs(&mut self, ids: &[JobSpecId]) -> Result<HashMap<JobSpecId, JobSpec>>;
    /// The tags of each of these; none where none were given.
    fn tags_of(&mut self, ids: &[JobSpecId]) -> Result<HashMap<JobSpecId, Vec<String>>>;
}

impl SpecStore for Tx<'_> {
    fn save_specs(
        &mut self,
        project: ProjectId,
        specs: &[SpecText],
    ) -> Result<HashMap<String, JobSpecId>> {
        let mut once: HashSet<&str> = HashSet::new();
        let specs: Vec<&SpecText> =
            specs.iter().filter(|spec| once.insert(spec.digest.as_str())).collect();
        let mut known = HashMap::with_capacity(specs.len());
        for some in specs.chunks(AT_ONCE) {
            known.extend(known_specs(self, project, some)?);
            let new: Vec<&SpecText> =
                some.iter().copied().filter(|spec| !known.contains_key(&spec.digest)).collect();
            if new.is_empty() {
                continue;
            }
            let rows: Vec<_> = new
                .iter()
                .map(|spec| {
                    (
                        job_specs::project_id.eq(project),
                        job_specs::digest.eq(&spec.digest),
                        job_specs::body.eq(&spec.body),
                        job_specs::tags.eq(spec.tags.as_deref()),
                    )
                })
                .collect();
            // Somebody else may bring the same in this moment.
            each_backend!(self, |conn| diesel::insert_into(job_specs::table)
                .values(&rows)
                .on_conflict_do_nothing()
                .execute(conn)
                .map_err(error("Job")))?;
            known.extend(known_specs(self, project, &new)?);
        }
        Ok(known)
    }

    fn spec(&mut self, id: JobSpecId) -> Result<JobSpec> {
        let body: String = each_backend!(self, |conn| job_specs::table
            .find(id)
            .select(job_specs::body)
            .first(conn)
            .map_err(error("Job")))?;
        serde_json::from_str(&body).map_err(Error::internal)
    }

    fn specs(&mut self, ids: &[JobSpecId]) -> Result<HashMap<JobSpecId, JobSpec>> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let rows: Vec<(JobSpecId, String)> = each_backend!(self, |conn| job_specs::table
            .filter(job_specs::id.one_of(ids))
            .select((job_specs::id, job_specs::body))
            .load(conn)
            .map_err(error("Job")))?;
        let read = |(id, body): (JobSpecId, String)| {
            Ok((id, serde_json::from_str(&body).map_err(Error::internal)?))
        };
        rows.into_iter().map(read).collect()
    }

    fn tags_of(&mut self, ids: &[JobSpecId]) -> Result<HashMap<JobSpecId, Vec<String>>> {
        let rows: Vec<(JobSpecId, String)> = each_backend!(self, |conn| job_specs::table
            .filter(job_specs::id.one_of(ids).and(job_specs::tags.is_not_null()))
            .select((job_specs::id, job_specs::tags.assume_not_null()))
            .load(conn)
            .map_err(error("Job")))?;
        let read = |(id, tags): (JobSpecId, String)| {
            Ok((id, serde_json::from_str(&tags).map_err(Error::internal)?))
        };
        rows.into_iter().map(read).collect()
    }
}

fn known_specs(
    tx: &mut Tx<'_>,
    project: ProjectId,
    specs: &[&SpecText],
) -> Result<Vec<(String, JobSpecId)>> {
    let digests: Vec<&str> = specs.iter().map(|spec| spec.digest.as_str()).collect();
    each_backend!(tx, |conn| job_specs::table
        .filter(job_specs::project_id.eq(project).and(job_specs::digest.one_of(&digests)))
        .select((job_specs::digest, job_specs::id))
        .load(conn)
        .map_err(error("Job")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{JobSpec, SpecText};
    use crate::config::{compile, input::PipelineInput, variables::OuterVariables};

    #[test]
    fn copies_of_a_job_share_all_but_their_numbers_and_are_read_as_they_were_written() {
        let known = OuterVariables::default();
        let given = PipelineInput::push("main", "group/project", &known);
        let text = "b: {script: x}\na: {script: y, stage: deploy, parallel: 3, needs: [b], coverage: /1/, variables: {A: 1}}";
        let jobs = compile(text, &given).unwrap().jobs;
        let copies = &jobs[1..];

        assert!(copies.iter().all(|job| Arc::ptr_eq(&job.options, &copies[0].options)));
        for (job, number) in copies.iter().zip(1..) {
            let spec: JobSpec = serde_json::from_str(&SpecText::of(job).unwrap().body).unwrap();
            assert_eq!((spec.options.instance, &spec.options), (Some(number), &*job.own_options()));
            assert_eq!((spec.coverage.as_deref(), spec.variables.len()), (Some("1"), 1));
            assert_eq!(spec.needs.as_deref(), job.needs.as_deref());
        }
        assert_eq!(copies.len(), 3);
    }
}
