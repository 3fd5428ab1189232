//! Keeping notes.

use std::collections::HashMap;

use db::{Tx, each_backend, error, schema::custom_attributes};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId, UserId},
};

use super::{CustomAttribute, Subject};

/// The notes of each thing on a page, by its id.
pub type NotesById = HashMap<i64, Vec<CustomAttribute>>;

pub trait CustomAttributeStore {
    fn custom_attributes(&mut self, of: Subject) -> Result<Vec<CustomAttribute>>;
    fn custom_attribute(&mut self, of: Subject, key: &str) -> Result<CustomAttribute>;
    fn save_custom_attribute(&mut self, of: Subject, note: &CustomAttribute) -> Result<()>;
    /// Whether there was one.
    fn delete_custom_attribute(&mut self, of: Subject, key: &str) -> Result<bool>;
    fn custom_attributes_of_groups(&mut self, ids: &[NamespaceId]) -> Result<NotesById>;
    fn custom_attributes_of_projects(&mut self, ids: &[ProjectId]) -> Result<NotesById>;
    fn custom_attributes_of_users(&mut self, ids: &[UserId]) -> Result<NotesById>;
}

/// The notes of one thing, as a filter for each kind.
macro_rules! of_subject {
    ($of:expr, |$rows:ident| $query:expr) => {
        match $of {
            Subject::Group(id) => {
                let $rows = custom_attributes::table.filter(custom_attributes::namespace_id.eq(id));
                $query
            }
            Subject::Project(id) => {
                let $rows = custom_attributes::table.filter(custom_attributes::project_id.eq(id));
                $query
            }
            Subject::User(id) => {
                let $rows = custom_attributes::table.filter(custom_attributes::user_id.eq(id));
                $query
            }
        }
    };
}

macro_rules! of_page {
    ($tx:expr, $column:ident, $ids:expr) => {{
        let rows: Vec<(Option<i64>, CustomAttribute)> =
            each_backend!($tx, |conn| custom_attributes::table
                .filter(custom_attributes::$column.eq_any($ids.iter().map(|id| id.0)))
                .order((custom_attributes::$column, custom_attributes::id))
                .select((custom_attributes::$column, CustomAttribute::as_select()))
                .load(conn)
                .map_err(error("Custom Attribute")))?;
        let mut notes = NotesById::new();
        for (id, note) in rows {
            notes.entry(id.unwrap_or_default()).or_default().push(note);
        }
        Ok(notes)
    }};
}

impl CustomAttributeStore for Tx<'_> {
    fn custom_attributes(&mut self, of: Subject) -> Result<Vec<CustomAttribute>> {
        of_subject!(of, |rows| each_backend!(self, |conn| rows
            .order(custom_attributes::id)
            .select(CustomAttribute::as_select())
            .load(conn)
            .map_err(error("Custom Attribute"))))
    }

    fn custom_attribute(&mut self, of: Subject, key: &str) -> Result<CustomAttribute> {
        let found: Option<CustomAttribute> =
            of_subject!(of, |rows| each_backend!(self, |conn| rows
                .filter(custom_attributes::key.eq(key))
                .select(CustomAttribute::as_select())
                .get_result(conn)
                .optional()
                .map_err(error("Custom Attribute"))))?;
        found.ok_or_else(kernel::Error::missing)
    }

    fn save_custom_attribute(&mut self, of: Subject, note: &CustomAttribute) -> Result<()> {
        let changes =
            (custom_attributes::value.eq(&note.value), custom_attributes::updated_at.eq(self.now));
        let changed = of_subject!(of, |rows| each_backend!(self, |conn| diesel::update(
            rows.filter(custom_attributes::key.eq(&note.key))
        )
        .set(changes)
        .execute(conn)
        .map_err(error("Custom Attribute"))))?;
        if changed > 0 {
            return Ok(());
        }
        let (group, project, user) = match of {
            Subject::Group(id) => (Some(id), None, None),
            Subject::Project(id) => (None, Some(id), None),
            Subject::User(id) => (None, None, Some(id)),
        };
        let row = (
            custom_attributes::namespace_id.eq(group),
            custom_attributes::project_id.eq(project),
            custom_attributes::user_id.eq(user),
            custom_attributes::key.eq(&note.key),
            custom_attributes::value.eq(&note.value),
            custom_attributes::created_at.eq(self.now),
            custom_attributes::updated_at.eq(self.now),
        );
        // Whoever wrote the same note at the same moment was later than this.
        let insert = diesel::insert_into(custom_attributes::table).values(row);
        each_backend!(self, |conn| insert
            .on_conflict_do_nothing()
            .execute(conn)
            .map_err(error("Custom Attribute")))?;
        Ok(())
    }

    fn delete_custom_attribute(&mut self, of: Subject, key: &str) -> Result<bool> {
        let gone = of_subject!(of, |rows| each_backend!(self, |conn| diesel::delete(
            rows.filter(custom_attributes::key.eq(key))
        )
        .execute(conn)
        .map_err(error("Custom Attribute"))))?;
        Ok(gone > 0)
    }

    fn custom_attributes_of_groups(&mut self, ids: &[NamespaceId]) -> Result<NotesById> {
        of_page!(self, namespace_id, ids)
    }

    fn custom_attributes_of_projects(&mut self, ids: &[ProjectId]) -> Result<NotesById> {
        of_page!(self, project_id, ids)
    }

    fn custom_attributes_of_users(&mut self, ids: &[UserId]) -> Result<NotesById> {
        of_page!(self, user_id, ids)
    }
}
