//! Variables set when a manual job is played; values are sealed.

use std::collections::{BTreeSet, HashMap};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{job_variables as variables, jobs as tries},
};
use diesel::prelude::*;
use kernel::{
    Error, Result,
    ids::{JobId, PipelineId},
};
use secrets::{Secret, Vault};

use super::{Job, JobStore as _};

/// For what a value is sealed.
pub(crate) fn place(job: JobId, key: &str) -> String {
    format!("variable/job/{job}/{key}")
}

/// A variable of a job, with what tells the job's tries.
#[derive(Queryable)]
struct VariableRow {
    job_id: JobId,
    pipeline_id: PipelineId,
    name: String,
    key: String,
    clear: String,
    sealed: Option<String>,
}

impl VariableRow {
    /// Whether it was set for the job or an earlier try of it.
    fn is_of(&self, job: &Job) -> bool {
        self.pipeline_id == job.pipeline_id && self.name == job.name && self.job_id <= job.id
    }
}

/// Names and values in clear; the last that was set counts.
fn values<'r>(
    vault: &Vault,
    rows: impl Iterator<Item = &'r VariableRow>,
) -> Result<Vec<(String, String)>> {
    let mut set: Vec<(String, String)> = Vec::new();
    for row in rows {
        let value = match &row.sealed {
            Some(sealed) => vault
                .unseal(&place(row.job_id, &row.key), sealed)
                .map_err(Error::internal)?
                .into_revealed(),
            // Of before values were sealed, until the server starts the next time.
            None => row.clear.clone(),
        };
        set.retain(|(other, _)| *other != row.key);
        set.push((row.key.clone(), value));
    }
    Ok(set)
}

pub trait JobVariableStore {
    /// Names and values in clear. A later try has what the earlier ones had, unless it was played with something else.
    fn job_variables(&mut self, vault: &Vault, job: JobId) -> Result<Vec<(String, String)>>;
    /// As [`JobVariableStore::job_variables`], of all these jobs by one statement.
    fn variables_of_jobs(
        &mut self,
        vault: &Vault,
        jobs: &[Job],
    ) -> Result<HashMap<JobId, Vec<(String, String)>>>;
    fn insert_job_variables(
        &mut self,
        vault: &Vault,
        job: JobId,
        all: &[(String, String)],
    ) -> Result<()>;
}

impl JobVariableStore for Tx<'_> {
    fn job_variables(&mut self, vault: &Vault, job: JobId) -> Result<Vec<(String, String)>> {
        let job = self.job(job)?;
        let id = job.id;
        Ok(self.variables_of_jobs(vault, &[job])?.remove(&id).unwrap_or_default())
    }

    fn variables_of_jobs(
        &mut self,
        vault: &Vault,
        jobs: &[Job],
    ) -> Result<HashMap<JobId, Vec<(String, String)>>> {
        let pipelines: BTreeSet<PipelineId> = jobs.iter().map(|job| job.pipeline_id).collect();
        let names: BTreeSet<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        let (pipelines, names) = (Vec::from_iter(pipelines), Vec::from_iter(names));
        let rows: Vec<VariableRow> = each_backend!(self, |conn| variables::table
            .inner_join(tries::table.on(tries::id.eq(variables::job_id)))
            .filter(tries::pipeline_id.one_of(&pipelines).and(tries::name.one_of(&names)))
            .order((variables::job_id, variables::id))
            .select((
                variables::job_id,
                tries::pipeline_id,
                tries::name,
                variables::key,
                variables::clear,
                variables::sealed,
            ))
            .load(conn)
            .map_err(error("Variable")))?;
        let values_of = |job: &Job| {
            let own = rows.iter().filter(|row| row.is_of(job));
            Ok((job.id, values(vault, own)?))
        };
        jobs.iter().map(values_of).collect()
    }

    fn insert_job_variables(
        &mut self,
        vault: &Vault,
        job: JobId,
        all: &[(String, String)],
    ) -> Result<()> {
        if all.is_empty() {
            return Ok(());
        }
        let row = |(key, value): &(String, String)| {
            let sealed = vault.seal(&place(job, key), &Secret::new(value));
            Ok((
                variables::job_id.eq(job),
                variables::key.eq(key.clone()),
                variables::clear.eq(""),
                variables::sealed.eq(Some(sealed.map_err(Error::internal)?)),
            ))
        };
        let rows = all.iter().map(row).collect::<Result<Vec<_>>>()?;
        each_backend!(self, |conn| diesel::insert_into(variables::table)
            .values(&rows)
            .execute(conn)
            .map_err(error("Variable")))?;
        Ok(())
    }
}
