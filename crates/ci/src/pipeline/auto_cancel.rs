//! The choice of redundant pipelines that a newer one cancels.

use db::{
    Tx,
    listing::{self, Bind},
};
use kernel::Result;

use super::Pipeline;

/// As its index says it.
const ALIVE: &str = "p.status IN ('created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'scheduled')";

/// The oldest of those that [`outdated_pipelines`](super::PipelineStore::outdated_pipelines) finds.
pub(super) fn ids(
    tx: &mut Tx<'_>,
    by: &Pipeline,
    tip: Option<&str>,
    most: i64,
) -> Result<Vec<i64>> {
    // A child goes by the time of its root.
    let sql = format!(
        "SELECT p.id AS id FROM pipelines p \
         LEFT JOIN pipelines root ON root.id = p.root_id AND p.source = 'parent_pipeline' \
         WHERE p.project_id = $1 AND p.ref_name = $2 AND {ALIVE} AND COALESCE(root.id, p.id) < $3 \
         AND COALESCE(root.created_at, p.created_at) < $4 AND p.sha NOT IN ($5, $6) AND p.tag = {} AND p.source <> 'external' \
         AND COALESCE(p.auto_cancel, 'conservative') <> 'none' \
         AND CASE WHEN p.auto_cancel = 'interruptible' THEN EXISTS (SELECT 1 FROM jobs j \
         WHERE j.pipeline_id = p.id AND NOT j.retried AND j.interruptible AND j.status IN \
         ('created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'scheduled')) \
         ELSE NOT EXISTS (SELECT 1 FROM jobs j \
         WHERE j.pipeline_id = p.id AND NOT j.retried AND NOT j.interruptible AND j.kind = 'build' \
         AND j.status IN ('running', 'success', 'failed')) END ORDER BY p.id LIMIT {most}",
        if by.tag { "TRUE" } else { "FALSE" }
    );
    let binds = [
        Bind::Number(by.project_id.0),
        Bind::Word(by.ref_name.clone()),
        Bind::Number(by.id.0),
        Bind::Number(by.created_at.0),
        Bind::Word(by.sha.clone()),
        Bind::Word(tip.unwrap_or(&by.sha).to_owned()),
    ];
    listing::ids(tx, &sql, &binds)
}
