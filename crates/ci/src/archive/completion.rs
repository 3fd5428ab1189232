//! What rows of an archive get in the transaction that writes them, so that nobody sees them without it.

use db::{Tx, each_backend, error, listing};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{PipelineId, UserId},
};

/// The most that a pipeline may have: all of it is read whenever one of its jobs moves.
#[derive(Clone, Copy, Debug)]
pub struct PipelineBounds {
    pub jobs: usize,
    /// Of the names of the jobs and of what they need.
    pub letters: usize,
}

impl PipelineBounds {
    pub const USUAL: Self = Self { jobs: 100_000, letters: 64 << 20 };
}

/// Gives these jobs what is their pipeline's, and ends those that wait for a person who could not let them begin. A bridge
/// may wait as the pipeline does that it made. What waits for a person is for whoever lets it begin: of those whom an
/// archive names, only the importer asked for it.
///
/// # Errors
/// When the database cannot be written.
pub fn complete_jobs(tx: &mut Tx<'_>, jobs: &[i64], importer: UserId) -> Result<()> {
    if jobs.is_empty() {
        return Ok(());
    }
    let ids = list(jobs);
    for text in [
        format!(
            "UPDATE jobs SET (sha, ref_name, tag, protected) = (SELECT p.sha, p.ref_name, p.tag, p.protected \
             FROM pipelines p WHERE p.id = jobs.pipeline_id) WHERE id IN ({ids})"
        ),
        format!(
            "UPDATE jobs SET status = 'canceled' WHERE id IN ({ids}) AND status = 'manual' AND (kind = 'external' \
             OR kind = 'build' AND run_when NOT IN ('manual', 'delayed'))"
        ),
        format!(
            "UPDATE jobs SET user_id = NULL WHERE id IN ({ids}) AND status = 'manual' AND user_id <> {}",
            importer.0
        ),
        // What ended in the middle took no time beyond that.
        format!(
            "UPDATE jobs SET finished_at = updated_at WHERE id IN ({ids}) AND status = 'canceled' \
             AND finished_at IS NULL"
        ),
    ] {
        run(tx, &text)?;
    }
    Ok(())
}

/// Whether the pipeline of one of these jobs has more of them than can be moved together.
///
/// # Errors
/// When the database cannot be read.
pub fn has_oversized_pipeline(tx: &mut Tx<'_>, jobs: &[i64], most: PipelineBounds) -> Result<bool> {
    if jobs.is_empty() {
        return Ok(false);
    }
    let sql = format!(
        "SELECT pipeline_id AS id FROM jobs WHERE pipeline_id IN (SELECT pipeline_id FROM jobs WHERE id IN ({})) \
         GROUP BY pipeline_id HAVING COUNT(*) > {} \
         OR SUM(LENGTH(name) + LENGTH(COALESCE(needs, ''))) > {} LIMIT 1",
        list(jobs),
        most.jobs,
        most.letters
    );
    Ok(!listing::ids(tx, &sql, &[])?.is_empty())
}

/// Says of pipelines whose jobs are not there yet that they are of no protected branch or tag.
///
/// # Errors
/// When the database cannot be written.
pub fn unprotect(tx: &mut Tx<'_>, pipelines: &[PipelineId]) -> Result<()> {
    if pipelines.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = pipelines.iter().map(|id| id.0).collect();
    run(tx, &format!("UPDATE pipelines SET protected = FALSE WHERE id IN ({})", list(&ids)))
}

/// Numbers as a list for `IN`.
pub(super) fn list(ids: &[i64]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

pub(super) fn run(tx: &mut Tx<'_>, text: &str) -> Result<()> {
    each_backend!(tx, |conn| diesel::sql_query(text).execute(conn).map_err(error("Record")))?;
    Ok(())
}
