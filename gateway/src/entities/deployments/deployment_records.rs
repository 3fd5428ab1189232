//! The records of deployments: what several domains know of them, loaded once for all of a page.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use ci::job::JobListStore as _;
use db::Tx;
use deployments::{
    approval::actions::state,
    deployment::Deployment,
    environment::{Environment, EnvironmentStore as _},
};
use forge::{ports::deployments::Members, urls::Urls};
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
        ci::{job::JobEntity, job_records::JobPage},
        org::brief_user::BriefUser,
    },
};

/// What records of deployments tell beside them.
struct DeploymentContext {
    environments: HashMap<EnvironmentId, Environment>,
    people: HashMap<UserId, User>,
    jobs: JobPage,
}

/// Records of all deployments of a page, which `list` reads in the transaction that reads what is told beside them.
pub async fn present(
    app: &App,
    facts: &Arc<ProjectFacts>,
    reader: Actor,
    list: impl FnOnce(&mut Tx<'_>) -> Result<Page<Deployment>> + Clone + Send + 'static,
) -> Result<Page<DeploymentEntity>> {
    let (urls, of) = (app.urls.clone(), Arc::clone(facts));
    let read = app.db.read(move |tx| {
        let deployments = list(tx)?;
        let around = around(tx, &urls, &of, reader, &deployments.items)?;
        Ok((deployments, around))
    });
    let (deployments, around) = read.await?;
    let shown = around.jobs.present(app, facts, JobEntity::new).await?;
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
    present(app, facts, reader, |_| Ok(page)).await?.items.pop().ok_or(Error::missing())
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

fn around(
    tx: &mut Tx<'_>,
    urls: &Urls,
    facts: &ProjectFacts,
    reader: Actor,
    deployments: &[Deployment],
) -> Result<DeploymentContext> {
    let environments: BTreeSet<EnvironmentId> =
        deployments.iter().map(|one| one.environment_id).collect();
    let people: BTreeSet<UserId> = deployments.iter().filter_map(|one| one.user_id).collect();
    let jobs: Vec<i64> = deployments.iter().filter_map(|one| Some(one.job_id?.0)).collect();
    let environments = tx.environments_by_id(&Vec::from_iter(environments))?;
    let jobs = Page { items: tx.jobs_by_id(&jobs)?, total: Total::Uncounted { more: false } };
    Ok(DeploymentContext {
        environments: environments.into_iter().map(|one| (one.id, one)).collect(),
        people: tx.users_by_id(&Vec::from_iter(people))?,
        jobs: JobPage::read(tx, urls, facts, reader, jobs)?,
    })
}
