//! The ports of `ci`.

use std::collections::HashMap;

use ci::{
    job::Job,
    pipeline::PipelineRef,
    ports::{self, DeployRight, RefAccess},
    variable::VariableOwner,
};
use db::Tx;
use deployments::{
    deployment::{DeploymentStatus, jobs::of_job},
    environment::EnvironmentStore as _,
    protection::guard,
};
use kernel::{
    Result, Standing, Ts,
    ids::{MergeRequestId, ProjectId},
};
use org::{project::settings::SettingsStore, settings::store::SettingsStore as _};
use repo::protection::Protection;
use review::merge_request::MergeRequestStore as _;

use super::deployments::Members;
use crate::{deployment::outdated_deployments::is_outdated_job, settings::archived_before};

/// Project settings, from `org`.
#[derive(Clone, Copy, Debug)]
pub struct Projects;

impl ports::Projects for Projects {
    fn has_public_jobs(&self, tx: &mut Tx<'_>, project: ProjectId) -> Result<bool> {
        Ok(tx.project_settings(project)?.public_jobs)
    }

    fn restricts_variables(&self, tx: &mut Tx<'_>, project: ProjectId) -> Result<bool> {
        Ok(tx.project_settings(project)?.restrict_user_defined_variables)
    }
}

/// Plan limits, from `org`.
#[derive(Clone, Copy, Debug)]
pub struct PlanLimits;

impl ports::PlanLimits for PlanLimits {
    fn schedules(&self, tx: &mut Tx<'_>) -> Result<i64> {
        Ok(tx.settings()?.plan_limits.ci_pipeline_schedules)
    }

    fn triggers(&self, tx: &mut Tx<'_>) -> Result<i64> {
        Ok(tx.settings()?.plan_limits.pipeline_triggers)
    }

    fn variables(&self, tx: &mut Tx<'_>, home: VariableOwner) -> Result<i64> {
        let limits = tx.settings()?.plan_limits;
        Ok(match home {
            VariableOwner::Instance => limits.ci_instance_level_variables,
            VariableOwner::Group(_) => limits.group_ci_variables,
            VariableOwner::Project(_) => limits.project_ci_variables,
        })
    }
}

/// Protection of branches and tags, from `repo`.
#[derive(Clone, Copy, Debug)]
pub struct Refs;

impl ports::Refs for Refs {
    fn deploy_right(&self, tx: &mut Tx<'_>, who: &Standing, job: &Job) -> Result<DeployRight> {
        let Some(name) = &job.environment else { return Ok(DeployRight::Open) };
        let Some(environment) = tx.environment_named(job.project_id, name)? else {
            return Ok(DeployRight::Open);
        };
        Ok(match guard::deploy_right(tx, &Members, who, &environment)? {
            guard::DeployRight::Free => DeployRight::Open,
            guard::DeployRight::Deployer => DeployRight::Deployer,
            guard::DeployRight::Refused => DeployRight::Refused,
        })
    }

    fn is_outdated(&self, tx: &mut Tx<'_>, job: &Job) -> Result<bool> {
        Ok(!job.status.is_finished() && is_outdated_job(tx, job)?)
    }

    fn archived_before(&self, tx: &mut Tx<'_>) -> Result<Option<Ts>> {
        archived_before(tx)
    }

    fn awaits_approval(&self, tx: &mut Tx<'_>, job: &Job) -> Result<bool> {
        if job.environment.is_none() {
            return Ok(false);
        }
        let deployment = of_job(tx, job.id)?;
        Ok(deployment.is_some_and(|found| found.status == DeploymentStatus::Blocked))
    }

    fn guarded_places(
        &self,
        tx: &mut Tx<'_>,
        who: &Standing,
        project: ProjectId,
        places: &[PipelineRef],
    ) -> Result<Vec<RefAccess>> {
        let rules = Protection::load(tx, who, project)?;
        let access = |place: &PipelineRef| {
            if place.tag {
                let tag = rules.tag(&place.name);
                RefAccess { protected: tag.is_protected(), open: tag.may_create() }
            } else {
                let branch = rules.branch(&place.name);
                let open = branch.may_push() || branch.may_merge();
                RefAccess { protected: branch.is_protected(), open }
            }
        };
        Ok(places.iter().map(access).collect())
    }

    fn source_branches(
        &self,
        tx: &mut Tx<'_>,
        ids: &[MergeRequestId],
    ) -> Result<HashMap<MergeRequestId, String>> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let rows = tx.merge_requests_in_order(&ids)?;
        Ok(rows.into_iter().map(|row| (row.id, row.source_branch)).collect())
    }
}
