//! Archives that are written, in the database.

use db::{OneOf as _, Tx, each_backend, error, schema::archive_exports as exports};
use diesel::prelude::*;
use kernel::{Result, ids::ArchiveExportId};
use secrets::Vault;
use worker::Queue as _;

use super::{ArchiveExport, ArchiveHome, ExportStatus, ExportStep, NewArchiveExport, WriteArchive};

const NOUN: &str = "Export";

pub trait ArchiveExportStore {
    /// Asks for an archive; false where one is on its way already.
    fn request_archive(&mut self, new: &NewArchiveExport, vault: &Vault) -> Result<bool>;
    fn find_archive(&mut self, id: ArchiveExportId) -> Result<Option<ArchiveExport>>;
    /// Archives of a project or group whose time is not over, the newest first.
    fn archives_of(&mut self, home: ArchiveHome) -> Result<Vec<ArchiveExport>>;
    /// Moves an archive by the table of states; nothing where somebody was faster.
    fn advance_archive(
        &mut self,
        id: ArchiveExportId,
        step: ExportStep,
        error: Option<&str>,
    ) -> Result<Option<ArchiveExport>>;
    /// Archives that are still to be written.
    fn unfinished_archives(&mut self) -> Result<Vec<ArchiveExportId>>;
    /// Removes rows of archives whose time is over, and of those that a newer one of the same home replaces.
    fn delete_old_archives(&mut self, most: i64) -> Result<Vec<ArchiveExportId>>;
}

impl ArchiveExportStore for Tx<'_> {
    fn request_archive(&mut self, new: &NewArchiveExport, vault: &Vault) -> Result<bool> {
        let known = self.archives_of(new.home)?;
        if known.iter().any(|one| one.status.is_active()) {
            return Ok(false);
        }
        let sealed = new.upload.as_ref().map(|target| target.seal(vault)).transpose()?;
        let row = (
            exports::project_id.eq(new.home.project()),
            exports::namespace_id.eq(new.home.group()),
            exports::user_id.eq(new.user),
            exports::status.eq(ExportStatus::Queued),
            exports::description.eq(&new.description),
            exports::sealed.eq(sealed),
            exports::created_at.eq(self.now),
            exports::expires_at.eq(self.now.plus(ArchiveExport::lifetime())),
        );
        let insert = diesel::insert_into(exports::table).values(row).returning(exports::id);
        let export: ArchiveExportId =
            each_backend!(self, |conn| insert.get_result(conn).map_err(error(NOUN)))?;
        self.enqueue(&WriteArchive { export })?;
        Ok(true)
    }

    fn find_archive(&mut self, id: ArchiveExportId) -> Result<Option<ArchiveExport>> {
        each_backend!(self, |conn| exports::table
            .find(id)
            .select(ArchiveExport::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn archives_of(&mut self, home: ArchiveHome) -> Result<Vec<ArchiveExport>> {
        let of_home =
            exports::project_id.eq(home.project()).or(exports::namespace_id.eq(home.group()));
        let found = exports::table
            .filter(of_home.and(exports::expires_at.gt(self.now)))
            .order(exports::id.desc());
        each_backend!(self, |conn| found
            .select(ArchiveExport::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn advance_archive(
        &mut self,
        id: ArchiveExportId,
        step: ExportStep,
        cause: Option<&str>,
    ) -> Result<Option<ArchiveExport>> {
        let Some(seen) = self.find_archive(id)? else { return Ok(None) };
        let Some(to) = seen.status.after(step) else { return Ok(None) };
        let row = exports::table.filter(exports::id.eq(id).and(exports::status.eq(seen.status)));
        let now = self.now;
        let finished = (!to.is_active()).then_some(now);
        let expires = match to.is_active() {
            true => seen.expires_at,
            false => now.plus(ArchiveExport::lifetime()),
        };
        let set = (
            exports::status.eq(to),
            exports::error.eq(cause),
            exports::finished_at.eq(finished),
            exports::expires_at.eq(expires),
        );
        each_backend!(self, |conn| diesel::update(row)
            .set(set)
            .returning(ArchiveExport::as_returning())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn unfinished_archives(&mut self) -> Result<Vec<ArchiveExportId>> {
        let active = [ExportStatus::Queued, ExportStatus::Started];
        let found = exports::table.filter(exports::status.eq_any(active)).select(exports::id);
        each_backend!(self, |conn| found.load(conn).map_err(error(NOUN)))
    }

    fn delete_old_archives(&mut self, most: i64) -> Result<Vec<ArchiveExportId>> {
        let over = exports::table
            .filter(exports::expires_at.le(self.now))
            .order(exports::id)
            .limit(most)
            .select(exports::id);
        let mut gone: Vec<ArchiveExportId> =
            each_backend!(self, |conn| over.load(conn).map_err(error(NOUN)))?;
        let newer = diesel::alias!(db::schema::archive_exports as newer);
        let same = newer
            .field(exports::project_id)
            .eq(exports::project_id)
            .or(newer.field(exports::namespace_id).eq(exports::namespace_id));
        let replaced = exports::table
            .filter(exports::status.eq_any([ExportStatus::Finished, ExportStatus::Failed]))
            .filter(diesel::dsl::exists(
                newer
                    .filter(newer.field(exports::id).gt(exports::id))
                    .filter(newer.field(exports::status).eq(ExportStatus::Finished))
                    .filter(same),
            ))
            .order(exports::id)
            .limit(most)
            .select(exports::id);
        let replaced: Vec<ArchiveExportId> =
            each_backend!(self, |conn| replaced.load(conn).map_err(error(NOUN)))?;
        gone.extend(replaced);
        let rows = exports::table.filter(exports::id.one_of(&gone));
        each_backend!(self, |conn| diesel::delete(rows).execute(conn).map_err(error(NOUN)))?;
        Ok(gone)
    }
}
