//! Environments in the database.

use std::collections::HashMap;

use db::{
    Conn, OneOf as _, Tx, each_backend, error,
    keyset::{ListOrder, ListWindow, WHOLE},
    listing::{self, Bind, Conditions, Selection, page_of_ids},
    schema::environments,
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{EnvironmentId, ProjectId},
    like,
    page::{Page, PageRequest, Total},
};

use super::{Environment, EnvironmentState};

const NOUN: &str = "Environment";

/// Which environments of a project are wanted.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentFilter {
    pub name: Option<String>,
    /// A part of the name, in any letter case.
    pub search: Option<String>,
    /// Any of these; empty for all.
    pub states: Vec<EnvironmentState>,
    /// What the names begin with, where they have several parts: `review` of `review/feature`.
    pub folder: Option<String>,
}

/// Environments whose names begin alike: `review` of `review/feature`.
#[derive(Clone, Debug)]
pub struct EnvironmentFolder {
    pub name: String,
    pub size: i64,
    /// The newest of them.
    pub newest: Environment,
}

#[derive(QueryableByName)]
struct FolderRow {
    #[diesel(sql_type = diesel::sql_types::Text)]
    name: String,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    size: i64,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    newest: i64,
    /// The number of all folders.
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    total: i64,
}

pub trait EnvironmentStore {
    /// A page, oldest first.
    fn environments(
        &mut self,
        project: ProjectId,
        filter: &EnvironmentFilter,
        page: PageRequest,
    ) -> Result<Page<Environment>> {
        self.environments_in(project, filter, &WHOLE, page)
    }
    /// As [`environments`](Self::environments), of a part of the list.
    fn environments_in(
        &mut self,
        project: ProjectId,
        filter: &EnvironmentFilter,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<Environment>>;
    /// A page of the folders of environments, and of those that are in none, by name. It is not counted.
    fn environment_folders(
        &mut self,
        project: ProjectId,
        filter: &EnvironmentFilter,
        page: PageRequest,
    ) -> Result<Page<EnvironmentFolder>>;
    fn environment(&mut self, project: ProjectId, id: EnvironmentId)
    -> Result<Option<Environment>>;
    fn environments_by_id(&mut self, ids: &[EnvironmentId]) -> Result<Vec<Environment>>;
    /// Nobody else changes it until the transaction ends.
    fn hold_environment(&mut self, id: EnvironmentId) -> Result<Option<Environment>>;
    fn environment_named(&mut self, project: ProjectId, name: &str) -> Result<Option<Environment>>;
    /// Those of a project that have one of these names.
    fn environments_named(
        &mut self,
        project: ProjectId,
        names: &[&str],
    ) -> Result<Vec<Environment>>;
    /// Whether a slug belongs to an environment of the project.
    fn is_slug_taken(&mut self, project: ProjectId, slug: &str) -> Result<bool>;
    fn insert_environment(&mut self, environment: &Environment) -> Result<Environment>;
    fn save_environment(&mut self, environment: &Environment) -> Result<()>;
    fn delete_environment(&mut self, id: EnvironmentId) -> Result<()>;
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
        if !self.states.is_empty() {
            let words = self.states.iter().map(|state| format!("'{state}'"));
            all.plain(format!("e.state IN ({})", words.collect::<Vec<_>>().join(", ")));
        }
        if let Some(folder) = &self.folder {
            let length = folder.chars().count() + 1;
            all.word(&format!("SUBSTR(e.name, 1, {length}) = {{}}"), format!("{folder}/"));
        }
        all
    }
}

impl EnvironmentStore for Tx<'_> {
    fn environments_in(
        &mut self,
        project: ProjectId,
        filter: &EnvironmentFilter,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<Environment>> {
        let mut conditions = filter.conditions(self, project);
        let order = ListOrder::of_ids("e.id", false);
        order.narrow(&mut conditions, window);
        let from = format!("environments e WHERE {}", conditions.text());
        let binds: Vec<Bind> = conditions.binds;
        let selection = Selection {
            id: "e.id",
            from: from.clone(),
            binds: binds.clone(),
            order: order.sql(window),
        };
        let found = page_of_ids(self, &selection, page, |tx| listing::count(tx, &from, &binds))?;
        found.try_map_all(|ids| {
            let ids: Vec<EnvironmentId> = ids.into_iter().map(EnvironmentId).collect();
            let mut rows = self.environments_by_id(&ids)?;
            if window.reversed {
                rows.reverse();
            }
            Ok(rows)
        })
    }

    fn environment_folders(
        &mut self,
        project: ProjectId,
        filter: &EnvironmentFilter,
        page: PageRequest,
    ) -> Result<Page<EnvironmentFolder>> {
        let conditions = filter.conditions(self, project);
        let place = match self.conn {
            Conn::Sqlite(_) => "INSTR(e.name, '/')",
            Conn::Postgres(_) => "STRPOS(e.name, '/')",
        };
        let folder =
            format!("CASE WHEN {place} > 0 THEN SUBSTR(e.name, 1, {place} - 1) ELSE e.name END");
        let sql = format!(
            "SELECT {folder} AS name, COUNT(*) AS size, MAX(e.id) AS newest, COUNT(*) OVER () AS total \
             FROM environments e WHERE {} GROUP BY {folder} ORDER BY {folder} LIMIT {} OFFSET {}",
            conditions.text(),
            page.per_page,
            page.offset()
        );
        let items: Vec<FolderRow> = listing::rows(self, &sql, &conditions.binds)?;
        let total = match items.first() {
            Some(row) => Total::Counted(row.total),
            None if page.page == 1 => Total::Counted(0),
            // Behind the last page no row tells how many there are.
            None => Total::Uncounted { more: false },
        };
        Page { items, total }.try_map_all(|rows| {
            let ids: Vec<EnvironmentId> =
                rows.iter().map(|row| EnvironmentId(row.newest)).collect();
            let found = self.environments_by_id(&ids)?;
            let mut newest: HashMap<i64, Environment> =
                found.into_iter().map(|one| (one.id.0, one)).collect();
            let folder = |row: FolderRow| {
                let newest = newest.remove(&row.newest)?;
                Some(EnvironmentFolder { name: row.name, size: row.size, newest })
            };
            Ok(rows.into_iter().filter_map(folder).collect())
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
            .filter(environments::id.one_of(ids))
            .order(environments::id)
            .select(Environment::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn hold_environment(&mut self, id: EnvironmentId) -> Result<Option<Environment>> {
        let same = environments::state.eq(environments::state);
        let hold = diesel::update(environments::table.find(id)).set(same);
        each_backend!(self, |conn| hold
            .returning(Environment::as_returning())
            .get_result(conn)
            .optional()
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

    fn environments_named(
        &mut self,
        project: ProjectId,
        names: &[&str],
    ) -> Result<Vec<Environment>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let named = environments::project_id.eq(project).and(environments::name.one_of(names));
        each_backend!(self, |conn| environments::table
            .filter(named)
            .select(Environment::as_select())
            .load(conn)
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
}
