//! Rows of the large files of projects.

use std::collections::{HashMap, HashSet};

use db::{Tx, each_backend, error, schema::lfs_objects as objects};
use diesel::prelude::*;
use kernel::{Result, ids::ProjectId};

use super::LfsId;
use crate::Event;

const WHAT: &str = "LFS object";

pub trait LfsStore {
    /// Those of these files that a project has, with their sizes.
    fn lfs_objects(&mut self, project: ProjectId, ids: &[LfsId]) -> Result<HashMap<String, i64>>;
    /// Those of a project's files that have at most so many bytes.
    fn lfs_objects_up_to(&mut self, project: ProjectId, largest: i64) -> Result<Vec<LfsId>>;
    /// Notes that a project has a file, whose content is kept already.
    fn add_lfs_object(&mut self, project: ProjectId, id: &LfsId, size: i64) -> Result<()>;
    /// Gives a project everything that another one has.
    fn share_lfs_objects(&mut self, from: ProjectId, into: ProjectId) -> Result<()>;
    /// Takes all files from a project; their content goes with what no project has.
    fn remove_lfs_objects(&mut self, project: ProjectId) -> Result<()>;
    /// Those of these files that no project has.
    fn orphaned_lfs_objects(&mut self, ids: &[LfsId]) -> Result<Vec<LfsId>>;
    /// How many bytes all files of a project have.
    fn lfs_size(&mut self, project: ProjectId) -> Result<i64>;
}

impl LfsStore for Tx<'_> {
    fn lfs_objects(&mut self, project: ProjectId, ids: &[LfsId]) -> Result<HashMap<String, i64>> {
        let names = ids.iter().map(LfsId::as_str);
        let query = objects::table
            .filter(objects::project_id.eq(project).and(objects::oid.eq_any(names)))
            .select((objects::oid, objects::size));
        let rows: Vec<(String, i64)> =
            each_backend!(self, |conn| query.load(conn).map_err(error(WHAT)))?;
        Ok(rows.into_iter().collect())
    }

    fn lfs_objects_up_to(&mut self, project: ProjectId, largest: i64) -> Result<Vec<LfsId>> {
        let query = objects::table
            .filter(objects::project_id.eq(project).and(objects::size.le(largest)))
            .select(objects::oid);
        let names: Vec<String> = each_backend!(self, |conn| query.load(conn).map_err(error(WHAT)))?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    fn add_lfs_object(&mut self, project: ProjectId, id: &LfsId, size: i64) -> Result<()> {
        let row = (
            objects::project_id.eq(project),
            objects::oid.eq(id.as_str()),
            objects::size.eq(size),
            objects::created_at.eq(self.now),
        );
        let insert = diesel::insert_into(objects::table)
            .values(row)
            .on_conflict((objects::project_id, objects::oid))
            .do_nothing();
        let new = each_backend!(self, |conn| insert.execute(conn).map_err(error(WHAT)))?;
        match new {
            0 => Ok(()),
            _ => tell_size(self, project),
        }
    }

    fn share_lfs_objects(&mut self, from: ProjectId, into: ProjectId) -> Result<()> {
        let theirs = objects::table.filter(objects::project_id.eq(from));
        let query = theirs.select((objects::oid, objects::size));
        let rows: Vec<(String, i64)> =
            each_backend!(self, |conn| query.load(conn).map_err(error(WHAT)))?;
        for some in rows.chunks(AT_ONCE) {
            let rows: Vec<_> = some
                .iter()
                .map(|(oid, size)| {
                    (
                        objects::project_id.eq(into),
                        objects::oid.eq(oid),
                        objects::size.eq(*size),
                        objects::created_at.eq(self.now),
                    )
                })
                .collect();
            each_backend!(self, |conn| diesel::insert_into(objects::table)
                .values(&rows)
                .execute(conn)
                .map_err(error(WHAT)))?;
        }
        if rows.is_empty() { Ok(()) } else { tell_size(self, into) }
    }

    fn remove_lfs_objects(&mut self, project: ProjectId) -> Result<()> {
        let rows = diesel::delete(objects::table.filter(objects::project_id.eq(project)));
        match each_backend!(self, |conn| rows.execute(conn).map_err(error(WHAT)))? {
            0 => Ok(()),
            _ => tell_size(self, project),
        }
    }

    fn orphaned_lfs_objects(&mut self, ids: &[LfsId]) -> Result<Vec<LfsId>> {
        let names = ids.iter().map(LfsId::as_str);
        let query =
            objects::table.filter(objects::oid.eq_any(names)).select(objects::oid).distinct();
        let held: Vec<String> = each_backend!(self, |conn| query.load(conn).map_err(error(WHAT)))?;
        let held: HashSet<String> = held.into_iter().collect();
        Ok(ids.iter().filter(|id| !held.contains(id.as_str())).cloned().collect())
    }

    fn lfs_size(&mut self, project: ProjectId) -> Result<i64> {
        let sizes = objects::table.filter(objects::project_id.eq(project)).select(objects::size);
        let sizes: Vec<i64> = each_backend!(self, |conn| sizes.load(conn).map_err(error(WHAT)))?;
        Ok(sizes.into_iter().sum())
    }
}

/// Databases take only so many values at once.
const AT_ONCE: usize = 1000;

fn tell_size(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let bytes = tx.lfs_size(project)?;
    tx.emit(Event::LfsChanged { project, bytes })
}
