//! Freeze periods in the database.

use db::{CountOf, Tx, each_backend, error, schema::freeze_periods as periods};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{FreezePeriodId, ProjectId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::FreezePeriod;

const NOUN: &str = "Freeze Period";

pub trait FreezePeriodStore {
    /// A page, oldest first.
    fn freeze_periods(
        &mut self,
        project: ProjectId,
        page: PageRequest,
    ) -> Result<Page<FreezePeriod>>;
    fn freeze_period(
        &mut self,
        project: ProjectId,
        id: FreezePeriodId,
    ) -> Result<Option<FreezePeriod>>;
    fn insert_freeze_period(&mut self, period: &FreezePeriod) -> Result<FreezePeriod>;
    fn save_freeze_period(&mut self, period: &FreezePeriod) -> Result<()>;
    fn delete_freeze_period(&mut self, id: FreezePeriodId) -> Result<()>;
}

impl FreezePeriodStore for Tx<'_> {
    fn freeze_periods(
        &mut self,
        project: ProjectId,
        page: PageRequest,
    ) -> Result<Page<FreezePeriod>> {
        let chosen = || periods::table.filter(periods::project_id.eq(project));
        each_backend!(self, |conn| {
            let items = chosen()
                .order(periods::id)
                .limit(page.per_page)
                .offset(page.offset())
                .select(FreezePeriod::as_select())
                .load(conn)
                .map_err(error(NOUN))?;
            let counted = CountOf(chosen().select(periods::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error(NOUN))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn freeze_period(
        &mut self,
        project: ProjectId,
        id: FreezePeriodId,
    ) -> Result<Option<FreezePeriod>> {
        let query = periods::table.find(id).filter(periods::project_id.eq(project));
        each_backend!(self, |conn| query
            .select(FreezePeriod::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn insert_freeze_period(&mut self, period: &FreezePeriod) -> Result<FreezePeriod> {
        let row = (
            periods::project_id.eq(period.project_id),
            periods::freeze_start.eq(&period.freeze_start),
            periods::freeze_end.eq(&period.freeze_end),
            periods::cron_timezone.eq(&period.cron_timezone),
            periods::created_at.eq(period.created_at),
            periods::updated_at.eq(period.updated_at),
        );
        let insert = diesel::insert_into(periods::table).values(row);
        each_backend!(self, |conn| insert
            .returning(FreezePeriod::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn save_freeze_period(&mut self, period: &FreezePeriod) -> Result<()> {
        let values = (
            periods::freeze_start.eq(&period.freeze_start),
            periods::freeze_end.eq(&period.freeze_end),
            periods::cron_timezone.eq(&period.cron_timezone),
            periods::updated_at.eq(period.updated_at),
        );
        let row = diesel::update(periods::table.find(period.id)).set(values);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_freeze_period(&mut self, id: FreezePeriodId) -> Result<()> {
        let row = diesel::delete(periods::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
