//! Exports in the database. Expired ones are not found.

use db::{OneOf as _, Tx, each_backend, error, schema::vulnerability_exports as exports};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{UserId, VulnerabilityExportId},
};

use super::{Export, ExportScope, Status};

const NOUN: &str = "Vulnerability Export";

pub trait ExportStore {
    fn find_export(&mut self, id: VulnerabilityExportId) -> Result<Option<Export>>;
    /// Whether somebody waits for an export of the same.
    fn has_export_underway(&mut self, author: UserId, scope: ExportScope) -> Result<bool>;
    fn insert_export(&mut self, export: &Export) -> Result<Export>;
    /// Keeps how far an export is.
    fn save_export(&mut self, export: &Export) -> Result<()>;
    /// Up to `most` expired exports.
    fn expired_exports(&mut self, most: i64) -> Result<Vec<VulnerabilityExportId>>;
    /// Deletes those of these that have expired.
    fn delete_expired_exports(&mut self, ids: &[VulnerabilityExportId]) -> Result<()>;
}

impl ExportStore for Tx<'_> {
    fn find_export(&mut self, id: VulnerabilityExportId) -> Result<Option<Export>> {
        let row = exports::table.find(id).filter(exports::expires_at.gt(self.now));
        each_backend!(self, |conn| row
            .select(Export::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn has_export_underway(&mut self, author: UserId, scope: ExportScope) -> Result<bool> {
        let (project, group) = match scope {
            ExportScope::Project(project) => (Some(project), None),
            ExportScope::Group(group) => (None, Some(group)),
            ExportScope::Dashboard => (None, None),
        };
        let rows = exports::table
            .filter(exports::author_id.eq(author))
            .filter(exports::status.eq_any([Status::Created, Status::Running]))
            .filter(exports::expires_at.gt(self.now))
            .select((exports::project_id, exports::group_id));
        let underway: Vec<(Option<kernel::ids::ProjectId>, Option<kernel::ids::NamespaceId>)> =
            each_backend!(self, |conn| rows.load(conn).map_err(error(NOUN)))?;
        Ok(underway.contains(&(project, group)))
    }

    fn insert_export(&mut self, export: &Export) -> Result<Export> {
        let row = (
            exports::author_id.eq(export.author_id),
            exports::project_id.eq(export.project_id),
            exports::group_id.eq(export.group_id),
            exports::status.eq(export.status),
            exports::send_email.eq(export.send_email),
            exports::created_at.eq(export.created_at),
            exports::expires_at.eq(export.expires_at),
        );
        let insert = diesel::insert_into(exports::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Export::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn save_export(&mut self, export: &Export) -> Result<()> {
        let values = (
            exports::status.eq(export.status),
            exports::started_at.eq(export.started_at),
            exports::finished_at.eq(export.finished_at),
            exports::expires_at.eq(export.expires_at),
        );
        let row = diesel::update(exports::table.find(export.id)).set(values);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn expired_exports(&mut self, most: i64) -> Result<Vec<VulnerabilityExportId>> {
        let over = exports::table
            .filter(exports::expires_at.le(self.now))
            .order(exports::expires_at)
            .limit(most)
            .select(exports::id);
        each_backend!(self, |conn| over.load(conn).map_err(error(NOUN)))
    }

    fn delete_expired_exports(&mut self, ids: &[VulnerabilityExportId]) -> Result<()> {
        let over = exports::id.one_of(ids).and(exports::expires_at.le(self.now));
        let rows = diesel::delete(exports::table.filter(over));
        each_backend!(self, |conn| rows.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
