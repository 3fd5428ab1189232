//! Pipelines and jobs that pipelines name, some of which come later.

use db::{
    Tx,
    archive::{Column, Relation},
};
use kernel::Result;

use super::completion::{list, run};

const PIPELINE: Column = Column::itself("pipelines");

/// The first of all that made one another.
pub(super) static ROOTS: Relation = Relation {
    name: "pipeline_roots",
    table: "pipelines",
    scope: "project_id = $1 AND root_id IS NOT NULL",
    key: &["id"],
    columns: &[PIPELINE, Column::row("root_id", "pipelines")],
    signed: None,
};

/// The jobs that made pipelines; those of other projects are left out.
pub(super) static PARENTS: Relation = Relation {
    name: "pipeline_parents",
    table: "pipelines",
    scope: "project_id = $1 AND parent_job_id IS NOT NULL",
    key: &["id"],
    columns: &[PIPELINE, Column::row("parent_job_id", "jobs")],
    signed: None,
};

/// The newer pipelines for whose sake older ones ended.
pub(super) static SUCCESSORS: Relation = Relation {
    name: "pipeline_successors",
    table: "pipelines",
    scope: "project_id = $1 AND auto_canceled_by IS NOT NULL",
    key: &["id"],
    columns: &[PIPELINE, Column::row("auto_canceled_by", "pipelines")],
    signed: None,
};

/// Takes parents away from those of these pipelines that are no younger than the pipelines of their parents: whoever
/// goes from children to parents, or back, comes to an end. Where the archive lacks the first of a family, that is the
/// first one it has.
///
/// # Errors
/// When the database cannot be written.
pub fn cut_circles(tx: &mut Tx<'_>, pipelines: &[i64]) -> Result<()> {
    if pipelines.is_empty() {
        return Ok(());
    }
    let ids = list(pipelines);
    run(
        tx,
        &format!(
            "UPDATE pipelines SET parent_job_id = NULL WHERE id IN ({ids}) AND NOT EXISTS (\
             SELECT 1 FROM jobs j WHERE j.id = pipelines.parent_job_id AND j.pipeline_id < pipelines.id)"
        ),
    )?;
    run(
        tx,
        &format!(
            "UPDATE pipelines SET root_id = (SELECT COALESCE(p.root_id, p.id) FROM jobs j \
             JOIN pipelines p ON p.id = j.pipeline_id WHERE j.id = pipelines.parent_job_id) \
             WHERE id IN ({ids}) AND parent_job_id IS NOT NULL AND root_id IS NULL"
        ),
    )
}
