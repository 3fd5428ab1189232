//! Variables that jobs hand to those that depend on them, in the database; sealed for the job that brought them.

use std::collections::HashMap;

use db::{OneOf as _, Tx, each_backend, error, schema::inherited_variables as variables};
use diesel::prelude::*;
use kernel::{Error, Result, ids::JobId};
use secrets::{Secret, Vault};

const NOUN: &str = "Variable";

/// For what the variables of a job are sealed.
pub(crate) fn place(job: JobId) -> String {
    format!("variable/inherited/{job}")
}

pub trait InheritedVariableStore {
    /// What these jobs hand on, in the order of the jobs.
    fn inherited_variables(
        &mut self,
        vault: &Vault,
        jobs: &[JobId],
    ) -> Result<Vec<(String, String)>>;
    /// What a job hands on, in the place of what it handed on before.
    fn save_inherited_variables(
        &mut self,
        vault: &Vault,
        job: JobId,
        all: &[(String, String)],
    ) -> Result<()>;
}

impl InheritedVariableStore for Tx<'_> {
    fn inherited_variables(
        &mut self,
        vault: &Vault,
        jobs: &[JobId],
    ) -> Result<Vec<(String, String)>> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<(JobId, String)> = each_backend!(self, |conn| variables::table
            .filter(variables::job_id.one_of(jobs))
            .select((variables::job_id, variables::sealed))
            .load(conn)
            .map_err(error(NOUN)))?;
        let sealed: HashMap<JobId, String> = rows.into_iter().collect();
        let mut all: Vec<(String, String)> = Vec::new();
        for job in jobs {
            let Some(text) = sealed.get(job) else { continue };
            let clear = vault.unseal(&place(*job), text).map_err(Error::internal)?;
            let own: Vec<(String, String)> =
                serde_json::from_str(clear.reveal()).map_err(Error::internal)?;
            all.extend(own);
        }
        Ok(all)
    }

    fn save_inherited_variables(
        &mut self,
        vault: &Vault,
        job: JobId,
        all: &[(String, String)],
    ) -> Result<()> {
        let before = variables::table.find(job);
        each_backend!(self, |conn| diesel::delete(before).execute(conn).map_err(error(NOUN)))?;
        if all.is_empty() {
            return Ok(());
        }
        let clear = Secret::new(serde_json::to_string(all).map_err(Error::internal)?);
        let sealed = vault.seal(&place(job), &clear).map_err(Error::internal)?;
        let row = (variables::job_id.eq(job), variables::sealed.eq(sealed));
        each_backend!(self, |conn| diesel::insert_into(variables::table)
            .values(row)
            .execute(conn)
            .map_err(error(NOUN)))?;
        Ok(())
    }
}
