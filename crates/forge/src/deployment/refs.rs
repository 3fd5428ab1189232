//! Refs that keep the commits of deployments.

use deployments::{
    deployment::Deployment,
    environment::{Environment, is_slug},
};
use kernel::{Error, Result, ids::ProjectId};
use repo::{
    git::{
        Oid, RefName,
        refs::{self, RefMove},
    },
    push::InternalMove,
};
use serde::{Deserialize, Serialize};
use worker::Job;

use crate::Forge;

const ENVIRONMENTS: &str = "refs/environments/";
const DEPLOYMENTS: &str = "/deployments/";

fn folder(slug: &str) -> String {
    format!("{ENVIRONMENTS}{slug}{DEPLOYMENTS}")
}

/// Whether a ref of this full name keeps the commit of a deployment.
pub(crate) fn is_deployment_ref(name: &str) -> bool {
    let parts = name.strip_prefix(ENVIRONMENTS).and_then(|rest| rest.split_once(DEPLOYMENTS));
    parts.is_some_and(|(slug, iid)| {
        let number = iid.parse::<i64>().ok().filter(|number| *number > 0);
        is_slug(slug) && number.is_some_and(|number| number.to_string() == iid)
    })
}

/// Keeps the commit of a deployment, whatever becomes of its branch.
pub(super) async fn keep_ref(
    forge: &Forge,
    deployment: &Deployment,
    environment: &Environment,
) -> Result<()> {
    let Ok(commit) = deployment.sha.parse::<Oid>() else { return Ok(()) };
    let there = forge.git_read(deployment.project_id, move |reader| Ok(reader.has(commit))).await?;
    if !there {
        return Ok(());
    }
    let repository = forge.storage.repository(deployment.project_id);
    let name = RefName::full(format!("{}{}", folder(&environment.slug), deployment.iid))?;
    if refs::read(&repository, [&name]).await?.contains_key(&name) {
        return Ok(());
    }
    let kept = RefMove { name, old: None.into(), new: Some(commit) };
    match forge.move_own(deployment.project_id, vec![kept]).await? {
        InternalMove::Done => Ok(()),
        // Somebody else kept it in this moment.
        InternalMove::Stale(Some(actual)) if actual == commit => Ok(()),
        InternalMove::Stale(_) => Err(moved_meanwhile()),
    }
}

/// Somebody else has moved a ref; the work is done again.
fn moved_meanwhile() -> Error {
    Error::conflict().whole("a ref of a deployment has moved")
}

/// Lets go of the commits of deployments that were removed.
#[derive(Debug, Serialize, Deserialize)]
pub struct DropDeploymentRefs {
    project: ProjectId,
    slug: String,
    /// One deployment; `None` for all of the environment.
    iid: Option<i64>,
}

impl Job for DropDeploymentRefs {
    const KIND: &'static str = "deployment.drop_refs";

    fn unique_key(&self) -> Option<String> {
        let iid = self.iid.unwrap_or_default();
        Some(format!("{}:{}:{iid}", self.project, self.slug))
    }
}

impl DropDeploymentRefs {
    pub(super) fn of_deployment(project: ProjectId, slug: &str, iid: i64) -> Self {
        Self { project, slug: slug.to_owned(), iid: Some(iid) }
    }

    pub(super) fn of_environment(project: ProjectId, slug: &str) -> Self {
        Self { project, slug: slug.to_owned(), iid: None }
    }
}

pub(crate) async fn drop_refs(forge: Forge, work: DropDeploymentRefs) -> Result<()> {
    if !forge.storage.exists(work.project) {
        return Ok(());
    }
    let folder = folder(&work.slug);
    let wanted = work.iid.map(|iid| format!("{folder}{iid}"));
    let found = forge.git_read(work.project, move |reader| {
        let is_wanted = |name: &str| match &wanted {
            Some(wanted) => name == wanted,
            None => name.starts_with(&folder),
        };
        let all = reader.all_refs()?.into_iter();
        let names = all.filter(|found| is_wanted(&found.name.to_string())).map(|found| found.name);
        Ok(names.collect::<Vec<RefName>>())
    });
    let names = found.await?;
    let repository = forge.storage.repository(work.project);
    let now = refs::read(&repository, &names).await?;
    let gone: Vec<RefMove> = now
        .into_iter()
        .map(|(name, old)| RefMove { name, old: Some(old).into(), new: None })
        .collect();
    if gone.is_empty() {
        return Ok(());
    }
    match forge.move_own(work.project, gone).await? {
        InternalMove::Done => Ok(()),
        InternalMove::Stale(_) => Err(moved_meanwhile()),
    }
}
