//! Alerts in the database.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx,
    archive::ensure_number,
    each_backend, error,
    keyset::{ListOrder, ListWindow, RowPosition, WHOLE},
    listing::{self, Bind, Conditions, Selection, page_of_ids},
    schema::{alert_numbers as numbers, alerts},
};
use diesel::{dsl::sql, expression::SqlLiteral, prelude::*, sql_types::Bool};
use kernel::{
    Error, Result, TextEnum, Ts,
    ids::{AlertId, EnvironmentId, IssueId, ProjectId, UserId},
    like,
    page::{Page, PageRequest},
};

use super::{Alert, AlertSeverity, AlertStatus, NewAlert};

const NOUN: &str = "Alert";
/// Open alerts of environments that are looked at for one request.
const OPEN_ALERTS: i64 = 10_000;

/// Which alerts a list shows; an empty list of values leaves all.
#[derive(Clone, Debug, Default)]
pub struct AlertFilter {
    pub statuses: Vec<AlertStatus>,
    pub severities: Vec<AlertSeverity>,
    /// A part of the title, the description, the tool or the service, in any letter case.
    pub search: Option<String>,
    /// The number of the only one.
    pub iid: Option<i64>,
    /// Somebody who looks after them.
    pub assignee: Option<UserId>,
    /// `None` for the newest first.
    pub order: Option<AlertOrder>,
    pub descending: bool,
}

kernel::text_enum! {
    /// By what alerts are ordered.
    pub enum AlertOrder {
        StartedAt = "started_at",
        EndedAt = "ended_at",
        CreatedAt = "created_at",
        UpdatedAt = "updated_at",
        EventCount = "event_count",
        Severity = "severity",
        Status = "status",
    }
}

pub trait AlertStore {
    /// A page.
    fn alerts(
        &mut self,
        project: ProjectId,
        filter: &AlertFilter,
        page: PageRequest,
    ) -> Result<Page<Alert>> {
        self.alerts_in(project, filter, &WHOLE, page)
    }
    /// As [`alerts`](Self::alerts), of a part of the list.
    fn alerts_in(
        &mut self,
        project: ProjectId,
        filter: &AlertFilter,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<Alert>>;
    /// How many alerts have each status.
    fn alert_status_counts(
        &mut self,
        project: ProjectId,
        filter: &AlertFilter,
    ) -> Result<HashMap<AlertStatus, i64>>;
    /// The alerts for which these incidents were opened.
    fn alerts_of_issues(&mut self, issues: &[IssueId]) -> Result<Vec<Alert>>;
    /// The alerts of these environments that are not resolved, the newest first.
    fn open_alerts_of(&mut self, environments: &[EnvironmentId]) -> Result<Vec<Alert>>;
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
    fn set_incident(&mut self, id: AlertId, issue: Option<IssueId>) -> Result<()>;
    /// An alert by its id, whichever project it is of.
    fn alert_by_id(&mut self, id: AlertId) -> Result<Option<Alert>>;
}

impl AlertFilter {
    fn conditions(&self, tx: &Tx<'_>, project: ProjectId) -> Conditions {
        let mut all = Conditions::default();
        all.number("a.project_id = {}", project.0);
        if !self.statuses.is_empty() {
            let words = self.statuses.iter().map(|status| format!("'{status}'"));
            all.plain(format!("a.status IN ({})", words.collect::<Vec<_>>().join(", ")));
        }
        if !self.severities.is_empty() {
            let words = self.severities.iter().map(|severity| format!("'{severity}'"));
            all.plain(format!("a.severity IN ({})", words.collect::<Vec<_>>().join(", ")));
        }
        if let Some(iid) = self.iid {
            all.number("a.iid = {}", iid);
        }
        if let Some(user) = self.assignee {
            let given = "SELECT 1 FROM alert_assignees s WHERE s.alert_id = a.id";
            all.number(&format!("EXISTS ({given} AND s.user_id = {{}})"), user.0);
        }
        if let Some(search) = self.search.as_deref().filter(|search| !search.is_empty()) {
            let fields = ["a.title", "a.description", "a.monitoring_tool", "a.service"];
            let part = |field: &&str| {
                let place = all.bind(Bind::Word(like::containing(search)));
                format!("{} LIKE {place} ESCAPE '\\'", tx.folded(field))
            };
            let found: Vec<String> = fields.iter().map(part).collect();
            all.plain(format!("({})", found.join(" OR ")));
        }
        all
    }

    fn sorting(&self) -> ListOrder {
        let by = |number: String| ListOrder::of_number(number, self.descending, "a.iid");
        match self.order {
            None => ListOrder::of_ids("a.iid", true),
            Some(AlertOrder::StartedAt) => by("a.started_at".to_owned()),
            // One that is not over comes last, in either direction.
            Some(AlertOrder::EndedAt) => {
                ListOrder::of_optional("a.ended_at", self.descending, "a.iid")
            }
            Some(AlertOrder::CreatedAt) => by("a.created_at".to_owned()),
            Some(AlertOrder::UpdatedAt) => by("a.updated_at".to_owned()),
            Some(AlertOrder::EventCount) => by("a.events".to_owned()),
            // The least bad, and what nobody has to do anything about, are the smallest.
            Some(AlertOrder::Severity) => by(places("a.severity", AlertSeverity::ALL)),
            Some(AlertOrder::Status) => by(places("a.status", AlertStatus::ALL)),
        }
    }

    /// The place of an alert in such a list.
    pub fn position(&self, row: &Alert) -> RowPosition {
        let value = match self.order {
            None => None,
            Some(AlertOrder::StartedAt) => Some(row.started_at.0),
            Some(AlertOrder::EndedAt) => row.ended_at.map(|at| at.0),
            Some(AlertOrder::CreatedAt) => Some(row.created_at.0),
            Some(AlertOrder::UpdatedAt) => Some(row.updated_at.0),
            Some(AlertOrder::EventCount) => Some(row.events),
            Some(AlertOrder::Severity) => place(&row.severity, AlertSeverity::ALL),
            Some(AlertOrder::Status) => place(&row.status, AlertStatus::ALL),
        };
        RowPosition::of_number(value, row.iid)
    }
}

/// The place of a word counted from the last one.
fn place<T: PartialEq>(word: &T, words: &[T]) -> Option<i64> {
    let place = words.iter().rev().position(|one| one == word)?;
    i64::try_from(place).ok()
}

/// The place of each word counted from the last one, as SQL.
fn places<T: TextEnum>(column: &str, words: &[T]) -> String {
    let places = words.iter().rev().enumerate();
    let places = places.map(|(place, word)| format!("WHEN '{}' THEN {place}", word.as_str()));
    format!("CASE {column} {} ELSE 0 END", places.collect::<Vec<_>>().join(" "))
}

#[derive(QueryableByName)]
struct StatusCount {
    #[diesel(sql_type = diesel::sql_types::Text)]
    status: String,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    total: i64,
}

impl AlertStore for Tx<'_> {
    fn alerts_in(
        &mut self,
        project: ProjectId,
        filter: &AlertFilter,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<Alert>> {
        let (mut conditions, order) = (filter.conditions(self, project), filter.sorting());
        order.narrow(&mut conditions, window);
        let from = format!("alerts a WHERE {}", conditions.text());
        let binds = conditions.binds;
        let selection = Selection {
            id: "a.id",
            from: from.clone(),
            binds: binds.clone(),
            order: order.sql(window),
        };
        let found = page_of_ids(self, &selection, page, |tx| listing::count(tx, &from, &binds))?;
        found.try_map_all(|ids| {
            let ids: Vec<AlertId> = ids.into_iter().map(AlertId).collect();
            let rows: Vec<Alert> = each_backend!(self, |conn| alerts::table
                .filter(alerts::id.one_of(&ids))
                .select(Alert::as_select())
                .load(conn)
                .map_err(error(NOUN)))?;
            let mut by_id: HashMap<AlertId, Alert> =
                rows.into_iter().map(|row| (row.id, row)).collect();
            Ok(ids.iter().filter_map(|id| by_id.remove(id)).collect())
        })
    }

    fn alert_status_counts(
        &mut self,
        project: ProjectId,
        filter: &AlertFilter,
    ) -> Result<HashMap<AlertStatus, i64>> {
        let conditions = filter.conditions(self, project);
        let sql = format!(
            "SELECT a.status AS status, COUNT(*) AS total FROM alerts a WHERE {} GROUP BY a.status",
            conditions.text()
        );
        let rows: Vec<StatusCount> = listing::rows(self, &sql, &conditions.binds)?;
        let count = |row: StatusCount| Some((AlertStatus::find(&row.status)?, row.total));
        Ok(rows.into_iter().filter_map(count).collect())
    }

    fn alerts_of_issues(&mut self, issues: &[IssueId]) -> Result<Vec<Alert>> {
        if issues.is_empty() {
            return Ok(Vec::new());
        }
        let issues: Vec<Option<IssueId>> = issues.iter().copied().map(Some).collect();
        each_backend!(self, |conn| alerts::table
            .filter(alerts::issue_id.is_not_null().and(alerts::issue_id.one_of(&issues)))
            .order(alerts::id)
            .select(Alert::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn open_alerts_of(&mut self, environments: &[EnvironmentId]) -> Result<Vec<Alert>> {
        if environments.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<Option<EnvironmentId>> = environments.iter().copied().map(Some).collect();
        each_backend!(self, |conn| alerts::table
            .filter(alerts::environment_id.is_not_null().and(alerts::environment_id.one_of(&ids)))
            .filter(is_open())
            .order(alerts::id.desc())
            .limit(OPEN_ALERTS)
            .select(Alert::as_select())
            .load(conn)
            .map_err(error(NOUN)))
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
        let update = diesel::update(row).set(alerts::events.eq(alerts::events + 1));
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

    fn set_incident(&mut self, id: AlertId, issue: Option<IssueId>) -> Result<()> {
        let update = diesel::update(alerts::table.find(id)).set(alerts::issue_id.eq(issue));
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn alert_by_id(&mut self, id: AlertId) -> Result<Option<Alert>> {
        each_backend!(self, |conn| alerts::table
            .find(id)
            .select(Alert::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
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
    let next: i64 = each_backend!(tx, |conn| diesel::insert_into(numbers::table)
        .values(first)
        .on_conflict(numbers::project_id)
        .do_update()
        .set(numbers::last.eq(numbers::last + 1))
        .returning(numbers::last)
        .get_result(conn)
        .map_err(error(NOUN)))?;
    ensure_number(next)
}
