//! All rows that hold something sealed, taken together: for whoever opens the vault, and whoever has lost its key.

use db::{
    Tx, each_backend, error,
    schema::{
        inherited_variables, job_variables, pipeline_schedule_variables as schedule_variables,
        pipeline_variables, triggers, variables,
    },
};
use diesel::prelude::*;
use kernel::{
    Error, Result,
    ids::{JobId, PipelineId},
};
use secrets::{Secret, Vault};

use crate::{
    job::variable::place as place_of_job, pipeline::variable::place as place_of_pipeline,
    report::place_of_inherited, schedule::ScheduleVariable, trigger::Trigger, variable::Variable,
};

/// The tables with a column `sealed`; `cargo xtask check` compares them with the schema.
pub const SEALED_TABLES: [&str; 6] = [
    "variables",
    "pipeline_schedule_variables",
    "triggers",
    "pipeline_variables",
    "job_variables",
    "inherited_variables",
];

/// A sealed text, and the place for which it was sealed.
type Sample = (String, String);

/// Whether a vault has the key of what is sealed: of the newest `most` rows of each table one must be readable, so that a
/// single damaged row says nothing. `None` where nothing is sealed.
///
/// # Errors
/// When the database cannot be read.
pub fn is_key_of(tx: &mut Tx<'_>, vault: &Vault, most: i64) -> Result<Option<bool>> {
    let samples = samples(tx, most)?;
    let mut tables = samples.iter().filter(|table| !table.is_empty()).peekable();
    if tables.peek().is_none() {
        return Ok(None);
    }
    let opens = |(place, sealed): &Sample| vault.unseal(place, sealed).is_ok();
    Ok(Some(tables.all(|table| table.iter().any(opens))))
}

/// Whether anything is sealed.
///
/// # Errors
/// When the database cannot be read.
pub fn has_any(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(samples(tx, 1)?.iter().any(|table| !table.is_empty()))
}

fn samples(tx: &mut Tx<'_>, most: i64) -> Result<[Vec<Sample>; 6]> {
    Ok([
        of_variables(tx, most)?,
        of_schedules(tx, most)?,
        of_triggers(tx, most)?,
        of_pipelines(tx, most)?,
        of_jobs(tx, most)?,
        of_reports(tx, most)?,
    ])
}

fn of_variables(tx: &mut Tx<'_>, most: i64) -> Result<Vec<Sample>> {
    let newest = variables::table.order(variables::id.desc()).limit(most);
    let rows: Vec<Variable> = each_backend!(tx, |conn| newest
        .select(Variable::as_select())
        .load(conn)
        .map_err(error("Variable")))?;
    Ok(rows.into_iter().map(|row| (row.home().place(&row.key), row.sealed)).collect())
}

fn of_schedules(tx: &mut Tx<'_>, most: i64) -> Result<Vec<Sample>> {
    let newest = schedule_variables::table
        .order((schedule_variables::schedule_id.desc(), schedule_variables::key))
        .limit(most);
    let rows: Vec<ScheduleVariable> = each_backend!(tx, |conn| newest
        .select(ScheduleVariable::as_select())
        .load(conn)
        .map_err(error("Variable")))?;
    let place = |row: &ScheduleVariable| ScheduleVariable::place(row.schedule_id, &row.key);
    Ok(rows.into_iter().map(|row| (place(&row), row.sealed)).collect())
}

fn of_triggers(tx: &mut Tx<'_>, most: i64) -> Result<Vec<Sample>> {
    let newest = triggers::table.order(triggers::id.desc()).limit(most);
    let rows: Vec<Trigger> = each_backend!(tx, |conn| newest
        .select(Trigger::as_select())
        .load(conn)
        .map_err(error("Trigger")))?;
    let place = |row: &Trigger| Trigger::place(row.project_id, &row.token_digest);
    Ok(rows.into_iter().map(|row| (place(&row), row.sealed)).collect())
}

fn of_pipelines(tx: &mut Tx<'_>, most: i64) -> Result<Vec<Sample>> {
    use pipeline_variables::{id, key, pipeline_id, sealed, table};
    let newest = table.filter(sealed.is_not_null()).order(id.desc()).limit(most);
    let rows: Vec<(PipelineId, String, Option<String>)> = each_backend!(tx, |conn| newest
        .select((pipeline_id, key, sealed))
        .load(conn)
        .map_err(error("Variable")))?;
    let sample = |(owner, name, text): (PipelineId, String, Option<String>)| {
        Some((place_of_pipeline(owner, &name), text?))
    };
    Ok(rows.into_iter().filter_map(sample).collect())
}

fn of_jobs(tx: &mut Tx<'_>, most: i64) -> Result<Vec<Sample>> {
    use job_variables::{id, job_id, key, sealed, table};
    let newest = table.filter(sealed.is_not_null()).order(id.desc()).limit(most);
    let rows: Vec<(JobId, String, Option<String>)> = each_backend!(tx, |conn| newest
        .select((job_id, key, sealed))
        .load(conn)
        .map_err(error("Variable")))?;
    let sample = |(owner, name, text): (JobId, String, Option<String>)| {
        Some((place_of_job(owner, &name), text?))
    };
    Ok(rows.into_iter().filter_map(sample).collect())
}

fn of_reports(tx: &mut Tx<'_>, most: i64) -> Result<Vec<Sample>> {
    use inherited_variables::{job_id, sealed, table};
    let newest = table.order(job_id.desc()).limit(most);
    let rows: Vec<(JobId, String)> = each_backend!(tx, |conn| newest
        .select((job_id, sealed))
        .load(conn)
        .map_err(error("Variable")))?;
    Ok(rows.into_iter().map(|(owner, text)| (place_of_inherited(owner), text)).collect())
}

macro_rules! each_sealed {
    ($tx:ident, |$rows:ident, $conn:ident| $query:expr) => {
        [
            each_backend!($tx, |$conn| {
                let $rows = variables::table;
                $query.map_err(error("Variable"))
            })?,
            each_backend!($tx, |$conn| {
                let $rows = schedule_variables::table;
                $query.map_err(error("Variable"))
            })?,
            each_backend!($tx, |$conn| {
                let $rows = triggers::table;
                $query.map_err(error("Trigger"))
            })?,
            each_backend!($tx, |$conn| {
                let $rows =
                    pipeline_variables::table.filter(pipeline_variables::sealed.is_not_null());
                $query.map_err(error("Variable"))
            })?,
            each_backend!($tx, |$conn| {
                let $rows = job_variables::table.filter(job_variables::sealed.is_not_null());
                $query.map_err(error("Variable"))
            })?,
            each_backend!($tx, |$conn| {
                let $rows = inherited_variables::table;
                $query.map_err(error("Variable"))
            })?,
        ]
    };
}

/// How many rows hold something sealed.
///
/// # Errors
/// When the database cannot be read.
pub fn count(tx: &mut Tx<'_>) -> Result<i64> {
    let counts: [i64; SEALED_TABLES.len()] =
        each_sealed!(tx, |rows, conn| rows.count().get_result(conn));
    Ok(counts.iter().sum())
}

/// Deletes all rows that hold something sealed; returns their number.
///
/// # Errors
/// When the database cannot be written.
pub fn delete_all(tx: &mut Tx<'_>) -> Result<usize> {
    let counts: [usize; SEALED_TABLES.len()] =
        each_sealed!(tx, |rows, conn| diesel::delete(rows).execute(conn));
    Ok(counts.iter().sum())
}

/// Seals values that were stored in clear before values were sealed, `most` of each table. Returns whether there may be
/// more.
///
/// # Errors
/// When the database cannot be written.
pub fn seal_clear(tx: &mut Tx<'_>, vault: &Vault, most: i64) -> Result<bool> {
    let of_pipelines = {
        use pipeline_variables::{clear, id, key, pipeline_id, sealed, table};
        let open = table.filter(sealed.is_null()).order(id).limit(most);
        let rows: Vec<(i64, PipelineId, String, String)> = each_backend!(tx, |conn| open
            .select((id, pipeline_id, key, clear))
            .load(conn)
            .map_err(error("Variable")))?;
        for (row, pipeline, name, value) in &rows {
            let text = seal(vault, &place_of_pipeline(*pipeline, name), value)?;
            let update = diesel::update(table.find(row)).set((sealed.eq(Some(text)), clear.eq("")));
            each_backend!(tx, |conn| update.execute(conn).map_err(error("Variable")))?;
        }
        rows.len()
    };
    let of_jobs = {
        use job_variables::{clear, id, job_id, key, sealed, table};
        let open = table.filter(sealed.is_null()).order(id).limit(most);
        let rows: Vec<(i64, JobId, String, String)> = each_backend!(tx, |conn| open
            .select((id, job_id, key, clear))
            .load(conn)
            .map_err(error("Variable")))?;
        for (row, job, name, value) in &rows {
            let text = seal(vault, &place_of_job(*job, name), value)?;
            let update = diesel::update(table.find(row)).set((sealed.eq(Some(text)), clear.eq("")));
            each_backend!(tx, |conn| update.execute(conn).map_err(error("Variable")))?;
        }
        rows.len()
    };
    Ok(of_pipelines.max(of_jobs) > 0)
}

fn seal(vault: &Vault, place: &str, value: &str) -> Result<String> {
    vault.seal(place, &Secret::new(value)).map_err(Error::internal)
}
