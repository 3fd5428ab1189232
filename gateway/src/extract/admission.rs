//! What the service for external authorization closes: projects, and what is read of many of them at once.

use forge::external_authorization::{ensure_admitted, is_closed_across_projects};
use kernel::{Actor, Error, ids::ProjectId};

use org::access::{IdOrPath, locate_project};

use super::{
    params::Param as _,
    raw::{Raw, RawMap},
};
use crate::{app::App, error::ApiResult, route::MatchedRoute};

/// Routes that read of many projects, for each of which the service would have to be asked.
const ACROSS_PROJECTS: [&str; 11] = [
    "/events",
    "/groups/{id}/epics/{epic_iid}/issues",
    "/groups/{id}/issues",
    "/groups/{id}/issues_statistics",
    "/groups/{id}/merge_requests",
    "/groups/{id}/milestones/{milestone_id}/issues",
    "/groups/{id}/milestones/{milestone_id}/merge_requests",
    "/issues",
    "/issues_statistics",
    "/merge_requests",
    "/todos",
];

/// Lets a caller into a project, or to what lies in many, where the service does not keep them out.
///
/// # Errors
/// `NotFound` for a project that the service does not open, `Forbidden` for what lies in many.
pub(super) async fn ensure_open(
    app: &App,
    actor: Actor,
    project: Option<ProjectId>,
    route: &MatchedRoute,
) -> ApiResult<()> {
    if let Some(project) = project {
        return Ok(ensure_admitted(&app.forge, actor, project).await?);
    }
    match ACROSS_PROJECTS.contains(&route.0.pattern) {
        true => ensure_open_across(app, actor),
        false => Ok(()),
    }
}

/// Parameters that name a second project, by its id or path: where something goes, comes from or is compared with.
const SECOND_PROJECTS: [&str; 10] = [
    "file_template_project_id",
    "forked_from_id",
    "from_project_id",
    "project",
    "project_id",
    "source_project_id",
    "start_project",
    "target_project_id",
    "template_project_id",
    "to_project_id",
];

/// Lets a caller refer to the second project that a request names, as [`ensure_open`] lets them into the first one. One
/// that the caller does not see is left to the use case, which has its own words for it.
///
/// # Errors
/// `NotFound` for a project that the service does not open.
pub(super) async fn ensure_second_open(app: &App, actor: Actor, raw: &RawMap) -> ApiResult<()> {
    if !is_closed_across_projects(&app.forge, actor) {
        return Ok(());
    }
    for named in SECOND_PROJECTS.iter().filter_map(|name| named_project(raw.get(name)?)) {
        let found = app.db.peek(move |tx| match locate_project(tx, actor, &named) {
            Err(gone) if gone.is_gone() => Ok(None),
            found => Ok(Some(found?.0.0.id)),
        });
        if let Some(project) = found.await? {
            ensure_admitted(&app.forge, actor, project).await?;
        }
    }
    Ok(())
}

/// What a parameter names, read as the parameters of routes are.
fn named_project(raw: &Raw) -> Option<IdOrPath> {
    if let Ok(Some(id)) = ProjectId::read(raw) {
        return Some(IdOrPath::Id(id.0));
    }
    String::read(raw).ok().flatten().map(|text| IdOrPath::parse(&text))
}

/// # Errors
/// `Forbidden` while the service is asked who may enter projects.
pub(crate) fn ensure_open_across(app: &App, actor: Actor) -> ApiResult<()> {
    match is_closed_across_projects(&app.forge, actor) {
        true => Err(Error::forbidden().into()),
        false => Ok(()),
    }
}
