//! Environments that stop or go without anybody asking for the single one.

use db::{
    Tx, each_backend, error,
    listing::{self, Bind, Conditions},
    schema::{environments, review_app_removals as removals},
};
use diesel::prelude::*;
use kernel::{
    Result, TextEnum as _, Ts,
    ids::{EnvironmentId, NamespaceId, ProjectId},
};

use super::{Environment, EnvironmentState};

const NOUN: &str = "Environment";

pub trait EnvironmentCleanupStore {
    /// Those that run, to which nothing was done since and which are not protected, neither by the project nor by one of
    /// these groups; so many behind this one at most.
    fn stale_environments(
        &mut self,
        project: ProjectId,
        groups: &[NamespaceId],
        before: Ts,
        behind: EnvironmentId,
        most: i64,
    ) -> Result<Vec<EnvironmentId>>;
    /// Those whose time to stop has come.
    fn overdue_environments(&mut self, most: i64) -> Result<Vec<EnvironmentId>>;
    /// Those that run and were brought there for a ref, so many behind this one at most.
    fn environments_of_ref(
        &mut self,
        project: ProjectId,
        source: &DeployedRef,
        behind: EnvironmentId,
        most: i64,
    ) -> Result<Vec<EnvironmentId>>;
    /// Those whose time to go has come.
    fn outlived_environments(&mut self, most: i64) -> Result<Vec<Environment>>;
    /// Stopped environments of branches that were made before this moment, oldest first.
    fn stopped_review_apps(
        &mut self,
        project: ProjectId,
        before: Ts,
        most: i64,
    ) -> Result<Vec<Environment>>;
    /// Since when somebody chooses environments of branches of a project for removal.
    fn removal_begun(&mut self, project: ProjectId) -> Result<Option<Ts>>;
    /// From now on somebody chooses.
    fn begin_removal(&mut self, project: ProjectId) -> Result<()>;
    fn end_removal(&mut self, project: ProjectId) -> Result<()>;
    /// Stopped environments go at that moment.
    fn delete_environments_at(&mut self, ids: &[EnvironmentId], at: Ts) -> Result<()>;
}

/// For which ref something was brought to an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeployedRef {
    /// What is there now is of one of these branches.
    Branches(Vec<String>),
    /// The environment came into being for this ref of a merge request, `refs/merge-requests/1/head`.
    MergeRequest(String),
}

impl DeployedRef {
    fn condition(&self, all: &mut Conditions) {
        let deployed = "SELECT d.ref_name FROM deployments d WHERE d.environment_id = e.id";
        match self {
            Self::Branches(names) => {
                let last =
                    "AND d.status = 'success' ORDER BY d.finished_at DESC, d.id DESC LIMIT 1";
                let names: Vec<String> =
                    names.iter().map(|name| all.bind(Bind::Word(name.clone()))).collect();
                all.plain(format!("({deployed} {last}) IN ({})", names.join(", ")));
            }
            Self::MergeRequest(name) => {
                all.word(&format!("({deployed} ORDER BY d.id LIMIT 1) = {{}}"), name);
            }
        }
    }
}

fn available_behind(project: ProjectId, behind: EnvironmentId) -> Conditions {
    let mut all = Conditions::default();
    all.number("e.project_id = {}", project.0);
    all.word("e.state = {}", EnvironmentState::Available.as_str());
    all.number("e.id > {}", behind.0);
    all
}

fn in_order(tx: &mut Tx<'_>, all: &Conditions, most: i64) -> Result<Vec<EnvironmentId>> {
    let sql = format!(
        "SELECT e.id AS id FROM environments e WHERE {} ORDER BY e.id LIMIT {most}",
        all.text()
    );
    Ok(listing::ids(tx, &sql, &all.binds)?.into_iter().map(EnvironmentId).collect())
}

impl EnvironmentCleanupStore for Tx<'_> {
    fn stale_environments(
        &mut self,
        project: ProjectId,
        groups: &[NamespaceId],
        before: Ts,
        behind: EnvironmentId,
        most: i64,
    ) -> Result<Vec<EnvironmentId>> {
        let mut all = available_behind(project, behind);
        all.number("e.updated_at < {}", before.0);
        all.number(
            "NOT EXISTS (SELECT 1 FROM deployments d WHERE d.environment_id = e.id AND d.updated_at >= {})",
            before.0,
        );
        let guarded = "SELECT 1 FROM protected_environments p WHERE";
        all.plain(format!(
            "NOT EXISTS ({guarded} p.project_id = e.project_id AND p.name = e.name)"
        ));
        let groups: Vec<i64> = groups.iter().map(|group| group.0).collect();
        let groups = listing::list_of(&groups);
        all.plain(format!("NOT EXISTS ({guarded} p.group_id IN ({groups}) AND p.name = e.tier)"));
        in_order(self, &all, most)
    }

    fn environments_of_ref(
        &mut self,
        project: ProjectId,
        source: &DeployedRef,
        behind: EnvironmentId,
        most: i64,
    ) -> Result<Vec<EnvironmentId>> {
        let mut all = available_behind(project, behind);
        source.condition(&mut all);
        in_order(self, &all, most)
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
    fn removal_begun(&mut self, project: ProjectId) -> Result<Option<Ts>> {
        each_backend!(self, |conn| removals::table
            .find(project)
            .select(removals::begun_at)
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn begin_removal(&mut self, project: ProjectId) -> Result<()> {
        let row = (removals::project_id.eq(project), removals::begun_at.eq(self.now));
        let upsert = diesel::insert_into(removals::table)
            .values(row)
            .on_conflict(removals::project_id)
            .do_update()
            .set(removals::begun_at.eq(self.now));
        each_backend!(self, |conn| upsert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn end_removal(&mut self, project: ProjectId) -> Result<()> {
        let row = diesel::delete(removals::table.find(project));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_environments_at(&mut self, ids: &[EnvironmentId], at: Ts) -> Result<()> {
        let rows = diesel::update(environments::table.filter(environments::id.eq_any(ids)))
            .set(environments::auto_delete_at.eq(Some(at)));
        each_backend!(self, |conn| rows.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
