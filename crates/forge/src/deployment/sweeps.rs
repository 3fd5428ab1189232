//! Periodic work on environments: stopping expired ones and removing stopped ones.

use ci::policy::UpdateJobs;
use db::Tx;
use deployments::{
    environment::{
        Environment, EnvironmentCleanupStore as _, EnvironmentState, EnvironmentStore as _,
        cleanup::{ensure_stale_moment, remove_outlived},
    },
    policy::StopStaleEnvironments as MayStopStale,
    ports::Members as _,
};
use kernel::{
    Grant, Result, Ts,
    access::Project,
    error::Kind,
    ids::{EnvironmentId, ProjectId},
};
use org::access::IdOrPath;
use secrets::Vault;
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::{Job, Queue as _};

use super::stop::{StopResult, stop_at_once, stop_job, stop_with};
use crate::{Forge, pipeline, ports::deployments::Members, user::standing::person_in_project};

/// So many environments are looked for at a time.
const AT_ONCE: i64 = 100;
/// An environment that cannot be stopped in time is tried again after this.
const POSTPONEMENT: Duration = Duration::hours(1);

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
        let some = forge.db.read(move |tx| {
            let groups = Members.groups_above(tx, project)?;
            tx.stale_environments(project, &groups, before, behind, AT_ONCE)
        });
        let some = some.await?;
        let Some(last) = some.last() else { return Ok(()) };
        behind = *last;
        for environment in some {
            stop_or_postpone(&forge, environment, StopReason::Stale { project, before }).await?;
        }
    }
}

pub(crate) async fn sweep_environments(forge: Forge, _: SweepEnvironments) -> Result<()> {
    loop {
        let due = forge.db.read(|tx| tx.overdue_environments(AT_ONCE)).await?;
        let is_last = i64::try_from(due.len()).is_ok_and(|found| found < AT_ONCE);
        for environment in due {
            stop_or_postpone(&forge, environment, StopReason::Overdue).await?;
        }
        if is_last {
            break;
        }
    }
    while forge.db.write(|tx| remove_outlived(tx, AT_ONCE)).await? {}
    Ok(())
}

/// Reasons for which environments are stopped automatically.
#[derive(Clone, Copy, Debug)]
enum StopReason {
    Overdue,
    /// Nothing was done to it since then.
    Stale {
        project: ProjectId,
        before: Ts,
    },
}

impl StopReason {
    /// Whether it still holds: since the environments were looked for, something may have been brought there.
    fn holds(self, tx: &mut Tx<'_>, environment: &Environment) -> Result<bool> {
        let id = environment.id;
        match self {
            Self::Overdue => {
                Ok(environment.state == EnvironmentState::Available
                    && environment.is_overdue(tx.now))
            }
            Self::Stale { project, before } => {
                let groups = Members.groups_above(tx, project)?;
                let behind = EnvironmentId(id.0 - 1);
                Ok(tx.stale_environments(project, &groups, before, behind, 1)? == [id])
            }
        }
    }
}

/// Stops an environment by its job, for whom that job is; at once where nobody is left who may let it begin. One that
/// cannot be stopped waits for another hour, so that the others need not wait for it.
async fn stop_or_postpone(forge: &Forge, id: EnvironmentId, reason: StopReason) -> Result<()> {
    let vault = forge.vault.clone();
    let stopped = forge.db.write(move |tx| match tx.hold_environment(id)? {
        Some(environment) if reason.holds(tx, &environment)? => {
            automatic_stop(tx, &vault, environment).map(Some)
        }
        Some(_) | None => Ok(None),
    });
    match stopped.await {
        Ok(Some(StopResult { pipeline: Some(pipeline), .. })) => {
            pipeline::run_now(forge, pipeline).await;
            Ok(())
        }
        Ok(_) => Ok(()),
        Err(failure) if failure.is_of_machine() => Err(failure),
        Err(failure) => {
            tracing::warn!(environment = %id, error = %failure, "an environment cannot be stopped");
            forge.db.write(move |tx| postpone(tx, id)).await
        }
    }
}

fn postpone(tx: &mut Tx<'_>, id: EnvironmentId) -> Result<()> {
    let found = tx.environments_by_id(&[id])?.pop();
    match found.filter(|environment| environment.is_overdue(tx.now)) {
        Some(found) => {
            let auto_stop_at = Some(tx.now.plus(POSTPONEMENT));
            tx.save_environment(&Environment { auto_stop_at, ..found })
        }
        None => Ok(()),
    }
}

fn automatic_stop(tx: &mut Tx<'_>, vault: &Vault, environment: Environment) -> Result<StopResult> {
    let Some(job) = stop_job(tx, &environment)? else {
        return match environment.state {
            EnvironmentState::Stopping => Ok(StopResult { environment, pipeline: None }),
            _ => stop_at_once(tx, environment),
        };
    };
    let project = IdOrPath::Id(environment.project_id.0);
    let person = match job.user_id {
        Some(user) => person_in_project(tx, user, &project)?,
        None => None,
    };
    let grant = person
        .and_then(|person| Grant::<UpdateJobs>::check(&person.who, Project(person.facts)).ok());
    let Some(grant) = grant else { return stop_at_once(tx, environment) };
    match stop_with(tx, vault, &grant, environment.clone(), &job) {
        Err(refused)
            if refused.is_plain(Kind::Forbidden)
                || refused.is_gone()
                || refused.has_reason(Kind::BadRequest) =>
        {
            stop_at_once(tx, environment)
        }
        stopped => stopped,
    }
}
