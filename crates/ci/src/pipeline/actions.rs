//! Looking at pipelines, and keeping them up to their jobs.

use db::Tx;
use kernel::{
    AccessLevel::Reporter,
    Error, Grant, Result, Standing,
    ids::{PipelineId, ProjectId},
    page::{Page, PageRequest},
};

use super::{Pipeline, PipelineFilter, PipelineListStore as _, PipelineStore as _};
use crate::{policy::ReadPipelines, ports::Projects};

/// Whether pipelines are shown to a caller whose ability to read them was checked: below a reporter only where the
/// project shows its jobs to everybody.
pub fn is_shown(
    tx: &mut Tx<'_>,
    projects: &impl Projects,
    who: &Standing,
    project: ProjectId,
) -> Result<bool> {
    Ok(who.is(Reporter) || projects.has_public_jobs(tx, project)?)
}

pub(crate) fn ensure_shown(
    tx: &mut Tx<'_>,
    projects: &impl Projects,
    who: &Standing,
    project: ProjectId,
) -> Result<()> {
    if is_shown(tx, projects, who, project)? { Ok(()) } else { Err(Error::forbidden()) }
}

/// A page of a project's pipelines.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadPipelines>,
    projects: &impl Projects,
    filter: &PipelineFilter,
    page: PageRequest,
) -> Result<Page<Pipeline>> {
    ensure_shown(tx, projects, grant.who(), grant.project())?;
    tx.pipelines(grant.project(), filter, page)
}

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadPipelines>,
    projects: &impl Projects,
    id: PipelineId,
) -> Result<Pipeline> {
    ensure_shown(tx, projects, grant.who(), grant.project())?;
    tx.find_pipeline(grant.project(), id)?.ok_or_else(Error::missing)
}

/// The newest pipeline of the commit at which a branch is.
pub fn newest_at(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadPipelines>,
    projects: &impl Projects,
    branch: &str,
    tip: &str,
) -> Result<Pipeline> {
    ensure_shown(tx, projects, grant.who(), grant.project())?;
    tx.newest_pipeline_of_ref(grant.project(), branch, tip)?.ok_or_else(Error::forbidden)
}
