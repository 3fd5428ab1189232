//! Milestones in the database.

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    keyset::{ListWindow, WHOLE},
    lower,
    schema::milestones,
};
use diesel::{dsl::sql, prelude::*, sql_types::Bool};
use kernel::{
    Result, Ts,
    ids::{MilestoneId, ProjectId},
    like::containing,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::model::{Milestone, MilestoneFilter, MilestoneOrder, MilestoneState};
use crate::{Home, sequence};

/// Columns of a milestone that can be changed.
#[derive(Clone, Debug)]
pub struct MilestoneDetails {
    pub title: String,
    pub description: Option<String>,
    pub state: MilestoneState,
    pub start_date: Option<Ts>,
    pub due_date: Option<Ts>,
}

pub trait MilestoneStore {
    /// A page of milestones in the order of the filter.
    fn milestones(
        &mut self,
        filter: &MilestoneFilter,
        page: PageRequest,
    ) -> Result<Page<Milestone>> {
        self.milestones_in(filter, &WHOLE, page)
    }
    /// As [`milestones`](Self::milestones), of a part of the list that is read from its beginning. A list with those last that are
    /// over has no parts.
    fn milestones_in(
        &mut self,
        filter: &MilestoneFilter,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<Milestone>>;
    fn find_milestone(&mut self, home: Home, id: MilestoneId) -> Result<Option<Milestone>>;
    /// Milestones of whatever place, in no order.
    fn milestones_by_id(&mut self, ids: &[MilestoneId]) -> Result<Vec<Milestone>>;
    /// Whether one of these places has a milestone of this title.
    fn is_title_taken(&mut self, within: &MilestoneFilter, title: &str) -> Result<bool>;
    fn insert_milestone(&mut self, home: Home, details: &MilestoneDetails) -> Result<Milestone>;
    fn save_milestone(&mut self, id: MilestoneId, details: &MilestoneDetails) -> Result<Milestone>;
    /// Makes a project's milestone one of a group, with a number of that group.
    fn lift_milestone(&mut self, id: MilestoneId, to: Home) -> Result<Milestone>;
    /// Whether it was still there.
    fn delete_milestone(&mut self, id: MilestoneId) -> Result<bool>;
    /// The milestones of a title that projects have of their own.
    fn milestones_called(&mut self, projects: &[ProjectId], title: &str) -> Result<Vec<Milestone>>;
}

impl MilestoneStore for Tx<'_> {
    #[expect(clippy::too_many_lines, reason = "one step after the other")]
    fn milestones_in(
        &mut self,
        filter: &MilestoneFilter,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<Milestone>> {
        let between = filter.order.between(window);
        let pattern = filter.search.as_deref().map(containing);
        let title_pattern = filter.title_part.as_deref().map(containing);
        let today = Ts::from_date(self.now.date());
        let (items, total) = each_backend!(self, |conn| {
            let chosen = || {
                let within = milestones::project_id
                    .eq_any(&filter.projects)
                    .or(milestones::namespace_id.eq_any(&filter.groups));
                let mut query = milestones::table.filter(within.assume_not_null()).into_boxed();
                if !filter.iids.is_empty() {
                    query = query.filter(milestones::iid.eq_any(&filter.iids));
                }
                if let Some(state) = filter.state {
                    query = query.filter(milestones::state.eq(state));
                }
                if let Some(title) = &filter.title {
                    query = query.filter(milestones::title.eq(title));
                }
                if !filter.titles.is_empty() {
                    query = query.filter(milestones::title.eq_any(&filter.titles));
                }
                if !filter.ids.is_empty() {
                    query = query.filter(milestones::id.eq_any(&filter.ids));
                }
                if let Some(pattern) = &title_pattern {
                    query = query.filter(lower(milestones::title).like(pattern).escape('\\'));
                }
                if let Some((first, last)) = filter.timeframe {
                    let (start, due) = (milestones::start_date, milestones::due_date);
                    query = query
                        .filter(start.is_not_null().or(due.is_not_null()))
                        .filter(start.is_null().or(start.le(last)))
                        .filter(due.is_null().or(due.ge(first)));
                }
                if let Some(before) = filter.updated_before {
                    query = query.filter(milestones::updated_at.le(before.end_of_shown()));
                }
                if let Some(after) = filter.updated_after {
                    query = query.filter(milestones::updated_at.ge(after));
                }
                if let Some(pattern) = &pattern {
                    let described = diesel::dsl::sql::<diesel::sql_types::Text>(
                        "coalesce(milestones.description, '')",
                    );
                    query = query.filter(
                        lower(milestones::title)
                            .like(pattern)
                            .escape('\\')
                            .or(lower(described).like(pattern).escape('\\')),
                    );
                }
                query
            };
            let (id, due) = (milestones::id, milestones::due_date);
            let (created, updated) = (milestones::created_at, milestones::updated_at);
            let expired = due.is_not_null().and(due.lt(today));
            let ordered = match filter.order {
                MilestoneOrder::NewestFirst => chosen().order(id.desc()),
                MilestoneOrder::CreatedAt { descending: false } => chosen().order((created, id)),
                MilestoneOrder::CreatedAt { descending: true } => {
                    chosen().order((created.desc(), id.desc()))
                }
                MilestoneOrder::UpdatedAt { descending: false } => chosen().order((updated, id)),
                MilestoneOrder::UpdatedAt { descending: true } => {
                    chosen().order((updated.desc(), id.desc()))
                }
                MilestoneOrder::DueDate { descending: false } => {
                    chosen().order((due.is_null(), due.asc(), id))
                }
                MilestoneOrder::DueDate { descending: true } => {
                    chosen().order((due.is_null(), due.desc(), id.desc()))
                }
                MilestoneOrder::ExpiredLast { descending: false } => {
                    chosen().order((expired, due.is_null(), due.asc(), id))
                }
                MilestoneOrder::ExpiredLast { descending: true } => {
                    chosen().order((expired, due.is_null(), due.desc(), id.desc()))
                }
            };
            let ordered = match &between {
                Some(between) => ordered.filter(sql::<Bool>(between)),
                None => ordered,
            };
            let items = ordered
                .limit(page.per_page)
                .offset(page.offset())
                .select(Milestone::as_select())
                .load(conn)
                .map_err(error("Milestone"))?;
            let counted = match &between {
                Some(between) => chosen().filter(sql::<Bool>(between)),
                None => chosen(),
            };
            let counted = CountOf(counted.select(milestones::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error("Milestone"))?;
            (items, total)
        });
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn find_milestone(&mut self, home: Home, id: MilestoneId) -> Result<Option<Milestone>> {
        let found: Option<Milestone> = each_backend!(self, |conn| milestones::table
            .find(id)
            .select(Milestone::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Milestone")))?;
        let here = |found: &Milestone| match home {
            Home::Project(project) => found.project_id == Some(project),
            Home::Group(group) => found.namespace_id == Some(group),
        };
        Ok(found.filter(here))
    }

    fn milestones_by_id(&mut self, ids: &[MilestoneId]) -> Result<Vec<Milestone>> {
        each_backend!(self, |conn| milestones::table
            .filter(milestones::id.one_of(ids))
            .select(Milestone::as_select())
            .load(conn)
            .map_err(error("Milestone")))
    }

    fn is_title_taken(&mut self, within: &MilestoneFilter, title: &str) -> Result<bool> {
        let found = milestones::table
            .filter(
                milestones::project_id
                    .eq_any(&within.projects)
                    .or(milestones::namespace_id.eq_any(&within.groups))
                    .assume_not_null(),
            )
            .filter(milestones::title.eq(title));
        each_backend!(self, |conn| diesel::select(diesel::dsl::exists(found))
            .get_result(conn)
            .map_err(error("Milestone")))
    }

    fn insert_milestone(&mut self, home: Home, details: &MilestoneDetails) -> Result<Milestone> {
        let iid = sequence::next(self, home, "milestone")?;
        let row = (
            milestones::iid.eq(iid),
            milestones::project_id.eq(home.project()),
            milestones::namespace_id.eq(home.group()),
            milestones::title.eq(&details.title),
            milestones::description.eq(&details.description),
            milestones::state.eq(details.state),
            milestones::start_date.eq(details.start_date),
            milestones::due_date.eq(details.due_date),
            milestones::created_at.eq(self.now),
            milestones::updated_at.eq(self.now),
        );
        each_backend!(self, |conn| diesel::insert_into(milestones::table)
            .values(row)
            .returning(Milestone::as_returning())
            .get_result(conn)
            .map_err(error("Milestone")))
    }

    fn save_milestone(&mut self, id: MilestoneId, details: &MilestoneDetails) -> Result<Milestone> {
        let row = (
            milestones::title.eq(&details.title),
            milestones::description.eq(&details.description),
            milestones::state.eq(details.state),
            milestones::start_date.eq(details.start_date),
            milestones::due_date.eq(details.due_date),
            milestones::updated_at.eq(self.now),
        );
        each_backend!(self, |conn| diesel::update(milestones::table.find(id))
            .set(row)
            .returning(Milestone::as_returning())
            .get_result(conn)
            .map_err(error("Milestone")))
    }

    fn lift_milestone(&mut self, id: MilestoneId, to: Home) -> Result<Milestone> {
        let iid = sequence::next(self, to, "milestone")?;
        let row = (
            milestones::iid.eq(iid),
            milestones::project_id.eq(to.project()),
            milestones::namespace_id.eq(to.group()),
            milestones::updated_at.eq(self.now),
        );
        each_backend!(self, |conn| diesel::update(milestones::table.find(id))
            .set(row)
            .returning(Milestone::as_returning())
            .get_result(conn)
            .map_err(error("Milestone")))
    }

    fn delete_milestone(&mut self, id: MilestoneId) -> Result<bool> {
        let row = diesel::delete(milestones::table.find(id));
        let gone = each_backend!(self, |conn| row.execute(conn).map_err(error("Milestone")))?;
        Ok(gone > 0)
    }

    fn milestones_called(&mut self, projects: &[ProjectId], title: &str) -> Result<Vec<Milestone>> {
        let rows = milestones::table
            .filter(milestones::project_id.one_of(projects))
            .filter(milestones::title.eq(title));
        each_backend!(self, |conn| rows
            .select(Milestone::as_select())
            .load(conn)
            .map_err(error("Milestone")))
    }
}
