//! The records of deployments: what several domains know of them, loaded once for all of a page.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use ci::job::{Job, JobListStore as _};
use db::Tx;
use deployments::{
    approval::actions::state,
    deployment::Deployment,
    environment::{Environment, EnvironmentStore as _},
};
use forge::ports::deployments::Members;
use kernel::{
    Actor, Error, Result,
    access::ProjectFacts,
    ids::{EnvironmentId, UserId},
    page::{Page, PageRequest, Total},
};
use org::user::{User, store::UserStore as _};

use super::{
    deployment::DeploymentEntity,
    deployment_approval::{DeploymentApprovalsEntity, DeploymentDetailEntity},
};
use crate::{
    app::App,
    entities::{
        ci::{job::JobEntity, job_records},
        org::brief_user::BriefUser,
    },
};

/// What records of deployments tell beside them.
struct DeploymentContext {
    environments: HashMap<EnvironmentId, Environment>,
    people: HashMap<UserId, User>,
    jobs: Vec<Job>,
}

/// Records of all deployments of a page, by a fixed number of statements.
pub async fn present(
    app: &App,
    facts: &Arc<ProjectFacts>,
    reader: Actor,
    deployments: Page<Deployment>,
) -> Result<Page<DeploymentEntity>> {
    let own = deployments.items.clone();
    let around = app.db.read(move |tx| around(tx, &own)).await?;
    let jobs = Page { items: around.jobs, total: Total::Uncounted { more: false } };
    let shown = job_records::present(app, facts, reader, jobs, JobEntity::new).await?;
    let mut jobs: HashMap<i64, JobEntity> =
        shown.items.into_iter().map(|job| (job.basic.id, job)).collect();
    Ok(deployments.map(|deployment| {
        let user = deployment.user_id.and_then(|id| around.people.get(&id));
        let user = user.map(|user| BriefUser::new(&app.urls, user));
        let environment = around.environments.get(&deployment.environment_id).map(Into::into);
        let job = deployment.job_id.and_then(|id| jobs.remove(&id.0));
        DeploymentEntity::new(deployment, user, environment, job)
    }))
}

/// The record of one deployment.
pub async fn present_one(
    app: &App,
    facts: &Arc<ProjectFacts>,
    reader: Actor,
    deployment: Deployment,
) -> Result<DeploymentEntity> {
    let page = PageRequest::default().slice(vec![deployment]);
    present(app, facts, reader, page).await?.items.pop().ok_or(Error::missing())
}

/// As [`present_one`], with its approvals.
pub async fn present_detail(
    app: &App,
    facts: &Arc<ProjectFacts>,
    reader: Actor,
    deployment: Deployment,
) -> Result<DeploymentDetailEntity> {
    let (own, urls) = (deployment.clone(), app.urls.clone());
    let approval = app.db.read(move |tx| {
        let state = state(tx, &Members, &own)?;
        DeploymentApprovalsEntity::new(tx, &urls, &state)
    });
    let approval = approval.await?;
    let basic = present_one(app, facts, reader, deployment).await?;
    Ok(DeploymentDetailEntity { basic, approval })
}

fn around(tx: &mut Tx<'_>, deployments: &[Deployment]) -> Result<DeploymentContext> {
    let environments: BTreeSet<EnvironmentId> =
        deployments.iter().map(|one| one.environment_id).collect();
    let people: BTreeSet<UserId> = deployments.iter().filter_map(|one| one.user_id).collect();
    let jobs: Vec<i64> = deployments.iter().filter_map(|one| Some(one.job_id?.0)).collect();
    let environments = tx.environments_by_id(&Vec::from_iter(environments))?;
    Ok(DeploymentContext {
        environments: environments.into_iter().map(|one| (one.id, one)).collect(),
        people: tx.users_by_id(&Vec::from_iter(people))?,
        jobs: tx.jobs_by_id(&jobs)?,
    })
}
