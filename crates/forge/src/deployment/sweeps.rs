//! What time does to environments: they stop, and stopped ones of branches go.

use db::Tx;
use deployments::{
    environment::{
        Environment, EnvironmentStore as _,
        cleanup::{ensure_stale_moment, remove_outlived},
    },
    policy::StopStaleEnvironments as MayStopStale,
};
use kernel::{
    Error, Grant, Result, Ts,
    access::Project,
    error::{Kind, Message},
    ids::{EnvironmentId, ProjectId, UserId},
};
use org::access::IdOrPath;
use secrets::Vault;
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

use super::stop::{Stopped, stop_at_once, stop_for, stop_job};
use crate::{Forge, pipeline, user::standing::person_in_project};

/// So many environments are looked for at a time.
const AT_ONCE: i64 = 100;

/// Stops environments whose time has come, and removes those that were to be removed by now.
#[derive(Debug, Serialize, Deserialize)]
pub struct SweepEnvironments {}

impl Job for SweepEnvironments {
    const KIND: &'static str = "environment.sweep";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

/// Stops environments of a project to which nothing was done for long.
#[derive(Debug, Serialize, Deserialize)]
pub struct StopStaleEnvironments {
    project: ProjectId,
    /// Microseconds since 1970.
    before: i64,
}

impl Job for StopStaleEnvironments {
    const KIND: &'static str = "environment.stop_stale";

    fn unique_key(&self) -> Option<String> {
        Some(self.project.to_string())
    }
}

/// Promises to stop environments of the project to which nothing was done since then.
pub fn stop_stale_environments(
    tx: &mut Tx<'_>,
    grant: &Grant<MayStopStale>,
    before: Ts,
) -> Result<()> {
    ensure_stale_moment(tx.now, grant, before)?;
    tx.enqueue(&StopStaleEnvironments { project: grant.project(), before: before.0 })
}

pub(crate) async fn stop_stale(forge: Forge, work: StopStaleEnvironments) -> Result<()> {
    let (project, before) = (work.project, Ts(work.before));
    let mut behind = EnvironmentId(0);
    loop {
        let some = forge.db.read(move |tx| tx.stale_environments(project, before, behind, AT_ONCE));
        let some = some.await?;
        let Some(last) = some.last() else { return Ok(()) };
        behind = last.id;
        for environment in some {
            stop_by_itself(&forge, environment.id).await?;
        }
    }
}

pub(crate) async fn sweep_environments(forge: Forge, _: SweepEnvironments) -> Result<()> {
    loop {
        let due = forge.db.read(|tx| tx.overdue_environments(AT_ONCE)).await?;
        let is_last = i64::try_from(due.len()).is_ok_and(|found| found < AT_ONCE);
        for environment in due {
            stop_by_itself(&forge, environment).await?;
        }
        if is_last {
            break;
        }
    }
    while forge.db.write(|tx| remove_outlived(tx, AT_ONCE)).await? {}
    Ok(())
}

/// Stops an environment by its job, for whom that job is; at once where nobody is left who may let it begin.
async fn stop_by_itself(forge: &Forge, id: EnvironmentId) -> Result<()> {
    let vault = forge.vault.clone();
    let stopped = forge.db.write(move |tx| {
        let Some(environment) = tx.environments_by_id(&[id])?.pop() else { return Ok(None) };
        automatic_stop(tx, &vault, environment).map(Some)
    });
    if let Some(Stopped { pipeline: Some(pipeline), .. }) = stopped.await? {
        pipeline::hurry(forge, pipeline).await;
    }
    Ok(())
}

fn automatic_stop(tx: &mut Tx<'_>, vault: &Vault, environment: Environment) -> Result<Stopped> {
    let Some(user) = stop_job(tx, &environment)?.and_then(|job| job.user_id) else {
        return stop_at_once(tx, environment);
    };
    match stop_as(tx, vault, user, environment.clone()) {
        Err(
            Error { kind: Kind::Forbidden, message: Message::Default, .. }
            | Error { kind: Kind::NotFound, message: Message::Subject(_), .. }
            | Error { kind: Kind::BadRequest, message: Message::Reason(_), .. },
        ) => stop_at_once(tx, environment),
        stopped => stopped,
    }
}

fn stop_as(
    tx: &mut Tx<'_>,
    vault: &Vault,
    user: UserId,
    environment: Environment,
) -> Result<Stopped> {
    let project = IdOrPath::Id(environment.project_id.0);
    let person = person_in_project(tx, user, &project)?.ok_or(Error::forbidden())?;
    let grant = Grant::<ci::policy::UpdatePipelines>::check(&person.who, Project(person.facts))?;
    stop_for(tx, vault, &grant, environment)
}
