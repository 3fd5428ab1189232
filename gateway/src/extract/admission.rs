//! What the service for external authorization closes: projects, and what is read of many of them at once.

use forge::external_authorization::{ensure_admitted, is_closed_across_projects};
use kernel::{Actor, Error, ids::ProjectId};

use crate::{app::App, error::ApiResult, route::MatchedRoute};

/// Routes that read of many projects, for each of which the service would have to be asked.
const ACROSS_PROJECTS: [&str; 8] = [
    "/events",
    "/groups/{id}/issues",
    "/groups/{id}/issues_statistics",
    "/groups/{id}/merge_requests",
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

/// # Errors
/// `Forbidden` while the service is asked who may enter projects.
pub(crate) fn ensure_open_across(app: &App, actor: Actor) -> ApiResult<()> {
    match is_closed_across_projects(&app.forge, actor) {
        true => Err(Error::forbidden().into()),
        false => Ok(()),
    }
}
