//! Managers in the database.

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    schema::{runner_managers as managers, runners},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::RunnerId,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{Contact, Manager};

const NOUN: &str = "Runner manager";

pub trait ManagerStore {
    /// A page, newest first.
    fn managers(&mut self, runner: RunnerId, page: PageRequest) -> Result<Page<Manager>>;
    /// Those of several runners, the newest first.
    fn managers_of(&mut self, runners: &[RunnerId]) -> Result<Vec<Manager>>;
    /// Writes down that a runner called now, and what it told of itself. What it does not tell stays as it was.
    fn record_contact(&mut self, runner: RunnerId, contact: &Contact) -> Result<()>;
    /// Takes one away; false where there is none of that name.
    fn delete_manager(&mut self, runner: RunnerId, system_id: &str) -> Result<bool>;
}

impl ManagerStore for Tx<'_> {
    fn managers(&mut self, runner: RunnerId, page: PageRequest) -> Result<Page<Manager>> {
        let chosen = || managers::table.filter(managers::runner_id.eq(runner));
        each_backend!(self, |conn| {
            let items = chosen()
                .order(managers::id.desc())
                .limit(page.per_page)
                .offset(page.offset())
                .select(Manager::as_select())
                .load(conn)
                .map_err(error(NOUN))?;
            let counted = CountOf(chosen().select(managers::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error(NOUN))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn managers_of(&mut self, runners: &[RunnerId]) -> Result<Vec<Manager>> {
        if runners.is_empty() {
            return Ok(Vec::new());
        }
        each_backend!(self, |conn| managers::table
            .filter(managers::runner_id.one_of(runners))
            .order(managers::id.desc())
            .select(Manager::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn record_contact(&mut self, runner: RunnerId, contact: &Contact) -> Result<()> {
        let told = (
            contact.version.as_ref().map(|told| managers::version.eq(told)),
            contact.revision.as_ref().map(|told| managers::revision.eq(told)),
            contact.platform.as_ref().map(|told| managers::platform.eq(told)),
            contact.architecture.as_ref().map(|told| managers::architecture.eq(told)),
            contact.ip_address.as_ref().map(|told| managers::ip_address.eq(told)),
            managers::contacted_at.eq(Some(self.now)),
        );
        let new = (
            managers::runner_id.eq(runner),
            managers::system_id.eq(contact.system_id()),
            managers::created_at.eq(self.now),
        );
        let upsert = diesel::insert_into(managers::table)
            .values((new, told))
            .on_conflict((managers::runner_id, managers::system_id))
            .do_update()
            .set(told);
        each_backend!(self, |conn| upsert.execute(conn).map_err(error(NOUN)))?;
        let of_runner = (
            contact.name.as_ref().map(|told| runners::name.eq(told)),
            contact.version.as_ref().map(|told| runners::version.eq(told)),
            contact.revision.as_ref().map(|told| runners::revision.eq(told)),
            contact.platform.as_ref().map(|told| runners::platform.eq(told)),
            contact.architecture.as_ref().map(|told| runners::architecture.eq(told)),
            contact.ip_address.as_ref().map(|told| runners::ip_address.eq(told)),
            runners::contacted_at.eq(Some(self.now)),
        );
        let row = diesel::update(runners::table.find(runner)).set(of_runner);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_manager(&mut self, runner: RunnerId, system_id: &str) -> Result<bool> {
        let row = managers::table
            .filter(managers::runner_id.eq(runner).and(managers::system_id.eq(system_id)));
        let gone =
            each_backend!(self, |conn| diesel::delete(row).execute(conn).map_err(error(NOUN)))?;
        Ok(gone > 0)
    }
}
