//! Files that somebody keeps to themselves while working on them.

use db::{Tx, each_backend, error, schema::lfs_locks as locks};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{ProjectId, UserId},
};

const WHAT: &str = "Lock";
/// Bytes of a path: PostgreSQL has room for 2,704 in a row of an index, of which the project and lengths take 20.
const LONGEST_PATH: usize = 2_684;

/// Whether a file with this path can be locked.
pub fn is_lock_path(path: &str) -> bool {
    !path.is_empty() && path.len() <= LONGEST_PATH && !path.contains('\0')
}

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = locks, check_for_backend(db::AnyBackend))]
pub struct LfsLock {
    pub id: i64,
    pub path: String,
    pub user_id: UserId,
    pub locked_at: Ts,
}

/// Which locks of a project are wanted; all that is said must fit.
#[derive(Clone, Debug, Default)]
pub struct LockFilter {
    pub id: Option<i64>,
    pub path: Option<String>,
    /// The list goes on behind this one.
    pub after: i64,
    pub most: i64,
}

pub trait LfsLocks {
    /// Locks a file for somebody; nothing where it is locked already.
    fn insert_lfs_lock(
        &mut self,
        project: ProjectId,
        path: &str,
        user: UserId,
    ) -> Result<Option<LfsLock>>;
    /// The locks of a project, the oldest first.
    fn lfs_locks(&mut self, project: ProjectId, filter: &LockFilter) -> Result<Vec<LfsLock>>;
    /// Takes a lock away; false where it has gone meanwhile.
    fn delete_lfs_lock(&mut self, project: ProjectId, id: i64) -> Result<bool>;
}

impl LfsLocks for Tx<'_> {
    fn insert_lfs_lock(
        &mut self,
        project: ProjectId,
        path: &str,
        user: UserId,
    ) -> Result<Option<LfsLock>> {
        let row = (
            locks::project_id.eq(project),
            locks::path.eq(path),
            locks::user_id.eq(user),
            locks::locked_at.eq(self.now),
        );
        let insert = diesel::insert_into(locks::table)
            .values(row)
            .on_conflict((locks::project_id, locks::path))
            .do_nothing();
        each_backend!(self, |conn| insert
            .returning(LfsLock::as_returning())
            .get_result(conn)
            .optional()
            .map_err(error(WHAT)))
    }

    fn lfs_locks(&mut self, project: ProjectId, filter: &LockFilter) -> Result<Vec<LfsLock>> {
        each_backend!(self, |conn| {
            let mut query = locks::table
                .filter(locks::project_id.eq(project).and(locks::id.gt(filter.after)))
                .into_boxed();
            if let Some(id) = filter.id {
                query = query.filter(locks::id.eq(id));
            }
            if let Some(path) = &filter.path {
                query = query.filter(locks::path.eq(path));
            }
            query
                .order(locks::id)
                .limit(filter.most)
                .select(LfsLock::as_select())
                .load(conn)
                .map_err(error(WHAT))
        })
    }

    fn delete_lfs_lock(&mut self, project: ProjectId, id: i64) -> Result<bool> {
        let row = locks::table.filter(locks::project_id.eq(project).and(locks::id.eq(id)));
        let gone =
            each_backend!(self, |conn| diesel::delete(row).execute(conn).map_err(error(WHAT)))?;
        Ok(gone > 0)
    }
}
