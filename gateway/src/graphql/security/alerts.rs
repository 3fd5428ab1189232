//! Alerts of monitors.

use std::sync::Arc;

use forge::alert::{Incidents, IncidentsBy};
use graphql::{Arguments, Connection, Failure, Payload, Registry, Value};
use kernel::{Error, Result as Done, ids::IssueId};
use review::policy::CreateIssues;
use security::{
    alert::{Alert, AlertFilter, AlertOrder, AlertStatus, AlertStore as _, actions},
    policy::{ChangeAlerts, ReadAlerts},
};

use super::loaders::SecurityLoaders;
use crate::graphql::{
    context::Context,
    deployments::environment_of_id,
    failure::{done, failure_of, visible},
    numbered_list::NumberedList,
    pipelines::{Home, home, loaders::CiLoaders, name_of, value_of, values_of},
    projects::ProjectRecord,
    review::issue::{self, IssueRecord},
    values::{maybe_time, time},
};

/// An alert of a project whose alerts the caller may see.
#[derive(Debug)]
pub struct AlertRecord {
    pub home: Arc<Home>,
    pub row: Alert,
}

pub fn alert(home: Arc<Home>, row: Alert) -> Value {
    Value::object("AlertManagementAlert", Arc::new(AlertRecord { home, row }))
}

type Record = Arc<AlertRecord>;

#[expect(clippy::too_many_lines, reason = "the fields of one type stand in one table")]
pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ProjectRecord>("Project")
        .lookup(
            "alertManagementAlert",
            |record: Arc<ProjectRecord>, arguments, context| async move {
                one(&Home::of(&record), &arguments, &context).await
            },
        )
        .ability("alertManagementAlert", "ReadAlerts")
        .lookup(
            "alertManagementAlerts",
            |record: Arc<ProjectRecord>, arguments, context| async move {
                list(&Home::of(&record), &arguments, &context).await
            },
        )
        .ability("alertManagementAlerts", "ReadAlerts")
        .lookup(
            "alertManagementAlertStatusCounts",
            |record: Arc<ProjectRecord>, arguments, context| async move {
                counts(&Home::of(&record), &arguments, &context).await
            },
        )
        .ability("alertManagementAlertStatusCounts", "ReadAlerts")
        .none(&["incidentManagementEscalationPolicies", "incidentManagementOncallSchedules"]);
    let _ = registry
        .object::<IssueRecord>("Issue")
        .lookup("alertManagementAlert", |record: Arc<IssueRecord>, _, context| async move {
            Ok(of_issue(&record, &context).await?.into_iter().next().into())
        })
        .lookup(
            "alertManagementAlerts",
            |record: Arc<IssueRecord>, arguments, context| async move {
                let all = of_issue(&record, &context).await?;
                Ok(Connection::of_list(&arguments.page()?, all).into())
            },
        );
    let _ = registry
        .object::<AlertRecord>("AlertManagementAlert")
        .plain("createdAt", |record| time(record.row.created_at))
        .plain("description", |record| record.row.description.clone().into())
        .plain("details", |record| {
            serde_json::from_str(&record.row.payload).map_or(Value::Null, Value::Json)
        })
        .plain("endedAt", |record| maybe_time(record.row.ended_at))
        .plain("eventCount", |record| record.row.events.into())
        .plain("id", |record| Value::gid("AlertManagement::Alert", record.row.id))
        .plain("iid", |record| record.row.iid.to_string().into())
        .plain("monitoringTool", |record| record.row.monitoring_tool.clone().into())
        .plain("runbook", |record| record.row.runbook.clone().into())
        .plain("service", |record| record.row.service.clone().into())
        .plain("severity", |record| name_of(record.row.severity))
        .plain("startedAt", |record| time(record.row.started_at))
        .plain("status", |record| name_of(record.row.status))
        .plain("title", |record| record.row.title.as_str().into())
        .plain("updatedAt", |record| time(record.row.updated_at))
        .lookup("hosts", |record: Record, _, _| async move {
            Ok(record.row.host_list().map_err(failure_of)?.into())
        })
        .lookup("detailsUrl", |record: Record, _, context| async move {
            Ok(url(&record, &context).into())
        })
        .lookup(
            "webUrl",
            |record: Record, _, context| async move { Ok(url(&record, &context).into()) },
        )
        .lookup("environment", |record: Record, _, context| async move {
            match record.row.environment_id {
                Some(id) => environment_of_id(&context, id).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("issue", |record: Record, _, context| async move {
            incident(&context, record.row.issue_id).await
        })
        .lookup("issueIid", |record: Record, _, context| async move {
            let Some(id) = record.row.issue_id else { return Ok(Value::Null) };
            let found = SecurityLoaders::of(&context).issue_numbers.load(id).await?;
            Ok(found.map(|iid| iid.to_string()).into())
        })
        .none(&[
            "assignees",
            "discussions",
            "metricsDashboardUrl",
            "notes",
            "prometheusAlert",
            "todos",
        ]);
    registry.mutation("updateAlertStatus", |input, context| async move {
        set_status(&input, &context).await
    });
    registry.mutation("createAlertIssue", |input, context| async move {
        create_issue(&input, &context).await
    });
}

fn url(record: &AlertRecord, context: &Context) -> String {
    let (path, iid) = (&record.home.facts().full_path, record.row.iid);
    context.app.urls.at(&format!("{path}/-/alert_management/{iid}/details"))
}

/// The incident of an alert, where the caller may see it.
async fn incident(context: &Context, id: Option<IssueId>) -> Result<Value, Failure> {
    match id {
        Some(id) => issue::of_id(context, id).await,
        None => Ok(Value::Null),
    }
}

async fn of_issue(record: &IssueRecord, context: &Context) -> Result<Vec<Value>, Failure> {
    let home = CiLoaders::of(context).homes.load(record.row.project_id).await?;
    let Some(home) = home.filter(|home| home.may::<ReadAlerts>()) else { return Ok(Vec::new()) };
    let found = SecurityLoaders::of(context).alerts_of_issue.load(record.row.id).await?;
    let found = found.unwrap_or_default();
    Ok(found.iter().map(|row| alert(home.clone(), row.clone())).collect())
}

/// The order and its direction; the most severe alerts count as the largest.
fn order(name: &str) -> (AlertOrder, bool) {
    let descending = name.ends_with("_DESC");
    let order = match name.rsplit_once('_').map_or(name, |(order, _)| order) {
        "STARTED_AT" => AlertOrder::StartedAt,
        "ENDED_AT" => AlertOrder::EndedAt,
        "UPDATED_TIME" => AlertOrder::UpdatedAt,
        "EVENT_COUNT" => AlertOrder::EventCount,
        "SEVERITY" => AlertOrder::Severity,
        "STATUS" => AlertOrder::Status,
        _ => AlertOrder::CreatedAt,
    };
    (order, descending)
}

/// Which alerts are wanted; nothing where none can fit: alerts have no assignees.
fn filter(arguments: &Arguments) -> Option<AlertFilter> {
    if arguments.maybe_text("assigneeUsername").is_some_and(|name| !name.is_empty()) {
        return None;
    }
    if arguments.maybe_enum("domain").as_deref() == Some("threat_monitoring") {
        return None;
    }
    let sort = arguments.maybe_enum("sort").map(|name| order(&name));
    Some(AlertFilter {
        statuses: values_of::<AlertStatus>(&arguments.texts("statuses")),
        severities: Vec::new(),
        search: arguments.maybe_text("search"),
        order: sort.map(|(order, _)| order),
        descending: sort.is_some_and(|(_, descending)| descending),
    })
}

/// The number of an alert that was asked for; nothing for a text that is none.
fn number(arguments: &Arguments) -> Option<Option<i64>> {
    arguments.maybe_text("iid").map(|iid| iid.parse().ok())
}

async fn by_number(
    home: &Arc<Home>,
    iid: Option<i64>,
    context: &Context,
) -> Result<Option<Alert>, Failure> {
    let Some(grant) = visible(home.grant::<ReadAlerts>())? else { return Ok(None) };
    let Some(iid) = iid else { return Ok(None) };
    visible(context.app.db.read(move |tx| actions::read(tx, &grant, iid)).await)
}

async fn one(home: &Arc<Home>, arguments: &Arguments, context: &Context) -> Result<Value, Failure> {
    let Some(filter) = filter(arguments) else { return Ok(Value::Null) };
    let found = match number(arguments) {
        Some(iid) => by_number(home, iid, context)
            .await?
            .filter(|row| filter.statuses.is_empty() || filter.statuses.contains(&row.status)),
        None => {
            let Some(grant) = visible(home.grant::<ReadAlerts>())? else {
                return Ok(Value::Null);
            };
            let first = kernel::page::PageRequest { page: 1, per_page: 1 };
            let read = context.app.db.read(move |tx| actions::list(tx, &grant, &filter, first));
            read.await.map_err(failure_of)?.items.pop()
        }
    };
    Ok(found.map_or(Value::Null, |row| alert(home.clone(), row)))
}

async fn list(
    home: &Arc<Home>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let Some(grant) = visible(home.grant::<ReadAlerts>())? else { return Ok(Value::Null) };
    let Some(filter) = filter(arguments) else {
        return Ok(Connection::of_list(&page, Vec::new()).into());
    };
    if let Some(iid) = number(arguments) {
        let found = by_number(home, iid, context).await?;
        let found =
            found.filter(|row| filter.statuses.is_empty() || filter.statuses.contains(&row.status));
        let values = found.map(|row| alert(home.clone(), row)).into_iter().collect();
        return Ok(Connection::of_list(&page, values).into());
    }
    let asked = page.clone();
    let read = context.app.db.read(move |tx| {
        NumberedList::read(&asked, |part| actions::list(tx, &grant, &filter, part))
    });
    let found = read.await.map_err(failure_of)?;
    Ok(found.connection(&page, |row| alert(home.clone(), row)).into())
}

async fn counts(
    home: &Arc<Home>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let Some(grant) = visible(home.grant::<ReadAlerts>())? else { return Ok(Value::Null) };
    let counts = match filter(arguments) {
        None => std::collections::HashMap::new(),
        Some(filter) => {
            let project = grant.project();
            let read = context.app.db.read(move |tx| tx.alert_status_counts(project, &filter));
            read.await.map_err(failure_of)?
        }
    };
    let count = |status: AlertStatus| counts.get(&status).copied().unwrap_or_default();
    let (triggered, acknowledged) =
        (count(AlertStatus::Triggered), count(AlertStatus::Acknowledged));
    let (resolved, ignored) = (count(AlertStatus::Resolved), count(AlertStatus::Ignored));
    Ok(Value::fields(
        "AlertManagementAlertStatusCountsType",
        [
            ("acknowledged", acknowledged.into()),
            ("all", (triggered + acknowledged + resolved + ignored).into()),
            ("ignored", ignored.into()),
            ("open", (triggered + acknowledged).into()),
            ("resolved", resolved.into()),
            ("triggered", triggered.into()),
        ],
    ))
}

/// The project of an alert that a mutation names, and the number of the alert.
async fn named(input: &Arguments, context: &Context) -> Result<(Arc<Home>, i64), Failure> {
    let home = home::at(context, input.text("projectPath")?).await?;
    let iid = input.text("iid")?.parse().map_err(|_cause| Failure::NotFoundOrForbidden)?;
    Ok((home, iid))
}

async fn payload(
    context: &Context,
    home: Arc<Home>,
    written: Done<Alert>,
) -> Result<Payload, Failure> {
    Ok(match done(written)? {
        Ok(row) => {
            let issue = incident(context, row.issue_id).await?;
            Payload::new().field("issue", issue).field("alert", alert(home, row))
        }
        Err(errors) => Payload::errors(errors),
    })
}

fn incidents(context: &Context) -> Incidents {
    Incidents { urls: context.app.urls.clone(), template: None }
}

async fn set_status(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (home, iid) = named(input, context).await?;
    let grant = home.grant::<ChangeAlerts>().map_err(failure_of)?;
    let Some(status) = value_of::<AlertStatus>(input.maybe_enum("status")) else {
        return payload(context, home, Err(Error::invalid("status", "is invalid"))).await;
    };
    let incidents = incidents(context);
    let written = context
        .app
        .db
        .write(move |tx| actions::set_status(tx, &grant, &incidents, iid, status))
        .await;
    payload(context, home, written).await
}

async fn create_issue(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (home, iid) = named(input, context).await?;
    let grant = home.grant::<ChangeAlerts>().map_err(failure_of)?;
    let opener = home.grant::<CreateIssues>().map_err(failure_of)?;
    let incidents = IncidentsBy { incidents: incidents(context), grant: opener };
    let written =
        context.app.db.write(move |tx| actions::create_incident(tx, &grant, &incidents, iid)).await;
    payload(context, home, written).await
}
