//! Alerts in the database.

use db::{
    CountOf, Tx, each_backend, error,
    schema::{alert_numbers as numbers, alerts},
};
use diesel::{dsl::sql, expression::SqlLiteral, prelude::*, sql_types::Bool};
use kernel::{
    Error, Result, Ts,
    ids::{AlertId, EnvironmentId, IssueId, ProjectId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{Alert, AlertSeverity, AlertStatus, NewAlert};

const NOUN: &str = "Alert";

/// Which alerts a list shows; an empty list of values leaves all.
#[derive(Clone, Debug, Default)]
pub struct AlertFilter {
    pub statuses: Vec<AlertStatus>,
    pub severities: Vec<AlertSeverity>,
}

pub trait AlertStore {
    /// A page, newest first.
    fn alerts(
        &mut self,
        project: ProjectId,
        filter: &AlertFilter,
        page: PageRequest,
    ) -> Result<Page<Alert>>;
    fn find_alert(&mut self, project: ProjectId, iid: i64) -> Result<Option<Alert>>;
    /// The one that is not resolved yet.
    fn find_open_alert(&mut self, project: ProjectId, fingerprint: &str) -> Result<Option<Alert>>;
    /// Counts that an alert which is not resolved was reported again; `None` where there is none.
    fn count_event(&mut self, project: ProjectId, fingerprint: &str) -> Result<Option<Alert>>;
    /// `None` where one with its fingerprint is open already.
    fn insert_alert(
        &mut self,
        project: ProjectId,
        environment: Option<EnvironmentId>,
        new: &NewAlert,
    ) -> Result<Option<Alert>>;
    /// Gives an alert another status; `None` where it is no longer as it was read.
    fn move_alert(
        &mut self,
        before: &Alert,
        status: AlertStatus,
        ended_at: Option<Ts>,
    ) -> Result<Option<Alert>>;
    fn set_incident(&mut self, id: AlertId, issue: IssueId) -> Result<()>;
}

macro_rules! chosen {
    ($project:expr, $filter:expr) => {{
        let mut rows = alerts::table.filter(alerts::project_id.eq($project)).into_boxed();
        if !$filter.statuses.is_empty() {
            rows = rows.filter(alerts::status.eq_any(&$filter.statuses));
        }
        if !$filter.severities.is_empty() {
            rows = rows.filter(alerts::severity.eq_any(&$filter.severities));
        }
        rows
    }};
}

impl AlertStore for Tx<'_> {
    fn alerts(
        &mut self,
        project: ProjectId,
        filter: &AlertFilter,
        page: PageRequest,
    ) -> Result<Page<Alert>> {
        each_backend!(self, |conn| {
            let items = chosen!(project, filter)
                .order(alerts::iid.desc())
                .limit(page.per_page)
                .offset(page.offset())
                .select(Alert::as_select())
                .load(conn)
                .map_err(error(NOUN))?;
            let ids = chosen!(project, filter).select(alerts::id).limit(COUNT_LIMIT + 1);
            let total: i64 = CountOf(ids).get_result(conn).map_err(error(NOUN))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn find_alert(&mut self, project: ProjectId, iid: i64) -> Result<Option<Alert>> {
        let row = alerts::table.filter(alerts::project_id.eq(project).and(alerts::iid.eq(iid)));
        each_backend!(self, |conn| row
            .select(Alert::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn find_open_alert(&mut self, project: ProjectId, fingerprint: &str) -> Result<Option<Alert>> {
        let row = alerts::table
            .filter(alerts::project_id.eq(project).and(alerts::fingerprint.eq(fingerprint)))
            .filter(is_open());
        each_backend!(self, |conn| row
            .select(Alert::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn count_event(&mut self, project: ProjectId, fingerprint: &str) -> Result<Option<Alert>> {
        let row = alerts::table
            .filter(alerts::project_id.eq(project).and(alerts::fingerprint.eq(fingerprint)))
            .filter(is_open());
        let update = diesel::update(row)
            .set((alerts::events.eq(alerts::events + 1), alerts::updated_at.eq(self.now)));
        each_backend!(self, |conn| update
            .returning(Alert::as_returning())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn insert_alert(
        &mut self,
        project: ProjectId,
        environment: Option<EnvironmentId>,
        new: &NewAlert,
    ) -> Result<Option<Alert>> {
        let iid = next_iid(self, project)?;
        let row = (
            alerts::project_id.eq(project),
            alerts::iid.eq(iid),
            alerts::title.eq(&new.title),
            alerts::description.eq(&new.description),
            alerts::service.eq(&new.service),
            alerts::monitoring_tool.eq(&new.monitoring_tool),
            alerts::hosts.eq(serde_json::to_string(&new.hosts).map_err(Error::internal)?),
            alerts::severity.eq(new.severity),
            alerts::status.eq(AlertStatus::Triggered),
            alerts::started_at.eq(new.started_at.unwrap_or(self.now)),
            alerts::events.eq(1_i64),
            alerts::fingerprint.eq(&new.fingerprint),
            alerts::environment.eq(&new.environment),
            alerts::environment_id.eq(environment),
            alerts::runbook.eq(&new.runbook),
            alerts::is_prometheus.eq(new.is_prometheus),
            alerts::payload.eq(&new.payload),
            alerts::created_at.eq(self.now),
            alerts::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(alerts::table).values(row).on_conflict_do_nothing();
        each_backend!(self, |conn| insert
            .returning(Alert::as_returning())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn move_alert(
        &mut self,
        before: &Alert,
        status: AlertStatus,
        ended_at: Option<Ts>,
    ) -> Result<Option<Alert>> {
        let values = (
            alerts::status.eq(status),
            alerts::ended_at.eq(ended_at),
            alerts::updated_at.eq(self.now),
        );
        let row = alerts::table.find(before.id).filter(alerts::status.eq(before.status));
        let update = diesel::update(row).set(values);
        each_backend!(self, |conn| update
            .returning(Alert::as_returning())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn set_incident(&mut self, id: AlertId, issue: IssueId) -> Result<()> {
        let update = diesel::update(alerts::table.find(id)).set(alerts::issue_id.eq(Some(issue)));
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}

/// In the very words of the index over open alerts: with a bound value PostgreSQL does not use it once it has a plan for all
/// values.
fn is_open() -> SqlLiteral<Bool> {
    sql("status <> 'resolved'")
}

/// Whoever takes a number waits for whoever took the one before.
fn next_iid(tx: &mut Tx<'_>, project: ProjectId) -> Result<i64> {
    let first = (numbers::project_id.eq(project), numbers::last.eq(1_i64));
    each_backend!(tx, |conn| diesel::insert_into(numbers::table)
        .values(first)
        .on_conflict(numbers::project_id)
        .do_update()
        .set(numbers::last.eq(numbers::last + 1))
        .returning(numbers::last)
        .get_result(conn)
        .map_err(error(NOUN)))
}
