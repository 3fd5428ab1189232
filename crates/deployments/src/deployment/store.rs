//! Deployments in the database.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx,
    archive::ensure_number,
    each_backend, error, listing,
    schema::{
        deployed_merge_requests as links, deployment_numbers as numbers, deployments, environments,
    },
};
use diesel::{dsl::min, prelude::*};
use kernel::{
    Result, Ts,
    ids::{DeploymentId, EnvironmentId, JobId, MergeRequestId, ProjectId, UserId},
};

use super::{Deployment, DeploymentStatus};
use crate::environment::Tier;

const NOUN: &str = "Deployment";
/// So many links are made by one statement.
const AT_ONCE: usize = 200;

pub trait DeploymentStore {
    fn deployment(&mut self, project: ProjectId, id: DeploymentId) -> Result<Option<Deployment>>;
    /// A deployment of whatever project.
    fn any_deployment(&mut self, id: DeploymentId) -> Result<Option<Deployment>>;
    fn deployments_by_id(
        &mut self,
        ids: &[DeploymentId],
    ) -> Result<HashMap<DeploymentId, Deployment>>;
    fn deployments_of_jobs(&mut self, jobs: &[JobId]) -> Result<Vec<Deployment>>;
    /// The deployment with this number in its project.
    fn deployment_numbered(&mut self, project: ProjectId, iid: i64) -> Result<Option<Deployment>>;
    /// The last deployment with this status to each of these environments, by one statement.
    fn last_deployments(
        &mut self,
        environments: &[EnvironmentId],
        status: DeploymentStatus,
    ) -> Result<HashMap<EnvironmentId, Deployment>>;
    /// The last deployment to an environment.
    fn last_deployment(&mut self, environment: EnvironmentId) -> Result<Option<Deployment>>;
    /// What was to be brought to an environment before anything else.
    fn first_deployment(&mut self, environment: EnvironmentId) -> Result<Option<Deployment>>;
    /// The deployment before this one.
    fn previous_deployment(&mut self, deployment: &Deployment) -> Result<Option<Deployment>>;
    /// With the next number of its project.
    fn insert_deployment(&mut self, deployment: &Deployment) -> Result<Deployment>;
    fn save_deployment(&mut self, deployment: &Deployment) -> Result<()>;
    fn delete_deployment(&mut self, id: DeploymentId) -> Result<()>;
    /// Makes it known that a deployment brought these merge requests, as far as they were not there before.
    fn link_merge_requests(
        &mut self,
        deployment: &Deployment,
        merge_requests: &[MergeRequestId],
    ) -> Result<()>;
    /// When merge requests were first brought to production.
    fn first_production(
        &mut self,
        merge_requests: &[MergeRequestId],
    ) -> Result<HashMap<MergeRequestId, Ts>>;
    /// Makes deployments of somebody's the heir's, so many at most. Tells whether there may be more.
    fn reassign_deployments(
        &mut self,
        from: UserId,
        heir: Option<UserId>,
        most: i64,
    ) -> Result<bool>;
}

fn next_number(tx: &mut Tx<'_>, project: ProjectId) -> Result<i64> {
    let next: i64 = each_backend!(tx, |conn| diesel::insert_into(numbers::table)
        .values((numbers::project_id.eq(project), numbers::last.eq(1)))
        .on_conflict(numbers::project_id)
        .do_update()
        .set(numbers::last.eq(numbers::last + 1))
        .returning(numbers::last)
        .get_result(conn)
        .map_err(error(NOUN)))?;
    ensure_number(next)
}

impl DeploymentStore for Tx<'_> {
    fn deployment(&mut self, project: ProjectId, id: DeploymentId) -> Result<Option<Deployment>> {
        Ok(self.any_deployment(id)?.filter(|found| found.project_id == project))
    }

    fn any_deployment(&mut self, id: DeploymentId) -> Result<Option<Deployment>> {
        each_backend!(self, |conn| deployments::table
            .find(id)
            .select(Deployment::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn deployments_by_id(
        &mut self,
        ids: &[DeploymentId],
    ) -> Result<HashMap<DeploymentId, Deployment>> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let rows: Vec<Deployment> = each_backend!(self, |conn| deployments::table
            .filter(deployments::id.one_of(ids))
            .select(Deployment::as_select())
            .load(conn)
            .map_err(error(NOUN)))?;
        Ok(rows.into_iter().map(|row| (row.id, row)).collect())
    }

    fn deployments_of_jobs(&mut self, jobs: &[JobId]) -> Result<Vec<Deployment>> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        each_backend!(self, |conn| deployments::table
            .filter(deployments::job_id.one_of(jobs))
            .order(deployments::id)
            .select(Deployment::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn deployment_numbered(&mut self, project: ProjectId, iid: i64) -> Result<Option<Deployment>> {
        let numbered = deployments::project_id.eq(project).and(deployments::iid.eq(iid));
        each_backend!(self, |conn| deployments::table
            .filter(numbered)
            .select(Deployment::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn last_deployments(
        &mut self,
        environments: &[EnvironmentId],
        status: DeploymentStatus,
    ) -> Result<HashMap<EnvironmentId, Deployment>> {
        if environments.is_empty() {
            return Ok(HashMap::new());
        }
        let ids: Vec<i64> = environments.iter().map(|id| id.0).collect();
        let sql = format!(
            "SELECT ranked.id AS id FROM (SELECT d.id AS id, ROW_NUMBER() OVER (PARTITION BY d.environment_id \
             ORDER BY d.finished_at DESC, d.id DESC) AS place FROM deployments d \
             WHERE d.environment_id IN ({}) AND d.status = '{status}') AS ranked WHERE ranked.place = 1",
            listing::list_of(&ids)
        );
        let last: Vec<DeploymentId> =
            listing::ids(self, &sql, &[])?.into_iter().map(DeploymentId).collect();
        let found = self.deployments_by_id(&last)?;
        Ok(found.into_values().map(|one| (one.environment_id, one)).collect())
    }

    fn last_deployment(&mut self, environment: EnvironmentId) -> Result<Option<Deployment>> {
        let there = deployments::environment_id.eq(environment);
        each_backend!(self, |conn| deployments::table
            .filter(there.and(deployments::status.eq(DeploymentStatus::Success)))
            .order((deployments::finished_at.desc(), deployments::id.desc()))
            .select(Deployment::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn first_deployment(&mut self, environment: EnvironmentId) -> Result<Option<Deployment>> {
        each_backend!(self, |conn| deployments::table
            .filter(deployments::environment_id.eq(environment))
            .order(deployments::id)
            .select(Deployment::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn previous_deployment(&mut self, deployment: &Deployment) -> Result<Option<Deployment>> {
        let there = deployments::environment_id.eq(deployment.environment_id);
        let id = deployment.id;
        each_backend!(self, |conn| deployments::table
            .filter(there.and(deployments::status.eq(DeploymentStatus::Success)))
            .filter(deployments::id.lt(id))
            .order(deployments::id.desc())
            .select(Deployment::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn insert_deployment(&mut self, deployment: &Deployment) -> Result<Deployment> {
        let iid = next_number(self, deployment.project_id)?;
        let row = (
            deployments::project_id.eq(deployment.project_id),
            deployments::environment_id.eq(deployment.environment_id),
            deployments::iid.eq(iid),
            deployments::ref_name.eq(&deployment.ref_name),
            deployments::tag.eq(deployment.tag),
            deployments::sha.eq(&deployment.sha),
            deployments::user_id.eq(deployment.user_id),
            deployments::job_id.eq(deployment.job_id),
            deployments::status.eq(deployment.status),
            deployments::on_stop.eq(&deployment.on_stop),
            deployments::environment_url.eq(&deployment.environment_url),
            deployments::auto_stop_in.eq(&deployment.auto_stop_in),
            deployments::created_at.eq(deployment.created_at),
            deployments::updated_at.eq(deployment.updated_at),
            deployments::finished_at.eq(deployment.finished_at),
        );
        let insert = diesel::insert_into(deployments::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Deployment::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn save_deployment(&mut self, deployment: &Deployment) -> Result<()> {
        let values = (
            deployments::user_id.eq(deployment.user_id),
            deployments::status.eq(deployment.status),
            deployments::environment_url.eq(&deployment.environment_url),
            deployments::auto_stop_in.eq(&deployment.auto_stop_in),
            deployments::updated_at.eq(deployment.updated_at),
            deployments::finished_at.eq(deployment.finished_at),
        );
        let row = diesel::update(deployments::table.find(deployment.id)).set(values);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_deployment(&mut self, id: DeploymentId) -> Result<()> {
        let row = diesel::delete(deployments::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn link_merge_requests(
        &mut self,
        deployment: &Deployment,
        merge_requests: &[MergeRequestId],
    ) -> Result<()> {
        let at = deployment.finished_at.unwrap_or(self.now);
        let row = |id: &MergeRequestId| {
            (
                links::deployment_id.eq(deployment.id),
                links::merge_request_id.eq(*id),
                links::environment_id.eq(deployment.environment_id),
                links::deployed_at.eq(at),
                links::project_id.eq(deployment.project_id),
            )
        };
        for some in merge_requests.chunks(AT_ONCE) {
            let rows: Vec<_> = some.iter().map(row).collect();
            each_backend!(self, |conn| diesel::insert_into(links::table)
                .values(&rows)
                .on_conflict_do_nothing()
                .execute(conn)
                .map_err(error(NOUN)))?;
        }
        Ok(())
    }

    fn first_production(
        &mut self,
        merge_requests: &[MergeRequestId],
    ) -> Result<HashMap<MergeRequestId, Ts>> {
        if merge_requests.is_empty() {
            return Ok(HashMap::new());
        }
        let production = environments::table
            .filter(environments::id.eq(links::environment_id))
            .filter(environments::tier.eq(Tier::Production));
        let rows: Vec<(MergeRequestId, Option<Ts>)> = each_backend!(self, |conn| links::table
            .filter(links::merge_request_id.one_of(merge_requests))
            .filter(diesel::dsl::exists(production))
            .group_by(links::merge_request_id)
            .select((links::merge_request_id, min(links::deployed_at)))
            .load(conn)
            .map_err(error(NOUN)))?;
        Ok(rows.into_iter().filter_map(|(id, at)| Some((id, at?))).collect())
    }

    fn reassign_deployments(
        &mut self,
        from: UserId,
        heir: Option<UserId>,
        most: i64,
    ) -> Result<bool> {
        let theirs: Vec<DeploymentId> = each_backend!(self, |conn| deployments::table
            .filter(deployments::user_id.eq(from))
            .limit(most)
            .select(deployments::id)
            .load(conn)
            .map_err(error(NOUN)))?;
        let rows = deployments::table.filter(deployments::id.one_of(&theirs));
        let update = diesel::update(rows).set(deployments::user_id.eq(heir));
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(i64::try_from(theirs.len()).is_ok_and(|found| found >= most))
    }
}
