//! Integrations in the database.

use db::{CountOf, Tx, each_backend, error, schema::alert_integrations as integrations};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{AlertIntegrationId, ProjectId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{AlertIntegration, IntegrationKind};

const NOUN: &str = "Alert Integration";

/// Which integration an address means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// The one with this identifier.
    Named(String),
    /// The oldest one of a kind, at addresses from before there were several.
    Oldest(IntegrationKind),
}

pub trait IntegrationStore {
    /// A page, oldest first.
    fn alert_integrations(
        &mut self,
        project: ProjectId,
        page: PageRequest,
    ) -> Result<Page<AlertIntegration>>;
    fn alert_integration(
        &mut self,
        project: ProjectId,
        id: AlertIntegrationId,
    ) -> Result<Option<AlertIntegration>>;
    /// An integration of whatever project.
    fn any_alert_integration(&mut self, id: AlertIntegrationId)
    -> Result<Option<AlertIntegration>>;
    fn find_alert_integration(
        &mut self,
        project: ProjectId,
        endpoint: &Endpoint,
    ) -> Result<Option<AlertIntegration>>;
    fn insert_alert_integration(&mut self, row: &AlertIntegration) -> Result<AlertIntegration>;
    fn save_alert_integration(&mut self, row: &AlertIntegration) -> Result<()>;
    fn delete_alert_integration(&mut self, id: AlertIntegrationId) -> Result<()>;
}

impl IntegrationStore for Tx<'_> {
    fn alert_integrations(
        &mut self,
        project: ProjectId,
        page: PageRequest,
    ) -> Result<Page<AlertIntegration>> {
        let chosen = || integrations::table.filter(integrations::project_id.eq(project));
        each_backend!(self, |conn| {
            let items = chosen()
                .order(integrations::id)
                .limit(page.per_page)
                .offset(page.offset())
                .select(AlertIntegration::as_select())
                .load(conn)
                .map_err(error(NOUN))?;
            let counted = CountOf(chosen().select(integrations::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error(NOUN))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn alert_integration(
        &mut self,
        project: ProjectId,
        id: AlertIntegrationId,
    ) -> Result<Option<AlertIntegration>> {
        Ok(self.any_alert_integration(id)?.filter(|found| found.project_id == project))
    }

    fn any_alert_integration(
        &mut self,
        id: AlertIntegrationId,
    ) -> Result<Option<AlertIntegration>> {
        each_backend!(self, |conn| integrations::table
            .find(id)
            .select(AlertIntegration::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn find_alert_integration(
        &mut self,
        project: ProjectId,
        endpoint: &Endpoint,
    ) -> Result<Option<AlertIntegration>> {
        let own = integrations::table
            .filter(integrations::project_id.eq(project))
            .order(integrations::id)
            .limit(1);
        each_backend!(self, |conn| {
            let own = own.select(AlertIntegration::as_select()).into_boxed();
            let own = match endpoint {
                Endpoint::Named(name) => own.filter(integrations::endpoint.eq(name)),
                Endpoint::Oldest(kind) => own.filter(integrations::kind.eq(*kind)),
            };
            own.get_result(conn).optional().map_err(error(NOUN))
        })
    }

    fn insert_alert_integration(&mut self, row: &AlertIntegration) -> Result<AlertIntegration> {
        let values = (
            integrations::project_id.eq(row.project_id),
            integrations::kind.eq(row.kind),
            integrations::name.eq(&row.name),
            integrations::endpoint.eq(&row.endpoint),
            integrations::active.eq(row.active),
            integrations::token_digest.eq(&row.token_digest),
            integrations::sealed.eq(&row.sealed),
            integrations::mappings.eq(&row.mappings),
            integrations::created_at.eq(row.created_at),
            integrations::updated_at.eq(row.updated_at),
            integrations::payload_example.eq(&row.payload_example),
        );
        let insert = diesel::insert_into(integrations::table).values(values);
        each_backend!(self, |conn| insert
            .returning(AlertIntegration::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn save_alert_integration(&mut self, row: &AlertIntegration) -> Result<()> {
        let values = (
            integrations::name.eq(&row.name),
            integrations::active.eq(row.active),
            integrations::token_digest.eq(&row.token_digest),
            integrations::sealed.eq(&row.sealed),
            integrations::mappings.eq(&row.mappings),
            integrations::updated_at.eq(row.updated_at),
            integrations::payload_example.eq(&row.payload_example),
        );
        let update = diesel::update(integrations::table.find(row.id)).set(values);
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_alert_integration(&mut self, id: AlertIntegrationId) -> Result<()> {
        let row = diesel::delete(integrations::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
