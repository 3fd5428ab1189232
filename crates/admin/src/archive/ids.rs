//! The ids of imported rows by their ids in the archive.

use std::collections::HashMap;

use db::{Tx, each_backend, error, schema::archive_import_ids as ids};
use diesel::prelude::*;
use kernel::{Result, ids::ArchiveImportId};

/// Values of one statement.
const AT_ONCE: usize = 400;

pub trait ArchiveIdStore {
    fn insert_archive_ids(
        &mut self,
        import: ArchiveImportId,
        relation: &str,
        pairs: &[(i64, i64)],
    ) -> Result<()>;
    /// Those of these ids that are known.
    fn archive_ids(
        &mut self,
        import: ArchiveImportId,
        relation: &str,
        sources: &[i64],
    ) -> Result<HashMap<i64, i64>>;
    /// All ids of a relation that are known, of which there are few.
    fn all_archive_ids(
        &mut self,
        import: ArchiveImportId,
        relation: &str,
    ) -> Result<HashMap<i64, i64>>;
    /// Forgets all of them.
    fn forget_archive_ids(&mut self, import: ArchiveImportId) -> Result<()>;
}

impl ArchiveIdStore for Tx<'_> {
    fn insert_archive_ids(
        &mut self,
        import: ArchiveImportId,
        relation: &str,
        pairs: &[(i64, i64)],
    ) -> Result<()> {
        for some in pairs.chunks(AT_ONCE) {
            let rows: Vec<_> = some
                .iter()
                .map(|(source, target)| {
                    (
                        ids::import_id.eq(import),
                        ids::relation.eq(relation),
                        ids::source_id.eq(*source),
                        ids::target_id.eq(*target),
                    )
                })
                .collect();
            each_backend!(self, |conn| diesel::insert_into(ids::table)
                .values(&rows)
                .execute(conn)
                .map_err(error("Import")))?;
        }
        Ok(())
    }

    fn archive_ids(
        &mut self,
        import: ArchiveImportId,
        relation: &str,
        sources: &[i64],
    ) -> Result<HashMap<i64, i64>> {
        let mut found = HashMap::new();
        for some in sources.chunks(AT_ONCE) {
            let rows = ids::table
                .filter(ids::import_id.eq(import).and(ids::relation.eq(relation)))
                .filter(ids::source_id.eq_any(some))
                .select((ids::source_id, ids::target_id));
            let rows: Vec<(i64, i64)> =
                each_backend!(self, |conn| rows.load(conn).map_err(error("Import")))?;
            found.extend(rows);
        }
        Ok(found)
    }

    fn all_archive_ids(
        &mut self,
        import: ArchiveImportId,
        relation: &str,
    ) -> Result<HashMap<i64, i64>> {
        let rows = ids::table
            .filter(ids::import_id.eq(import).and(ids::relation.eq(relation)))
            .select((ids::source_id, ids::target_id));
        let rows: Vec<(i64, i64)> =
            each_backend!(self, |conn| rows.load(conn).map_err(error("Import")))?;
        Ok(rows.into_iter().collect())
    }

    fn forget_archive_ids(&mut self, import: ArchiveImportId) -> Result<()> {
        let old = ids::table.filter(ids::import_id.eq(import));
        each_backend!(self, |conn| diesel::delete(old).execute(conn).map_err(error("Import")))?;
        Ok(())
    }
}
