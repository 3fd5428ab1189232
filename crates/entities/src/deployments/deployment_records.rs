//! The records of deployments: what several domains know of them, loaded once for all of a page.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use ci::{job::JobListStore as _, pipeline::actions::is_shown, policy::ReadJobs};
use db::Tx;
use deployments::{
    approval::actions::state,
    deployment::Deployment,
    environment::{Environment, EnvironmentStore as _},
};
use forge::{
    Forge,
    ports::{ci::Projects, deployments::Members},
    urls::Urls,
};
use kernel::{
    Ability, Actor, Error, Grant, Result,
    access::{Project, ProjectFacts},
    ids::{EnvironmentId, UserId},
    page::{Page, PageRequest, Total},
};
use org::user::{UserSummary, store::UserStore as _};

use super::{
    deployment::DeploymentEntity,
    deployment_approval::{DeploymentApprovalsEntity, DeploymentDetailEntity},
    environment::EnvironmentBasicEntity,
    shared_json::SharedJson,
};
use crate::{
    ci::{job::JobEntity, job_records::JobPage},
    org::brief_user::BriefUser,
};

/// What records of deployments tell beside them.
struct DeploymentContext {
    environments: HashMap<EnvironmentId, SharedJson>,
    people: HashMap<UserId, SharedJson>,
    jobs: JobPage,
}

/// Who reads deployments, and whether they may read the jobs that made them.
#[derive(Clone, Debug)]
pub struct DeploymentReader {
    actor: Actor,
    jobs: Option<Grant<ReadJobs>>,
}

impl<A: Ability<Scope = Project>> From<&Grant<A>> for DeploymentReader {
    fn from(grant: &Grant<A>) -> Self {
        Self { actor: grant.actor(), jobs: grant.also().ok() }
    }
}

impl DeploymentReader {
    fn reads_jobs(&self, tx: &mut Tx<'_>) -> Result<bool> {
        match &self.jobs {
            Some(grant) => is_shown(tx, &Projects, grant.who(), grant.project()),
            None => Ok(false),
        }
    }
}

/// Records of all deployments of a page, which `list` reads in the transaction that reads what is told beside them.
pub async fn present(
    forge: &Forge,
    facts: &Arc<ProjectFacts>,
    reader: DeploymentReader,
    list: impl FnOnce(&mut Tx<'_>) -> Result<Page<Deployment>> + Clone + Send + 'static,
) -> Result<Page<DeploymentEntity>> {
    let (urls, of) = (forge.urls.clone(), Arc::clone(facts));
    let read = forge.db.read(move |tx| {
        let deployments = list(tx)?;
        let around = around(tx, &urls, &of, &reader, &deployments.items)?;
        Ok((deployments, around))
    });
    let (deployments, around) = read.await?;
    records(forge, facts, deployments, around).await
}

async fn records(
    forge: &Forge,
    facts: &ProjectFacts,
    deployments: Page<Deployment>,
    around: DeploymentContext,
) -> Result<Page<DeploymentEntity>> {
    let DeploymentContext { environments, people, jobs } = around;
    let shown = jobs.present(forge, facts, JobEntity::new).await?;
    let mut jobs: HashMap<i64, Box<JobEntity>> =
        shown.items.into_iter().map(|job| (job.basic.id, Box::new(job))).collect();
    Ok(deployments.map(|deployment| {
        let user = deployment.user_id.and_then(|id| people.get(&id)).cloned();
        let environment = environments.get(&deployment.environment_id).cloned();
        let job = deployment.job_id.and_then(|id| jobs.remove(&id.0));
        DeploymentEntity::new(deployment, user, environment, job)
    }))
}

/// The record of one deployment.
pub async fn present_one(
    forge: &Forge,
    facts: &Arc<ProjectFacts>,
    reader: DeploymentReader,
    deployment: Deployment,
) -> Result<DeploymentEntity> {
    let page = PageRequest::default().slice(vec![deployment]);
    present(forge, facts, reader, |_| Ok(page)).await?.items.pop().ok_or_else(Error::missing)
}

/// The record of the deployment that `find` reads, with its approvals; all is read in one transaction.
pub async fn present_detail(
    forge: &Forge,
    facts: &Arc<ProjectFacts>,
    reader: DeploymentReader,
    find: impl FnOnce(&mut Tx<'_>) -> Result<Deployment> + Clone + Send + 'static,
) -> Result<DeploymentDetailEntity> {
    let (urls, of) = (forge.urls.clone(), Arc::clone(facts));
    let read = forge.db.read(move |tx| {
        let deployment = find(tx)?;
        let state = state(tx, &Members, &deployment)?;
        let approval = DeploymentApprovalsEntity::new(tx, &urls, &state)?;
        let around = around(tx, &urls, &of, &reader, std::slice::from_ref(&deployment))?;
        Ok((deployment, around, approval))
    });
    let (deployment, around, approval) = read.await?;
    let page = PageRequest::default().slice(vec![deployment]);
    let basic =
        records(forge, facts, page, around).await?.items.pop().ok_or_else(Error::missing)?;
    Ok(DeploymentDetailEntity { basic, approval })
}

fn around(
    tx: &mut Tx<'_>,
    urls: &Urls,
    facts: &ProjectFacts,
    reader: &DeploymentReader,
    deployments: &[Deployment],
) -> Result<DeploymentContext> {
    let reads_jobs = reader.reads_jobs(tx)?;
    let jobs = deployments.iter().filter(|_| reads_jobs);
    let jobs: Vec<i64> = jobs.filter_map(|one| Some(one.job_id?.0)).collect();
    let jobs = Page { items: tx.jobs_by_id(&jobs)?, total: Total::Uncounted { more: false } };
    Ok(DeploymentContext {
        environments: environments(tx, deployments)?,
        people: people(tx, urls, deployments)?,
        jobs: JobPage::read(tx, urls, facts, reader.actor, jobs)?,
    })
}

fn environments(
    tx: &mut Tx<'_>,
    deployments: &[Deployment],
) -> Result<HashMap<EnvironmentId, SharedJson>> {
    let ids: BTreeSet<EnvironmentId> = deployments.iter().map(|one| one.environment_id).collect();
    let rows = tx.environments_by_id(&Vec::from_iter(ids))?;
    let shown =
        |row: &Environment| Ok((row.id, SharedJson::new(&EnvironmentBasicEntity::from(row))?));
    rows.iter().map(shown).collect()
}

fn people(
    tx: &mut Tx<'_>,
    urls: &Urls,
    deployments: &[Deployment],
) -> Result<HashMap<UserId, SharedJson>> {
    let ids: BTreeSet<UserId> = deployments.iter().filter_map(|one| one.user_id).collect();
    let rows = tx.summaries_by_id(&Vec::from_iter(ids))?;
    let shown = |row: &UserSummary| Ok((row.id, SharedJson::new(&BriefUser::of(urls, row))?));
    rows.values().map(shown).collect()
}
