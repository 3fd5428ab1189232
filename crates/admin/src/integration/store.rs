//! Integrations in the database.

use db::{OneOf as _, Tx, each_backend, error, schema::integrations};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{IntegrationId, NamespaceId},
};

use super::Integration;
use crate::owner::Owner;

const NOUN: &str = "Integration";

pub trait IntegrationStore {
    /// Those of a home itself, oldest first.
    fn integrations_of(&mut self, home: Owner) -> Result<Vec<Integration>>;
    /// Those of groups, in any order.
    fn integrations_of_groups(&mut self, groups: &[NamespaceId]) -> Result<Vec<Integration>>;
    fn integrations_with(&mut self, ids: &[IntegrationId]) -> Result<Vec<Integration>>;
    fn find_integration(&mut self, home: Owner, slug: &str) -> Result<Option<Integration>>;
    fn insert_integration(&mut self, row: &Integration) -> Result<Integration>;
    /// Adds some at once, in their order.
    fn insert_integrations(&mut self, rows: &[Integration]) -> Result<()>;
    fn save_integration(&mut self, row: &Integration) -> Result<()>;
}

/// The columns of a new integration.
macro_rules! new_row {
    ($row:expr) => {
        (
            integrations::project_id.eq($row.project_id),
            integrations::namespace_id.eq($row.namespace_id),
            integrations::slug.eq(&$row.slug),
            integrations::active.eq($row.active),
            integrations::inherits.eq($row.inherits),
            integrations::flags.eq($row.flags),
            integrations::properties.eq(&$row.properties),
            integrations::sealed.eq(&$row.sealed),
            integrations::created_at.eq($row.created_at),
            integrations::updated_at.eq($row.updated_at),
        )
    };
}

impl IntegrationStore for Tx<'_> {
    fn integrations_of(&mut self, home: Owner) -> Result<Vec<Integration>> {
        let (project, group) = home.columns();
        each_backend!(self, |conn| {
            let all = integrations::table.select(Integration::as_select()).into_boxed();
            let all = match (project, group) {
                (Some(project), _) => all.filter(integrations::project_id.eq(project)),
                (None, Some(group)) => all.filter(integrations::namespace_id.eq(group)),
                (None, None) => all
                    .filter(integrations::project_id.is_null())
                    .filter(integrations::namespace_id.is_null()),
            };
            all.order(integrations::id).load(conn).map_err(error(NOUN))
        })
    }

    fn integrations_of_groups(&mut self, groups: &[NamespaceId]) -> Result<Vec<Integration>> {
        if groups.is_empty() {
            return Ok(Vec::new());
        }
        let all = integrations::table.filter(integrations::namespace_id.one_of(groups));
        each_backend!(self, |conn| all
            .order(integrations::id)
            .select(Integration::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn integrations_with(&mut self, ids: &[IntegrationId]) -> Result<Vec<Integration>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let all = integrations::table.filter(integrations::id.one_of(ids));
        each_backend!(self, |conn| all
            .select(Integration::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn find_integration(&mut self, home: Owner, slug: &str) -> Result<Option<Integration>> {
        let (project, group) = home.columns();
        each_backend!(self, |conn| {
            let all = integrations::table
                .filter(integrations::slug.eq(slug))
                .select(Integration::as_select())
                .into_boxed();
            let one = match (project, group) {
                (Some(project), _) => all.filter(integrations::project_id.eq(project)),
                (None, Some(group)) => all.filter(integrations::namespace_id.eq(group)),
                (None, None) => all
                    .filter(integrations::project_id.is_null())
                    .filter(integrations::namespace_id.is_null()),
            };
            one.get_result(conn).optional().map_err(error(NOUN))
        })
    }

    fn insert_integration(&mut self, row: &Integration) -> Result<Integration> {
        let insert = diesel::insert_into(integrations::table).values(new_row!(row));
        each_backend!(self, |conn| insert
            .returning(Integration::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn insert_integrations(&mut self, rows: &[Integration]) -> Result<()> {
        let values: Vec<_> = rows.iter().map(|row| new_row!(row)).collect();
        each_backend!(self, |conn| diesel::insert_into(integrations::table)
            .values(values)
            .execute(conn)
            .map_err(error(NOUN)))?;
        Ok(())
    }

    fn save_integration(&mut self, row: &Integration) -> Result<()> {
        let values = (
            integrations::active.eq(row.active),
            integrations::inherits.eq(row.inherits),
            integrations::flags.eq(row.flags),
            integrations::properties.eq(&row.properties),
            integrations::sealed.eq(&row.sealed),
            integrations::updated_at.eq(row.updated_at),
        );
        let update = diesel::update(integrations::table.find(row.id)).set(values);
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
