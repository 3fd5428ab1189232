//! Numbers that count within a project. An archive's are kept for it before its rows are written: what people make
//! meanwhile gets later ones.

use std::collections::HashMap;

use db::Tx;
use kernel::{Result, ids::ProjectId};
use review::Home;

/// Keeps numbers up to the last ones of an archive, which are told by the names of relations.
pub(super) fn reserve(
    tx: &mut Tx<'_>,
    project: ProjectId,
    last: &HashMap<&'static str, i64>,
) -> Result<()> {
    review::archive::reserve_numbers(tx, Home::Project(project), last)?;
    if let Some(last) = last.get("pipelines") {
        ci::archive::reserve_numbers(tx, project, *last)?;
    }
    if let Some(last) = last.get("deployments") {
        deployments::deployment::archive::reserve_numbers(tx, project, *last)?;
    }
    if let Some(last) = last.get("alerts") {
        security::archive::reserve_numbers(tx, project, *last)?;
    }
    Ok(())
}

/// Lets numbers go on after those that are taken.
pub(super) fn restore(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    review::archive::restore_counters(tx, Home::Project(project))?;
    ci::archive::restore_counters(tx, project)?;
    deployments::deployment::archive::restore_counters(tx, project)?;
    security::archive::restore_counters(tx, project)
}
