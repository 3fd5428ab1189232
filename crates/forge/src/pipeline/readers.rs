//! Who may know of pipelines in other projects.

use std::collections::HashMap;

use ci::policy::ReadPipelines;
use db::Tx;
use kernel::{
    Ability as _, AccessLevel::Reporter, Actor, Result, Standing, access::Project, ids::ProjectId,
};
use org::{access::locate_projects, project::settings::SettingsStore as _};

/// Of these projects, those whose pipelines are shown to somebody: their ability is asked for, and of who is no reporter
/// there whether the project shows its jobs to everybody.
pub fn with_shown_pipelines(
    tx: &mut Tx<'_>,
    reader: Actor,
    projects: &[ProjectId],
) -> Result<HashMap<ProjectId, Project>> {
    let shown = shown_standings(tx, reader, projects)?;
    Ok(shown.into_iter().map(|(id, (project, _))| (id, project)).collect())
}

/// As [`with_shown_pipelines`], with how the reader stands in each.
pub fn shown_standings(
    tx: &mut Tx<'_>,
    reader: Actor,
    projects: &[ProjectId],
) -> Result<HashMap<ProjectId, (Project, Standing)>> {
    let mut shown = locate_projects(tx, reader, projects)?;
    shown.retain(|(_, who)| ReadPipelines::allows(who));
    let guests: Vec<ProjectId> = shown
        .iter()
        .filter(|(_, who)| !who.is(Reporter))
        .map(|(project, _)| project.0.id)
        .collect();
    if !guests.is_empty() {
        let settings = tx.settings_by_project(&guests)?;
        let hidden =
            |id: &ProjectId| settings.get(id).is_some_and(|settings| !settings.public_jobs);
        shown.retain(|(project, who)| who.is(Reporter) || !hidden(&project.0.id));
    }
    Ok(shown.into_iter().map(|found| (found.0.0.id, found)).collect())
}
