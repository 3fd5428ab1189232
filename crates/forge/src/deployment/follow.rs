//! Effects of a deployment: its commit is kept, and merge requests record it.

use std::time::Duration;

use db::Tx;
use deployments::{
    Event,
    deployment::{Deployment, DeploymentStatus, DeploymentStore as _},
    environment::{Environment, EnvironmentStore as _},
};
use kernel::{
    Result,
    ids::{DeploymentId, MergeRequestId},
};
use repo::{
    commit::read::deadline,
    git::{LogQuery, Oid},
};
use review::merge_request::MergedStore as _;
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

use super::refs::{DropDeploymentRefs, keep_ref};
use crate::Forge;

/// So many commits of one deployment are looked at.
const COMMITS: usize = 10_000;
/// So many merge requests are linked by the first deployment to an environment.
const FIRST_LINKS: i64 = 10_000;
/// How long somebody waits for what follows from the deployment that they report.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// What git writes below the message of a commit that was picked.
const PICKED: &str = "(cherry picked from commit ";

/// Keeps the commit of a deployment, and links the merge requests that it brought.
#[derive(Debug, Serialize, Deserialize)]
pub struct FollowDeployment {
    deployment: DeploymentId,
}

impl Job for FollowDeployment {
    const KIND: &'static str = "deployment.follow";

    fn unique_key(&self) -> Option<String> {
        Some(self.deployment.to_string())
    }
}

/// In the transaction in which something happened to an environment or a deployment.
pub(crate) fn follow(tx: &mut Tx<'_>, fact: &Event) -> Result<()> {
    match fact {
        Event::DeploymentChanged { deployment, status, .. } => match status {
            DeploymentStatus::Created | DeploymentStatus::Skipped | DeploymentStatus::Blocked => {
                Ok(())
            }
            DeploymentStatus::Running
            | DeploymentStatus::Success
            | DeploymentStatus::Failed
            | DeploymentStatus::Canceled => {
                tx.enqueue(&FollowDeployment { deployment: *deployment })
            }
        },
        Event::DeploymentRemoved { project, slug, iid } => {
            tx.enqueue(&DropDeploymentRefs::of_deployment(*project, slug, *iid))
        }
        Event::EnvironmentRemoved { project, slug, .. } => {
            tx.enqueue(&DropDeploymentRefs::of_environment(*project, slug))
        }
        Event::EnvironmentChanged { .. } => Ok(()),
    }
}

/// Does what follows from a deployment before whoever reports it is answered; what takes long goes on without them.
pub async fn run_now(forge: &Forge, deployment: DeploymentId) {
    let own = forge.clone();
    let keys = vec![format!("{}:{deployment}", FollowDeployment::KIND)];
    let done = db::spawn(async move { own.worker().run_now(keys).await });
    match tokio::time::timeout(LONGEST_WAIT, done).await {
        Ok(Ok(Ok(()))) => {}
        Err(_elapsed) => tracing::info!(%deployment, "a deployment is still followed"),
        Ok(failed) => tracing::warn!(%deployment, ?failed, "a deployment is left to the queue"),
    }
}

pub(crate) async fn follow_deployment(forge: Forge, work: FollowDeployment) -> Result<()> {
    let found = forge.db.read(move |tx| loaded(tx, work.deployment)).await?;
    let Some((deployment, environment, previous)) = found else { return Ok(()) };
    if !forge.storage.exists(deployment.project_id) {
        return Ok(());
    }
    keep_ref(&forge, &deployment, &environment).await?;
    if deployment.status != DeploymentStatus::Success {
        return Ok(());
    }
    let brought = match &previous {
        Some(previous) => brought(&forge, &deployment, previous).await?,
        None => None,
    };
    forge.db.write(move |tx| link(tx, &deployment, brought.as_deref())).await
}

type DeploymentRows = (Deployment, Environment, Option<Deployment>);

fn loaded(tx: &mut Tx<'_>, id: DeploymentId) -> Result<Option<DeploymentRows>> {
    let Some(deployment) = tx.any_deployment(id)? else { return Ok(None) };
    let environment = tx.environment(deployment.project_id, deployment.environment_id)?;
    let previous = tx.previous_deployment(&deployment)?;
    Ok(environment.map(|environment| (deployment, environment, previous)))
}

/// The commits that are in a deployment and not in the one before, and those that were picked for it; `None` where one of
/// the two is not there any more.
async fn brought(
    forge: &Forge,
    deployment: &Deployment,
    previous: &Deployment,
) -> Result<Option<Vec<String>>> {
    let (tip, base): (Oid, Oid) = match (deployment.sha.parse(), previous.sha.parse()) {
        (Ok(tip), Ok(base)) => (tip, base),
        _ => return Ok(None),
    };
    let read = forge.git_read(deployment.project_id, move |reader| {
        if !reader.has(tip) || !reader.has(base) {
            return Ok(None);
        }
        let query = LogQuery { exclude: vec![base], take: COMMITS, ..LogQuery::of(tip) };
        let commits = reader.log(&query, deadline())?;
        let picked = commits.iter().filter_map(|commit| picked(&commit.message));
        let picked: Vec<String> = picked.collect();
        let own = commits.iter().map(|commit| commit.id.to_string());
        Ok(Some(own.chain(picked).collect()))
    });
    read.await
}

/// The commit that was picked, as the message of the new one tells.
fn picked(message: &str) -> Option<String> {
    let (_, rest) = message.rsplit_once(PICKED)?;
    let (sha, _) = rest.split_once(')')?;
    let is_id = sha.len() == 40 && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| sha.to_owned())
}

/// Without a deployment before it, whatever was merged into its branch came with it.
fn link(tx: &mut Tx<'_>, deployment: &Deployment, brought: Option<&[String]>) -> Result<()> {
    let found: Vec<MergeRequestId> = match brought {
        Some(shas) => tx.merged_by_commits(deployment.project_id, shas)?,
        None => tx.merged_into(deployment.project_id, &deployment.ref_name, FIRST_LINKS)?,
    };
    tx.link_merge_requests(deployment, &found)
}

#[cfg(test)]
mod tests {
    use super::picked;

    #[test]
    fn the_message_of_a_picked_commit_names_the_first_one() {
        let id = "a".repeat(40);
        let message = format!("Mend it\n\n(cherry picked from commit {id})\n");
        assert_eq!(picked(&message), Some(id));
        assert_eq!(picked("(cherry picked from commit main)"), None);
        assert_eq!(picked("Mend it"), None);
    }
}
