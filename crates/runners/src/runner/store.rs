//! Runners in the database.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{instance_runner_registration as registration, runner_projects, runners},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{ProjectId, RunnerId},
};

use super::{NewToken, Runner};

const NOUN: &str = "Runner";

pub trait RunnerStore {
    fn find_runner(&mut self, id: RunnerId) -> Result<Option<Runner>>;
    fn find_runner_by_token(&mut self, digest: &str) -> Result<Option<Runner>>;
    fn runners_by_id(&mut self, ids: &[RunnerId]) -> Result<Vec<Runner>>;
    /// Every runner that is not paused, with the projects whose jobs it does where it is a project runner.
    fn active_runners(&mut self) -> Result<Vec<(Runner, Vec<ProjectId>)>>;
    fn insert_runner(&mut self, runner: &Runner) -> Result<Runner>;
    /// Writes down what people set.
    fn update_runner(&mut self, runner: &Runner) -> Result<()>;
    fn set_runner_token(&mut self, id: RunnerId, new: &NewToken) -> Result<()>;
    fn delete_runner(&mut self, id: RunnerId) -> Result<()>;
    /// The projects whose jobs a project runner does, its owner first.
    fn projects_of_runner(&mut self, id: RunnerId) -> Result<Vec<ProjectId>>;
    /// As [`projects_of_runner`](Self::projects_of_runner), for many runners by one statement.
    fn projects_of_runners(
        &mut self,
        ids: &[RunnerId],
    ) -> Result<HashMap<RunnerId, Vec<ProjectId>>>;
    fn assign_runner(&mut self, id: RunnerId, project: ProjectId) -> Result<()>;
    fn unassign_runner(&mut self, id: RunnerId, project: ProjectId) -> Result<()>;
}

impl RunnerStore for Tx<'_> {
    fn find_runner(&mut self, id: RunnerId) -> Result<Option<Runner>> {
        each_backend!(self, |conn| runners::table
            .find(id)
            .select(Runner::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn find_runner_by_token(&mut self, digest: &str) -> Result<Option<Runner>> {
        each_backend!(self, |conn| runners::table
            .filter(runners::token_digest.eq(digest))
            .select(Runner::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn runners_by_id(&mut self, ids: &[RunnerId]) -> Result<Vec<Runner>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        each_backend!(self, |conn| runners::table
            .filter(runners::id.one_of(ids))
            .order(runners::id.desc())
            .select(Runner::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn active_runners(&mut self) -> Result<Vec<(Runner, Vec<ProjectId>)>> {
        let active: Vec<Runner> = each_backend!(self, |conn| runners::table
            .filter(runners::active.eq(true))
            .select(Runner::as_select())
            .load(conn)
            .map_err(error(NOUN)))?;
        let assigned: Vec<(RunnerId, ProjectId)> =
            each_backend!(self, |conn| runner_projects::table
                .select((runner_projects::runner_id, runner_projects::project_id))
                .load(conn)
                .map_err(error(NOUN)))?;
        let mut projects: HashMap<RunnerId, Vec<ProjectId>> = HashMap::new();
        for (runner, project) in assigned {
            projects.entry(runner).or_default().push(project);
        }
        let with_projects = |runner: Runner| {
            let own = projects.remove(&runner.id).unwrap_or_default();
            (runner, own)
        };
        Ok(active.into_iter().map(with_projects).collect())
    }

    fn insert_runner(&mut self, runner: &Runner) -> Result<Runner> {
        let row = (
            runners::runner_type.eq(runner.runner_type),
            runners::token_digest.eq(&runner.token_digest),
            runners::short_token.eq(&runner.short_token),
            runners::created_by_person.eq(runner.created_by_person),
            runners::creator_id.eq(runner.creator_id),
            runners::group_id.eq(runner.group_id),
            runners::description.eq(&runner.description),
            runners::maintenance_note.eq(&runner.maintenance_note),
            runners::active.eq(runner.active),
            runners::locked.eq(runner.locked),
            runners::run_untagged.eq(runner.run_untagged),
            runners::access_level.eq(runner.access_level),
            runners::maximum_timeout.eq(runner.maximum_timeout),
            runners::tags.eq(&runner.tags),
            runners::created_at.eq(runner.created_at),
            runners::updated_at.eq(runner.updated_at),
            runners::token_expires_at.eq(runner.token_expires_at),
        );
        let insert = diesel::insert_into(runners::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Runner::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn update_runner(&mut self, runner: &Runner) -> Result<()> {
        let values = (
            runners::description.eq(&runner.description),
            runners::maintenance_note.eq(&runner.maintenance_note),
            runners::active.eq(runner.active),
            runners::locked.eq(runner.locked),
            runners::run_untagged.eq(runner.run_untagged),
            runners::access_level.eq(runner.access_level),
            runners::maximum_timeout.eq(runner.maximum_timeout),
            runners::tags.eq(&runner.tags),
            runners::updated_at.eq(runner.updated_at),
        );
        let row = diesel::update(runners::table.find(runner.id)).set(values);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn set_runner_token(&mut self, id: RunnerId, new: &NewToken) -> Result<()> {
        let values = (
            runners::token_digest.eq(new.token.digest()),
            runners::short_token.eq(new.token.short()),
            runners::token_expires_at.eq(new.expires_at),
            runners::updated_at.eq(self.now),
        );
        let row = diesel::update(runners::table.find(id)).set(values);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_runner(&mut self, id: RunnerId) -> Result<()> {
        let row = diesel::delete(runners::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn projects_of_runner(&mut self, id: RunnerId) -> Result<Vec<ProjectId>> {
        each_backend!(self, |conn| runner_projects::table
            .filter(runner_projects::runner_id.eq(id))
            .order(runner_projects::id)
            .select(runner_projects::project_id)
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn projects_of_runners(
        &mut self,
        ids: &[RunnerId],
    ) -> Result<HashMap<RunnerId, Vec<ProjectId>>> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let rows: Vec<(RunnerId, ProjectId)> = each_backend!(self, |conn| runner_projects::table
            .filter(runner_projects::runner_id.one_of(ids))
            .order(runner_projects::id)
            .select((runner_projects::runner_id, runner_projects::project_id))
            .load(conn)
            .map_err(error(NOUN)))?;
        let mut by_runner: HashMap<RunnerId, Vec<ProjectId>> = HashMap::new();
        for (runner, project) in rows {
            by_runner.entry(runner).or_default().push(project);
        }
        Ok(by_runner)
    }

    fn assign_runner(&mut self, id: RunnerId, project: ProjectId) -> Result<()> {
        let row = (runner_projects::runner_id.eq(id), runner_projects::project_id.eq(project));
        let insert =
            diesel::insert_into(runner_projects::table).values(row).on_conflict_do_nothing();
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn unassign_runner(&mut self, id: RunnerId, project: ProjectId) -> Result<()> {
        let row = runner_projects::table
            .filter(runner_projects::runner_id.eq(id))
            .filter(runner_projects::project_id.eq(project));
        each_backend!(self, |conn| diesel::delete(row).execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}

/// The token with which runners of the whole installation register.
pub trait RegistrationStore {
    /// Whether this is the digest of the token.
    fn is_instance_registration(&mut self, digest: &str) -> Result<bool>;
    fn set_instance_registration(&mut self, digest: &str) -> Result<()>;
}

/// The one row.
const ONLY: i64 = 1;

impl RegistrationStore for Tx<'_> {
    fn is_instance_registration(&mut self, digest: &str) -> Result<bool> {
        let row = registration::table.find(ONLY).select(registration::token_digest);
        let found: Option<String> =
            each_backend!(self, |conn| row.first(conn).optional().map_err(error(NOUN)))?;
        Ok(found.is_some_and(|found| found == digest))
    }

    fn set_instance_registration(&mut self, digest: &str) -> Result<()> {
        let upsert = diesel::insert_into(registration::table)
            .values((registration::id.eq(ONLY), registration::token_digest.eq(digest)))
            .on_conflict(registration::id)
            .do_update()
            .set(registration::token_digest.eq(digest));
        each_backend!(self, |conn| upsert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
