//! What whoever played a job by hand set for it; values are sealed.

use db::{
    Tx, each_backend, error,
    schema::{job_variables as variables, jobs},
};
use diesel::prelude::*;
use kernel::{Error, Result, ids::JobId};
use secrets::{Secret, Vault};

use super::JobStore as _;

/// For what a value is sealed.
pub(crate) fn place(job: JobId, key: &str) -> String {
    format!("variable/job/{job}/{key}")
}

pub trait JobVariableStore {
    /// Names and values in clear. A later try has what the earlier ones had, unless it was played with something else.
    fn job_variables(&mut self, vault: &Vault, job: JobId) -> Result<Vec<(String, String)>>;
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
        let tries = jobs::table
            .filter(jobs::pipeline_id.eq(job.pipeline_id).and(jobs::name.eq(&job.name)))
            .filter(jobs::id.le(job.id));
        let rows: Vec<(JobId, String, String, Option<String>)> =
            each_backend!(self, |conn| variables::table
                .filter(variables::job_id.eq_any(tries.select(jobs::id)))
                .order((variables::job_id, variables::id))
                .select((variables::job_id, variables::key, variables::clear, variables::sealed))
                .load(conn)
                .map_err(error("Variable")))?;
        let mut set: Vec<(String, String)> = Vec::with_capacity(rows.len());
        for (of, key, clear, sealed) in rows {
            let value = match sealed {
                Some(sealed) => vault
                    .unseal(&place(of, &key), &sealed)
                    .map_err(Error::internal)?
                    .into_revealed(),
                // Of before values were sealed, until the server starts the next time.
                None => clear,
            };
            set.retain(|(other, _)| *other != key);
            set.push((key, value));
        }
        Ok(set)
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
