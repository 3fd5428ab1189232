//! The runner that a server brings along. Commands of its jobs run where the server runs, so it does not do everybody's.

use ci::job::{End, QueueStore as _, progress::finish_unarchived};
use kernel::{
    Result,
    ids::{JobId, RunnerId},
};
use org::{
    namespace::{Kind, store::NamespaceStore as _},
    project::store::ProjectStore as _,
};
use runners::{
    ports::Endless,
    runner::{Attributes, Owner, Runner, RunnerStore as _, RunnerToken, register},
};

use super::built_in_rule::ProjectSelection;
use crate::{Forge, pipeline, settings::archived_before};

/// What people read who look at the list of runners.
const DESCRIPTION: &str = "Built-in runner of this server (shell)";

/// The runner with this token, unless somebody has removed it.
pub async fn find(forge: &Forge, token: RunnerToken) -> Result<Option<Runner>> {
    forge.db.read(move |tx| tx.find_runner_by_token(&token.digest())).await
}

/// The runner with this token; where nobody has it, a new one of the installation.
pub async fn enroll(forge: &Forge, token: RunnerToken) -> Result<Runner> {
    let enrolled = forge.db.write(move |tx| {
        if let Some(known) = tx.find_runner_by_token(&token.digest())? {
            return Ok(known);
        }
        let attributes =
            Attributes { description: Some(DESCRIPTION.to_owned()), ..Attributes::default() };
        // The token lies in a file of this server, and nobody would renew it.
        register::create(tx, Owner::Instance, None, attributes, &token, &Endless)
    });
    enrolled.await
}

/// Ends the jobs that the runner had when its process was killed: nobody does them any more. Returns how many.
pub async fn fail_orphaned_jobs(forge: &Forge, runner: RunnerId) -> Result<usize> {
    let left = forge.db.write(move |tx| {
        let (jobs, archived_before) = (tx.running_of(runner.0)?, archived_before(tx)?);
        let failed = |id: &JobId| {
            finish_unarchived(tx, *id, End::failed("runner_system_failure"), archived_before)
        };
        jobs.iter().map(failed).collect::<Result<Vec<_>>>()
    });
    let left = left.await?;
    for job in &left {
        pipeline::run_now(forge, job.pipeline_id).await;
    }
    Ok(left.len())
}

/// The projects and groups at these full paths, and the paths where there is neither. They are looked up once: who takes
/// a name later does not take the place with it.
pub async fn places(forge: &Forge, paths: Vec<String>) -> Result<(ProjectSelection, Vec<String>)> {
    let found = forge.db.read(move |tx| {
        let (mut places, mut unknown) = (ProjectSelection::default(), Vec::new());
        for path in &paths {
            let group = tx.find_namespace_at(path)?.filter(|found| found.kind == Kind::Group);
            match (tx.find_project_at(path)?, group) {
                (Some(project), _) => places.projects.extend([project.id]),
                (None, Some(group)) => places.groups.extend([group.id]),
                (None, None) => unknown.push(path.clone()),
            }
        }
        Ok((places, unknown))
    });
    found.await
}
