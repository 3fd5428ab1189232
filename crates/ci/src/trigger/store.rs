//! Triggers in the database.

use db::{CountOf, Tx, each_backend, error, schema::triggers};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{ProjectId, TriggerId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::Trigger;

const NOUN: &str = "Trigger";

pub trait TriggerStore {
    /// A page, oldest first.
    fn triggers(&mut self, project: ProjectId, page: PageRequest) -> Result<Page<Trigger>>;
    fn trigger(&mut self, project: ProjectId, id: TriggerId) -> Result<Trigger>;
    /// The one of a token with this digest, in whatever project.
    fn find_trigger(&mut self, digest: &str) -> Result<Option<Trigger>>;
    fn count_triggers(&mut self, project: ProjectId) -> Result<i64>;
    fn insert_trigger(&mut self, trigger: &Trigger) -> Result<Trigger>;
    fn update_trigger(&mut self, trigger: &Trigger) -> Result<()>;
    /// Notes that its token was used now.
    fn record_use_of_trigger(&mut self, id: TriggerId) -> Result<()>;
    fn delete_trigger(&mut self, id: TriggerId) -> Result<()>;
}

impl TriggerStore for Tx<'_> {
    fn triggers(&mut self, project: ProjectId, page: PageRequest) -> Result<Page<Trigger>> {
        let chosen = || triggers::table.filter(triggers::project_id.eq(project));
        each_backend!(self, |conn| {
            let items = chosen()
                .order(triggers::id)
                .limit(page.per_page)
                .offset(page.offset())
                .select(Trigger::as_select())
                .load(conn)
                .map_err(error(NOUN))?;
            let counted = CountOf(chosen().select(triggers::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error(NOUN))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn trigger(&mut self, project: ProjectId, id: TriggerId) -> Result<Trigger> {
        let query = triggers::table.find(id).filter(triggers::project_id.eq(project));
        each_backend!(self, |conn| query
            .select(Trigger::as_select())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn count_triggers(&mut self, project: ProjectId) -> Result<i64> {
        let count = triggers::table.filter(triggers::project_id.eq(project)).count();
        each_backend!(self, |conn| count.get_result(conn).map_err(error(NOUN)))
    }

    fn find_trigger(&mut self, digest: &str) -> Result<Option<Trigger>> {
        each_backend!(self, |conn| triggers::table
            .filter(triggers::token_digest.eq(digest))
            .select(Trigger::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn insert_trigger(&mut self, trigger: &Trigger) -> Result<Trigger> {
        let row = (
            triggers::project_id.eq(trigger.project_id),
            triggers::owner_id.eq(trigger.owner_id),
            triggers::token_digest.eq(&trigger.token_digest),
            triggers::sealed.eq(&trigger.sealed),
            triggers::description.eq(&trigger.description),
            triggers::created_at.eq(trigger.created_at),
            triggers::updated_at.eq(trigger.updated_at),
        );
        let insert = diesel::insert_into(triggers::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Trigger::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn update_trigger(&mut self, trigger: &Trigger) -> Result<()> {
        let values = (
            triggers::description.eq(&trigger.description),
            triggers::updated_at.eq(trigger.updated_at),
        );
        let row = diesel::update(triggers::table.find(trigger.id)).set(values);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn record_use_of_trigger(&mut self, id: TriggerId) -> Result<()> {
        let now = self.now;
        let row = diesel::update(triggers::table.find(id));
        each_backend!(self, |conn| row
            .set(triggers::last_used_at.eq(Some(now)))
            .execute(conn)
            .map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_trigger(&mut self, id: TriggerId) -> Result<()> {
        let row = diesel::delete(triggers::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
