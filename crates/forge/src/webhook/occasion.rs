//! What integrations ask of a branch or a pipeline before they are told of it: looked up where one of them does ask.

use admin::flags::Flag;
use ci::{
    Status,
    pipeline::{Pipeline, PipelineFilter, PipelineListStore as _},
};
use db::Tx;
use kernel::{Result, page::PageRequest};
use repo::protection::protected_among;

use super::{audience::Audience, payload::ProjectContext};
use crate::integration::{EventTraits, PipelineState};

/// So many pipelines are looked through for the one that ended before another.
const MOST_BEFORE: i64 = 20;

/// What integrations ask of a branch, as far as any of them does.
pub(super) fn occasion<'a>(
    tx: &mut Tx<'_>,
    (context, audience): (&ProjectContext, &Audience),
    flag: Flag,
    branch: Option<&'a str>,
) -> Result<EventTraits<'a>> {
    let Some(name) = branch else { return Ok(EventTraits::default()) };
    let place = (context.project.id, name.to_owned());
    let is_protected =
        audience.asks_for_protection(flag) && !protected_among(tx, &[place])?.is_empty();
    let is_default = context.project.default_branch.as_deref() == Some(name);
    Ok(EventTraits { branch, is_default, is_protected, pipeline: None })
}

/// How far a pipeline is; whether it has mended something is looked up where somebody asks.
pub(super) fn pipeline_state(
    tx: &mut Tx<'_>,
    audience: &Audience,
    row: &Pipeline,
) -> Result<PipelineState> {
    match row.status {
        Status::Failed => return Ok(PipelineState::Failed),
        Status::Success => {}
        _ => return Ok(PipelineState::Unfinished),
    }
    if !audience.asks_for_fixes(Flag::Pipelines) {
        return Ok(PipelineState::Passed);
    }
    let filter =
        PipelineFilter { ref_name: Some(row.ref_name.clone()), ..PipelineFilter::default() };
    let page = PageRequest { page: 1, per_page: MOST_BEFORE };
    let earlier = tx.pipelines(row.project_id, &filter, page)?.items.into_iter();
    let before = earlier
        .filter(|one| one.id < row.id && one.tag == row.tag)
        .find(|one| matches!(one.status, Status::Failed | Status::Success));
    Ok(match before.map(|one| one.status) {
        Some(Status::Failed) => PipelineState::Fixed,
        _ => PipelineState::Passed,
    })
}
