//! Schedules in the database.

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    schema::{pipeline_schedule_variables as told, pipeline_schedules as schedules, pipelines},
};
use diesel::{dsl::exists, prelude::*};
use kernel::{
    Result, Ts,
    ids::{PipelineId, PipelineScheduleId, ProjectId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{Schedule, ScheduleVariable};
use crate::pipeline::Pipeline;

kernel::text_enum! {
    /// Whether a schedule makes pipelines at present.
    pub enum ScheduleScope { Active = "active", Inactive = "inactive" }
}

const NOUN: &str = "Pipeline Schedule";

pub trait ScheduleStore {
    /// A page, oldest first.
    fn schedules(
        &mut self,
        project: ProjectId,
        rest: Option<ScheduleScope>,
        page: PageRequest,
    ) -> Result<Page<Schedule>>;
    fn schedule(&mut self, project: ProjectId, id: PipelineScheduleId) -> Result<Schedule>;
    fn find_schedule(&mut self, id: PipelineScheduleId) -> Result<Option<Schedule>>;
    fn count_schedules(&mut self, project: ProjectId) -> Result<i64>;
    /// Those whose turn has come, in that order.
    fn due_schedules(&mut self, most: i64) -> Result<Vec<Schedule>>;
    fn insert_schedule(&mut self, schedule: &Schedule) -> Result<Schedule>;
    fn update_schedule(&mut self, schedule: &Schedule) -> Result<()>;
    /// Takes the turn that this one has; false when somebody else did.
    fn advance_schedule(&mut self, seen: &Schedule, next: Option<Ts>) -> Result<bool>;
    fn delete_schedule(&mut self, id: PipelineScheduleId) -> Result<()>;

    /// Those that it made, by age.
    fn pipelines_of_schedule(
        &mut self,
        id: PipelineScheduleId,
        descending: bool,
        page: PageRequest,
    ) -> Result<Page<Pipeline>>;
    fn newest_pipeline_of_schedule(&mut self, id: PipelineScheduleId) -> Result<Option<Pipeline>>;
    /// The newest pipeline of each of these schedules.
    fn newest_pipelines_of_schedules(
        &mut self,
        ids: &[PipelineScheduleId],
    ) -> Result<Vec<Pipeline>>;
    /// Whether a run made its pipeline.
    fn is_run_done(&mut self, run: i64) -> Result<bool>;

    /// In the order of their names.
    fn schedule_variables(&mut self, id: PipelineScheduleId) -> Result<Vec<ScheduleVariable>>;
    /// Those of all these schedules, by one statement, each schedule's in the order of their keys.
    fn variables_of_schedules(
        &mut self,
        ids: &[PipelineScheduleId],
    ) -> Result<Vec<ScheduleVariable>>;
    fn insert_schedule_variable(&mut self, variable: &ScheduleVariable) -> Result<()>;
    fn update_schedule_variable(&mut self, variable: &ScheduleVariable) -> Result<()>;
    fn delete_schedule_variable(&mut self, id: PipelineScheduleId, key: &str) -> Result<()>;
}

impl ScheduleStore for Tx<'_> {
    fn schedules(
        &mut self,
        project: ProjectId,
        rest: Option<ScheduleScope>,
        page: PageRequest,
    ) -> Result<Page<Schedule>> {
        each_backend!(self, |conn| {
            let chosen = || {
                let all = schedules::table.filter(schedules::project_id.eq(project)).into_boxed();
                match rest {
                    Some(rest) => all.filter(schedules::active.eq(rest == ScheduleScope::Active)),
                    None => all,
                }
            };
            let items = chosen()
                .order(schedules::id)
                .limit(page.per_page)
                .offset(page.offset())
                .select(Schedule::as_select())
                .load(conn)
                .map_err(error(NOUN))?;
            let counted = CountOf(chosen().select(schedules::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error(NOUN))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn schedule(&mut self, project: ProjectId, id: PipelineScheduleId) -> Result<Schedule> {
        let query = schedules::table.find(id).filter(schedules::project_id.eq(project));
        each_backend!(self, |conn| query
            .select(Schedule::as_select())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn find_schedule(&mut self, id: PipelineScheduleId) -> Result<Option<Schedule>> {
        each_backend!(self, |conn| schedules::table
            .find(id)
            .select(Schedule::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn count_schedules(&mut self, project: ProjectId) -> Result<i64> {
        let all = schedules::table.filter(schedules::project_id.eq(project)).count();
        each_backend!(self, |conn| all.get_result(conn).map_err(error(NOUN)))
    }

    fn due_schedules(&mut self, most: i64) -> Result<Vec<Schedule>> {
        let due = schedules::table
            .filter(schedules::active.eq(true))
            .filter(schedules::next_run_at.le(self.now).assume_not_null())
            .order((schedules::next_run_at, schedules::id))
            .limit(most);
        each_backend!(self, |conn| due
            .select(Schedule::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn insert_schedule(&mut self, schedule: &Schedule) -> Result<Schedule> {
        let row = (
            schedules::project_id.eq(schedule.project_id),
            schedules::created_at.eq(schedule.created_at),
            ScheduleColumns::from(schedule),
        );
        let insert = diesel::insert_into(schedules::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Schedule::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn update_schedule(&mut self, schedule: &Schedule) -> Result<()> {
        let row =
            diesel::update(schedules::table.find(schedule.id)).set(ScheduleColumns::from(schedule));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn advance_schedule(&mut self, seen: &Schedule, next: Option<Ts>) -> Result<bool> {
        let same = schedules::active.eq(true).and(schedules::next_run_at.eq(seen.next_run_at));
        let row = schedules::table.find(seen.id).filter(same.assume_not_null());
        let moved = each_backend!(self, |conn| diesel::update(row)
            .set(schedules::next_run_at.eq(next))
            .execute(conn)
            .map_err(error(NOUN)))?;
        Ok(moved == 1)
    }

    fn delete_schedule(&mut self, id: PipelineScheduleId) -> Result<()> {
        let row = diesel::delete(schedules::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn pipelines_of_schedule(
        &mut self,
        id: PipelineScheduleId,
        descending: bool,
        page: PageRequest,
    ) -> Result<Page<Pipeline>> {
        each_backend!(self, |conn| {
            let chosen = || pipelines::table.filter(pipelines::schedule_id.eq(id)).into_boxed();
            let ordered = match descending {
                true => chosen().order(pipelines::id.desc()),
                false => chosen().order(pipelines::id.asc()),
            };
            let items = ordered
                .limit(page.per_page)
                .offset(page.offset())
                .select(Pipeline::as_select())
                .load(conn)
                .map_err(error("Pipeline"))?;
            let counted = CountOf(chosen().select(pipelines::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error("Pipeline"))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn newest_pipeline_of_schedule(&mut self, id: PipelineScheduleId) -> Result<Option<Pipeline>> {
        each_backend!(self, |conn| pipelines::table
            .filter(pipelines::schedule_id.eq(id))
            .order(pipelines::id.desc())
            .select(Pipeline::as_select())
            .first(conn)
            .optional()
            .map_err(error("Pipeline")))
    }

    fn newest_pipelines_of_schedules(
        &mut self,
        ids: &[PipelineScheduleId],
    ) -> Result<Vec<Pipeline>> {
        let ids: Vec<Option<PipelineScheduleId>> = ids.iter().copied().map(Some).collect();
        let newest: Vec<Option<PipelineId>> = each_backend!(self, |conn| pipelines::table
            .filter(pipelines::schedule_id.one_of(&ids))
            .group_by(pipelines::schedule_id)
            .select(diesel::dsl::max(pipelines::id))
            .load(conn)
            .map_err(error("Pipeline")))?;
        let newest: Vec<PipelineId> = newest.into_iter().flatten().collect();
        each_backend!(self, |conn| pipelines::table
            .filter(pipelines::id.one_of(&newest))
            .select(Pipeline::as_select())
            .load(conn)
            .map_err(error("Pipeline")))
    }

    fn is_run_done(&mut self, run: i64) -> Result<bool> {
        let made = pipelines::table.filter(pipelines::schedule_run.eq(run));
        each_backend!(self, |conn| diesel::select(exists(made))
            .get_result(conn)
            .map_err(error("Pipeline")))
    }

    fn schedule_variables(&mut self, id: PipelineScheduleId) -> Result<Vec<ScheduleVariable>> {
        each_backend!(self, |conn| told::table
            .filter(told::schedule_id.eq(id))
            .order(told::key)
            .select(ScheduleVariable::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn variables_of_schedules(
        &mut self,
        ids: &[PipelineScheduleId],
    ) -> Result<Vec<ScheduleVariable>> {
        each_backend!(self, |conn| told::table
            .filter(told::schedule_id.one_of(ids))
            .order(told::key)
            .select(ScheduleVariable::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn insert_schedule_variable(&mut self, variable: &ScheduleVariable) -> Result<()> {
        let row = (
            told::schedule_id.eq(variable.schedule_id),
            told::key.eq(&variable.key),
            told::kind.eq(variable.kind),
            told::sealed.eq(&variable.sealed),
        );
        let insert = diesel::insert_into(told::table).values(row);
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn update_schedule_variable(&mut self, variable: &ScheduleVariable) -> Result<()> {
        let row = told::table.find((variable.schedule_id, &variable.key));
        let values = (told::kind.eq(variable.kind), told::sealed.eq(&variable.sealed));
        let update = diesel::update(row).set(values);
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_schedule_variable(&mut self, id: PipelineScheduleId, key: &str) -> Result<()> {
        let row = diesel::delete(told::table.find((id, key)));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}

/// The columns that a change may set.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = schedules, treat_none_as_null = true)]
struct ScheduleColumns<'s> {
    owner_id: Option<kernel::ids::UserId>,
    description: &'s str,
    ref_name: &'s str,
    cron: &'s str,
    cron_timezone: &'s str,
    next_run_at: Option<Ts>,
    active: bool,
    updated_at: Ts,
}

impl<'s> From<&'s Schedule> for ScheduleColumns<'s> {
    fn from(schedule: &'s Schedule) -> Self {
        Self {
            owner_id: schedule.owner_id,
            description: &schedule.description,
            ref_name: &schedule.ref_name,
            cron: &schedule.cron,
            cron_timezone: &schedule.cron_timezone,
            next_run_at: schedule.next_run_at,
            active: schedule.active,
            updated_at: schedule.updated_at,
        }
    }
}
