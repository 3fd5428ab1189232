//! Environments in the database.

use db::{
    Tx, each_backend, error,
    listing::{self, Bind, Conditions, Selection, page_of_ids},
    schema::{deployments, environments},
};
use diesel::prelude::*;
use kernel::{
    Result, TextEnum as _, Ts,
    ids::{EnvironmentId, ProjectId},
    like,
    page::{Page, PageRequest},
};

use super::{Environment, EnvironmentState};

const NOUN: &str = "Environment";

/// Which environments of a project are wanted.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentFilter {
    pub name: Option<String>,
    /// A part of the name, in any letter case.
    pub search: Option<String>,
    pub state: Option<EnvironmentState>,
}

pub trait EnvironmentStore {
    /// A page, oldest first.
    fn environments(
        &mut self,
        project: ProjectId,
        filter: &EnvironmentFilter,
        page: PageRequest,
    ) -> Result<Page<Environment>>;
    fn environment(&mut self, project: ProjectId, id: EnvironmentId)
    -> Result<Option<Environment>>;
    fn environments_by_id(&mut self, ids: &[EnvironmentId]) -> Result<Vec<Environment>>;
    fn environment_named(&mut self, project: ProjectId, name: &str) -> Result<Option<Environment>>;
    /// Whether a slug belongs to an environment of the project.
    fn is_slug_taken(&mut self, project: ProjectId, slug: &str) -> Result<bool>;
    fn insert_environment(&mut self, environment: &Environment) -> Result<Environment>;
    fn save_environment(&mut self, environment: &Environment) -> Result<()>;
    fn delete_environment(&mut self, id: EnvironmentId) -> Result<()>;
    /// Those that run and to which nothing was done since, so many behind this one at most.
    fn stale_environments(
        &mut self,
        project: ProjectId,
        before: Ts,
        behind: EnvironmentId,
        most: i64,
    ) -> Result<Vec<Environment>>;
    /// Those whose time to stop has come.
    fn overdue_environments(&mut self, most: i64) -> Result<Vec<EnvironmentId>>;
    /// Those whose time to go has come.
    fn outlived_environments(&mut self, most: i64) -> Result<Vec<Environment>>;
    /// Stopped environments of branches that were made before this moment, oldest first.
    fn stopped_review_apps(
        &mut self,
        project: ProjectId,
        before: Ts,
        most: i64,
    ) -> Result<Vec<Environment>>;
}

impl EnvironmentFilter {
    fn conditions(&self, tx: &Tx<'_>, project: ProjectId) -> Conditions {
        let mut all = Conditions::default();
        all.number("e.project_id = {}", project.0);
        if let Some(name) = &self.name {
            all.word("e.name = {}", name);
        }
        if let Some(search) = &self.search {
            let condition = format!("{} LIKE {{}} ESCAPE '\\'", tx.folded("e.name"));
            all.word(&condition, like::containing(search));
        }
        if let Some(state) = self.state {
            all.word("e.state = {}", state.as_str());
        }
        all
    }
}

impl EnvironmentStore for Tx<'_> {
    fn environments(
        &mut self,
        project: ProjectId,
        filter: &EnvironmentFilter,
        page: PageRequest,
    ) -> Result<Page<Environment>> {
        let conditions = filter.conditions(self, project);
        let from = format!("environments e WHERE {}", conditions.text());
        let binds: Vec<Bind> = conditions.binds;
        let selection = Selection {
            id: "e.id",
            from: from.clone(),
            binds: binds.clone(),
            order: "e.id".to_owned(),
        };
        let found = page_of_ids(self, &selection, page, |tx| listing::count(tx, &from, &binds))?;
        found.try_map_all(|ids| {
            let ids: Vec<EnvironmentId> = ids.into_iter().map(EnvironmentId).collect();
            self.environments_by_id(&ids)
        })
    }

    fn environment(
        &mut self,
        project: ProjectId,
        id: EnvironmentId,
    ) -> Result<Option<Environment>> {
        let query = environments::table.find(id).filter(environments::project_id.eq(project));
        each_backend!(self, |conn| query
            .select(Environment::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn environments_by_id(&mut self, ids: &[EnvironmentId]) -> Result<Vec<Environment>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        each_backend!(self, |conn| environments::table
            .filter(environments::id.eq_any(ids))
            .order(environments::id)
            .select(Environment::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn environment_named(&mut self, project: ProjectId, name: &str) -> Result<Option<Environment>> {
        let named = environments::project_id.eq(project).and(environments::name.eq(name));
        each_backend!(self, |conn| environments::table
            .filter(named)
            .select(Environment::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn is_slug_taken(&mut self, project: ProjectId, slug: &str) -> Result<bool> {
        let same = environments::project_id.eq(project).and(environments::slug.eq(slug));
        let found: Option<EnvironmentId> = each_backend!(self, |conn| environments::table
            .filter(same)
            .select(environments::id)
            .first(conn)
            .optional()
            .map_err(error(NOUN)))?;
        Ok(found.is_some())
    }

    fn insert_environment(&mut self, environment: &Environment) -> Result<Environment> {
        let row = (
            environments::project_id.eq(environment.project_id),
            environments::name.eq(&environment.name),
            environments::slug.eq(&environment.slug),
            environments::external_url.eq(&environment.external_url),
            environments::tier.eq(environment.tier),
            environments::state.eq(environment.state),
            environments::created_at.eq(environment.created_at),
            environments::updated_at.eq(environment.updated_at),
        );
        let insert = diesel::insert_into(environments::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Environment::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn save_environment(&mut self, environment: &Environment) -> Result<()> {
        let values = (
            environments::name.eq(&environment.name),
            environments::external_url.eq(&environment.external_url),
            environments::tier.eq(environment.tier),
            environments::state.eq(environment.state),
            environments::auto_stop_at.eq(environment.auto_stop_at),
            environments::auto_delete_at.eq(environment.auto_delete_at),
            environments::updated_at.eq(environment.updated_at),
        );
        let row = diesel::update(environments::table.find(environment.id)).set(values);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_environment(&mut self, id: EnvironmentId) -> Result<()> {
        let row = diesel::delete(environments::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn stale_environments(
        &mut self,
        project: ProjectId,
        before: Ts,
        behind: EnvironmentId,
        most: i64,
    ) -> Result<Vec<Environment>> {
        let newer = deployments::table
            .filter(deployments::environment_id.eq(environments::id))
            .filter(deployments::updated_at.ge(before));
        let of_project = environments::project_id.eq(project).and(environments::id.gt(behind));
        each_backend!(self, |conn| environments::table
            .filter(of_project)
            .filter(environments::state.eq(EnvironmentState::Available))
            .filter(environments::updated_at.lt(before))
            .filter(diesel::dsl::not(diesel::dsl::exists(newer)))
            .order(environments::id)
            .limit(most)
            .select(Environment::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn overdue_environments(&mut self, most: i64) -> Result<Vec<EnvironmentId>> {
        let now = self.now;
        each_backend!(self, |conn| environments::table
            .filter(environments::auto_stop_at.le(now))
            .filter(environments::state.eq(EnvironmentState::Available))
            .order(environments::auto_stop_at)
            .limit(most)
            .select(environments::id)
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn outlived_environments(&mut self, most: i64) -> Result<Vec<Environment>> {
        let now = self.now;
        each_backend!(self, |conn| environments::table
            .filter(environments::auto_delete_at.le(now))
            .order(environments::auto_delete_at)
            .limit(most)
            .select(Environment::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn stopped_review_apps(
        &mut self,
        project: ProjectId,
        before: Ts,
        most: i64,
    ) -> Result<Vec<Environment>> {
        let stopped = environments::state.eq(EnvironmentState::Stopped);
        each_backend!(self, |conn| environments::table
            .filter(environments::project_id.eq(project).and(stopped))
            // From `review/` up to what would come after all that begins so.
            .filter(environments::name.ge("review/").and(environments::name.lt("review0")))
            .filter(environments::created_at.lt(before))
            .filter(environments::auto_delete_at.is_null())
            .order((environments::created_at, environments::id))
            .limit(most)
            .select(Environment::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }
}
