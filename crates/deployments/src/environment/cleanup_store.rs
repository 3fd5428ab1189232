//! Environments that stop or go without anybody asking for the single one.

use db::{
    OneOf as _, Tx, each_backend, error,
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
    /// Stopped ones whose time to go has come. Nobody else changes them until the transaction ends.
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
    /// From now on somebody chooses; false where somebody else has begun, and not before `interrupted`.
    fn begin_removal(&mut self, project: ProjectId, interrupted: Ts) -> Result<bool>;
    /// Ends what was begun at that moment, and nothing that somebody else has begun since.
    fn end_removal(&mut self, project: ProjectId, begun: Ts) -> Result<()>;
    /// Those of these environments that are still stopped go at that moment. Returns which.
    fn delete_environments_at(
        &mut self,
        ids: &[EnvironmentId],
        at: Ts,
    ) -> Result<Vec<EnvironmentId>>;
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
        match self {
            Self::Branches(names) => {
                // A tag may be called as the branch is.
                let deployed = "SELECT CASE WHEN d.tag THEN NULL ELSE d.ref_name END FROM deployments d \
                     WHERE d.environment_id = e.id";
                let last =
                    "AND d.status = 'success' ORDER BY d.finished_at DESC, d.id DESC LIMIT 1";
                let names: Vec<String> =
                    names.iter().map(|name| all.bind(Bind::Word(name.clone()))).collect();
                all.plain(format!("({deployed} {last}) IN ({})", names.join(", ")));
            }
            Self::MergeRequest(name) => {
                let deployed = "SELECT d.ref_name FROM deployments d WHERE d.environment_id = e.id";
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
        let due = || {
            let stopped = environments::state.eq(EnvironmentState::Stopped);
            environments::table.filter(environments::auto_delete_at.le(now).and(stopped))
        };
        let ids: Vec<EnvironmentId> = each_backend!(self, |conn| due()
            .order(environments::auto_delete_at)
            .limit(most)
            .select(environments::id)
            .load(conn)
            .map_err(error(NOUN)))?;
        let same = environments::auto_delete_at.eq(environments::auto_delete_at);
        let hold = diesel::update(due().filter(environments::id.eq_any(ids))).set(same);
        each_backend!(self, |conn| hold
            .returning(Environment::as_returning())
            .get_results(conn)
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

    fn begin_removal(&mut self, project: ProjectId, interrupted: Ts) -> Result<bool> {
        let now = self.now;
        let left = removals::table.find(project).filter(removals::begun_at.le(interrupted));
        let take = diesel::update(left).set(removals::begun_at.eq(now));
        if each_backend!(self, |conn| take.execute(conn).map_err(error(NOUN)))? > 0 {
            return Ok(true);
        }
        let row = (removals::project_id.eq(project), removals::begun_at.eq(now));
        let first = diesel::insert_into(removals::table)
            .values(row)
            .on_conflict(removals::project_id)
            .do_nothing();
        Ok(each_backend!(self, |conn| first.execute(conn).map_err(error(NOUN)))? > 0)
    }

    fn end_removal(&mut self, project: ProjectId, begun: Ts) -> Result<()> {
        let own = removals::table.find(project).filter(removals::begun_at.eq(begun));
        let row = diesel::delete(own);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_environments_at(
        &mut self,
        ids: &[EnvironmentId],
        at: Ts,
    ) -> Result<Vec<EnvironmentId>> {
        let stopped = environments::state.eq(EnvironmentState::Stopped);
        let chosen = environments::table
            .filter(environments::id.one_of(ids))
            .filter(stopped.and(environments::auto_delete_at.is_null()));
        let rows = diesel::update(chosen).set(environments::auto_delete_at.eq(Some(at)));
        each_backend!(self, |conn| rows
            .returning(environments::id)
            .get_results(conn)
            .map_err(error(NOUN)))
    }
}
