//! Archives that become projects and groups, in the database.

use std::collections::HashSet;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{archive_import_ids as ids, archive_imports as imports},
};
use diesel::prelude::*;
use kernel::{
    Error, Result,
    ids::{ArchiveImportId, ProjectId, UserId},
};

use super::{ArchiveHome, ArchiveImport, NewArchiveImport};
use crate::import::{ImportStatus, ImportStep};

const NOUN: &str = "Import";
/// Bytes of a message that are kept.
const LONGEST_MESSAGE: usize = 1000;
const ACTIVE: [ImportStatus; 2] = [ImportStatus::Scheduled, ImportStatus::Started];
/// Projects of which one statement asks.
const PROJECTS_AT_ONCE: usize = 5_000;

pub trait ArchiveImportStore {
    /// Writes down what is to be imported; its file is kept before.
    fn insert_archive_import(&mut self, new: &NewArchiveImport) -> Result<ArchiveImportId>;
    fn find_archive_import(&mut self, id: ArchiveImportId) -> Result<Option<ArchiveImport>>;
    fn archive_import_of(&mut self, home: ArchiveHome) -> Result<Option<ArchiveImport>>;
    /// Those of these projects that came out of an archive.
    fn archive_imports_of(&mut self, projects: &[ProjectId]) -> Result<Vec<ArchiveImport>>;
    /// Imports that have not ended. All imports are looked through.
    fn unfinished_archive_imports(&mut self) -> Result<Vec<ArchiveImport>>;
    /// Imports of a user that have not ended.
    fn unfinished_archive_imports_by(&mut self, user: UserId) -> Result<Vec<ArchiveImport>>;
    /// Those of these projects into which an archive is read.
    fn projects_in_import(&mut self, projects: &[ProjectId]) -> Result<HashSet<ProjectId>>;
    /// Has whoever worked on an import until now be overtaken.
    fn claim_archive_import(&mut self, id: ArchiveImportId) -> Result<()>;
    /// Notes the place of a step, and how many of its lines are written. False where another one was faster. Failures
    /// count on where that is what it was.
    fn save_archive_progress(
        &mut self,
        seen: &ArchiveImport,
        relation: i64,
        line: i64,
    ) -> Result<bool>;
    /// Counts one more failure of the machine. False where another step was faster.
    fn save_archive_attempt(&mut self, seen: &ArchiveImport) -> Result<bool>;
    /// Moves an import by the table of states; false where that is not possible. At the end, the ids of the archive are
    /// forgotten.
    fn advance_archive_import(
        &mut self,
        id: ArchiveImportId,
        step: ImportStep,
        error: Option<&str>,
    ) -> Result<bool>;
}

impl ArchiveImportStore for Tx<'_> {
    fn insert_archive_import(&mut self, new: &NewArchiveImport) -> Result<ArchiveImportId> {
        let row = (
            imports::project_id.eq(new.home.project()),
            imports::namespace_id.eq(new.home.group()),
            imports::user_id.eq(new.user),
            imports::status.eq(ImportStatus::Scheduled),
            imports::overrides.eq(serde_json::to_string(&new.overrides).map_err(Error::internal)?),
            imports::correlation_id.eq(&new.correlation_id),
            imports::relation.eq(0_i64),
            imports::line.eq(0_i64),
            imports::steps.eq(0_i64),
            imports::attempts.eq(0),
            imports::created_at.eq(self.now),
            imports::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(imports::table).values(row).returning(imports::id);
        each_backend!(self, |conn| insert.get_result(conn).map_err(error(NOUN)))
    }

    fn find_archive_import(&mut self, id: ArchiveImportId) -> Result<Option<ArchiveImport>> {
        each_backend!(self, |conn| imports::table
            .find(id)
            .select(ArchiveImport::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn archive_import_of(&mut self, home: ArchiveHome) -> Result<Option<ArchiveImport>> {
        let of_home =
            imports::project_id.eq(home.project()).or(imports::namespace_id.eq(home.group()));
        each_backend!(self, |conn| imports::table
            .filter(of_home)
            .select(ArchiveImport::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn archive_imports_of(&mut self, projects: &[ProjectId]) -> Result<Vec<ArchiveImport>> {
        each_backend!(self, |conn| imports::table
            .filter(imports::project_id.one_of(projects))
            .select(ArchiveImport::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn unfinished_archive_imports(&mut self) -> Result<Vec<ArchiveImport>> {
        let found = imports::table.filter(imports::status.eq_any(ACTIVE));
        each_backend!(self, |conn| found
            .select(ArchiveImport::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn unfinished_archive_imports_by(&mut self, user: UserId) -> Result<Vec<ArchiveImport>> {
        let found = imports::table.filter(imports::user_id.eq(user));
        let found = found.filter(imports::status.eq_any(ACTIVE));
        each_backend!(self, |conn| found
            .select(ArchiveImport::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn projects_in_import(&mut self, projects: &[ProjectId]) -> Result<HashSet<ProjectId>> {
        let mut all = HashSet::new();
        for some in projects.chunks(PROJECTS_AT_ONCE) {
            let found = imports::table
                .filter(imports::project_id.one_of(some))
                .filter(imports::status.eq_any(ACTIVE))
                .select(imports::project_id.assume_not_null());
            let found: Vec<ProjectId> =
                each_backend!(self, |conn| found.load(conn).map_err(error(NOUN)))?;
            all.extend(found);
        }
        Ok(all)
    }

    fn claim_archive_import(&mut self, id: ArchiveImportId) -> Result<()> {
        let row = diesel::update(imports::table.find(id));
        let row = row.set(imports::steps.eq(imports::steps + 1));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn save_archive_progress(
        &mut self,
        seen: &ArchiveImport,
        relation: i64,
        line: i64,
    ) -> Result<bool> {
        let row = imports::table
            .filter(imports::id.eq(seen.id).and(imports::steps.eq(seen.steps)))
            .filter(imports::status.eq(ImportStatus::Started));
        let is_moved = (seen.relation, seen.line) != (relation, line);
        let set = (
            imports::relation.eq(relation),
            imports::line.eq(line),
            imports::steps.eq(seen.steps + 1),
            imports::attempts.eq(if is_moved { 0 } else { seen.attempts }),
            imports::updated_at.eq(self.now),
        );
        let count = each_backend!(self, |conn| diesel::update(row)
            .set(set)
            .execute(conn)
            .map_err(error(NOUN)))?;
        Ok(count == 1)
    }

    fn save_archive_attempt(&mut self, seen: &ArchiveImport) -> Result<bool> {
        let row = imports::table.filter(imports::id.eq(seen.id));
        let set = (imports::attempts.eq(imports::attempts + 1), imports::updated_at.eq(self.now));
        let count = each_backend!(self, |conn| diesel::update(row)
            .set(set)
            .execute(conn)
            .map_err(error(NOUN)))?;
        Ok(count == 1)
    }

    fn advance_archive_import(
        &mut self,
        id: ArchiveImportId,
        step: ImportStep,
        cause: Option<&str>,
    ) -> Result<bool> {
        let Some(seen) = self.find_archive_import(id)? else { return Ok(false) };
        let Some(to) = seen.status.after(step) else { return Ok(false) };
        let row = imports::table.filter(imports::id.eq(id).and(imports::status.eq(seen.status)));
        let set = (
            imports::status.eq(to),
            imports::error.eq(cause.map(shortened)),
            imports::steps.eq(imports::steps + 1),
            imports::updated_at.eq(self.now),
        );
        let count = each_backend!(self, |conn| diesel::update(row)
            .set(set)
            .execute(conn)
            .map_err(error(NOUN)))?;
        if !to.is_active() {
            let old = ids::table.filter(ids::import_id.eq(id));
            each_backend!(self, |conn| diesel::delete(old).execute(conn).map_err(error(NOUN)))?;
        }
        Ok(count == 1)
    }
}

fn shortened(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_MESSAGE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use db::testing::{rows, transaction};
    use kernel::ids::{ProjectId, UserId};

    use super::{
        ArchiveHome, ArchiveImport, ArchiveImportStore as _, ImportStep, NewArchiveImport,
    };
    use crate::archive::{ArchiveIdStore as _, Overrides};

    #[test]
    fn a_step_that_another_one_overtook_writes_nothing() {
        transaction(|tx| {
            let user = rows::user(tx, "ada")?;
            let group = rows::group(tx, "tools")?;
            let project = rows::project(tx, group, user, "tools/tea")?;
            let home = ArchiveHome::Project(project);
            let new = NewArchiveImport {
                home,
                user,
                overrides: Overrides::default(),
                correlation_id: ArchiveImport::new_correlation_id(),
            };
            let id = tx.insert_archive_import(&new)?;
            assert!(tx.advance_archive_import(id, ImportStep::Start, None)?);
            assert_eq!(tx.projects_in_import(&[project, ProjectId(9)])?, [project].into());
            assert_eq!(tx.unfinished_archive_imports_by(user)?.len(), 1);
            assert!(tx.unfinished_archive_imports_by(UserId(9))?.is_empty());
            let seen = tx.find_archive_import(id)?.unwrap();

            assert!(tx.save_archive_progress(&seen, 3, 100)?);
            assert!(!tx.save_archive_progress(&seen, 3, 200)?, "it was seen before the first one");
            for (line, attempts) in [(100, 1), (200, 0)] {
                tx.save_archive_attempt(&seen)?;
                let now = tx.find_archive_import(id)?.unwrap();
                assert!(tx.save_archive_progress(&now, 3, line)?);
                assert_eq!(tx.find_archive_import(id)?.unwrap().attempts, attempts);
            }

            assert_eq!(tx.find_archive_import(id)?.unwrap().line, 200);
            tx.insert_archive_ids(id, "issues", &[(7, 70), (8, 80)])?;
            assert_eq!(tx.archive_ids(id, "issues", &[7, 9])?, [(7, 70)].into());
            assert!(tx.advance_archive_import(id, ImportStep::Finish, None)?);
            assert!(tx.archive_ids(id, "issues", &[7])?.is_empty());
            assert!(tx.unfinished_archive_imports()?.is_empty());
            assert!(tx.unfinished_archive_imports_by(user)?.is_empty());
            assert!(tx.projects_in_import(&[project])?.is_empty());
            Ok(())
        });
    }
}
