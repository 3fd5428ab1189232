//! Loaders of environments and deployments.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use db::Tx;
use deployments::{
    approval::{
        ApprovalState,
        actions::{is_approver, states},
    },
    deployment::{Deployment, DeploymentStatus, DeploymentStore as _},
    environment::{Environment, EnvironmentStore as _},
    protection::{
        Protection,
        guard::{open_to, protections_of_each},
    },
};
use forge::ports::deployments::Members;
use kernel::{
    Actor, Result, TextEnum as _,
    ids::{DeploymentId, EnvironmentId, ProjectId},
};
use org::access::locate_projects;
use security::alert::{Alert, AlertStore as _};

use crate::{context::Context, loaders::BatchLoader};

/// The loaders of environments and deployments.
pub(super) struct DeploymentLoaders {
    /// Whether the caller may see them is not asked.
    pub environments: BatchLoader<EnvironmentId, Environment>,
    /// The last deployment with a status to an environment.
    pub last: BatchLoader<(EnvironmentId, DeploymentStatus), Deployment>,
    /// How far the approvals of a deployment are.
    pub approvals: BatchLoader<DeploymentId, Arc<ApprovalState>>,
    /// Environments to which the caller may deploy, as far as protections say it.
    pub open: BatchLoader<EnvironmentId, ()>,
    /// Environments deployments to which the caller may approve, as far as protections say it.
    pub approvers: BatchLoader<EnvironmentId, ()>,
    /// What protects an environment.
    pub protections: BatchLoader<EnvironmentId, Arc<Vec<Protection>>>,
    /// The most severe alert of an environment that is not resolved.
    pub alerts: BatchLoader<EnvironmentId, Arc<Alert>>,
}

impl DeploymentLoaders {
    /// The loaders of this request.
    pub(super) fn of(context: &Context) -> Arc<Self> {
        let actor = context.actor();
        context.loaders.of(|db| Self {
            environments: BatchLoader::new(db, |tx, ids| {
                Ok(tx.environments_by_id(ids)?.into_iter().map(|one| (one.id, one)).collect())
            }),
            last: BatchLoader::new(db, |tx, keys: &[(EnvironmentId, DeploymentStatus)]| {
                let mut found = HashMap::new();
                for status in DeploymentStatus::ALL {
                    let ids = keys.iter().filter(|(_, wanted)| wanted == status);
                    let ids: Vec<EnvironmentId> = ids.map(|(id, _)| *id).collect();
                    for (id, one) in tx.last_deployments(&ids, *status)? {
                        found.insert((id, *status), one);
                    }
                }
                Ok(found)
            }),
            approvals: BatchLoader::new(db, |tx, ids| {
                let rows: Vec<Deployment> = tx.deployments_by_id(ids)?.into_values().collect();
                let found = states(tx, &Members, &rows)?.into_iter();
                Ok(found.map(|(id, state)| (id, Arc::new(state))).collect())
            }),
            open: BatchLoader::new(db, move |tx, ids| {
                let mut by_project = by_project(tx, ids)?;
                let projects: Vec<ProjectId> = by_project.keys().copied().collect();
                let mut found = HashMap::new();
                for (project, who) in locate_projects(tx, actor, &projects)? {
                    let own = by_project.remove(&project.0.id).unwrap_or_default();
                    let open = open_to(tx, &Members, &who, project.0.id, &own)?;
                    let open = own.iter().zip(open).filter(|(_, open)| *open);
                    found.extend(open.map(|(one, _)| (one.id, ())));
                }
                Ok(found)
            }),
            approvers: BatchLoader::new(db, move |tx, ids| approvers(tx, actor, ids)),
            protections: BatchLoader::new(db, protections),
            alerts: BatchLoader::new(db, |tx, ids| {
                let mut worst: HashMap<EnvironmentId, Arc<Alert>> = HashMap::new();
                for alert in tx.open_alerts_of(ids)? {
                    let Some(id) = alert.environment_id else { continue };
                    // The list of severities begins with the worst.
                    let known = worst.get(&id).is_some_and(|one| one.severity <= alert.severity);
                    if !known {
                        worst.insert(id, Arc::new(alert));
                    }
                }
                Ok(worst)
            }),
        })
    }
}

/// Environments by their projects.
fn by_project(
    tx: &mut Tx<'_>,
    ids: &[EnvironmentId],
) -> Result<BTreeMap<ProjectId, Vec<Environment>>> {
    let mut all: BTreeMap<ProjectId, Vec<Environment>> = BTreeMap::new();
    for one in tx.environments_by_id(ids)? {
        all.entry(one.project_id).or_default().push(one);
    }
    Ok(all)
}

fn approvers(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[EnvironmentId],
) -> Result<HashMap<EnvironmentId, ()>> {
    let mut by_project = by_project(tx, ids)?;
    let projects: Vec<ProjectId> = by_project.keys().copied().collect();
    let mut found = HashMap::new();
    for (project, who) in locate_projects(tx, actor, &projects)? {
        let own = by_project.remove(&project.0.id).unwrap_or_default();
        let all = protections_of_each(tx, &Members, project.0.id, &own)?;
        for (one, protections) in own.iter().zip(all) {
            if is_approver(tx, &Members, &who, &protections)? {
                found.insert(one.id, ());
            }
        }
    }
    Ok(found)
}

fn protections(
    tx: &mut Tx<'_>,
    ids: &[EnvironmentId],
) -> Result<HashMap<EnvironmentId, Arc<Vec<Protection>>>> {
    let mut found = HashMap::new();
    for (project, own) in by_project(tx, ids)? {
        let all = protections_of_each(tx, &Members, project, &own)?.into_iter();
        found.extend(own.iter().zip(all).map(|(one, all)| (one.id, Arc::new(all))));
    }
    Ok(found)
}
