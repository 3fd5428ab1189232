//! Alerts of monitors.

use std::sync::Arc;

use graphql::{Arguments, Connection, Failure, Fields, Registry, Value};
use kernel::{
    TextEnum as _,
    ids::{IssueId, UserId},
};
use org::user::names::ids_of;
use review::item::{ItemId, ItemKind};
use security::{
    alert::{Alert, AlertFilter, AlertOrder, AlertStatus, AlertStore as _, actions},
    policy::ReadAlerts,
};

use super::{
    alert_notes,
    loaders::SecurityLoaders,
    record::{AlertRecord, alert},
};
use crate::{
    context::Context,
    deployments::environment_of_id,
    failure::{failure_of, visible},
    other_notes, people,
    pipelines::{LocatedProject, loaders::CiLoaders, name_of, values_of},
    projects::ProjectRecord,
    review::{
        issue::{self, EpicIssueRecord, IssueRecord, IssueRecordSource},
        todos,
    },
    values::{maybe_time, time},
    windowed_page::{CursorOrder, WindowedPage},
};

type Record = Arc<AlertRecord>;

pub(super) fn register(registry: &mut Registry<Context>) {
    register_lists(registry);
    register_record(registry);
    register_lookups(registry);
}

fn register_lists(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ProjectRecord>("Project")
        .lookup(
            "alertManagementAlert",
            |record: Arc<ProjectRecord>, arguments, context| async move {
                one(&LocatedProject::of(&record), &arguments, &context).await
            },
        )
        .lookup(
            "alertManagementAlerts",
            |record: Arc<ProjectRecord>, arguments, context| async move {
                list(&LocatedProject::of(&record), &arguments, &context).await
            },
        )
        .lookup(
            "alertManagementAlertStatusCounts",
            |record: Arc<ProjectRecord>, arguments, context| async move {
                counts(&LocatedProject::of(&record), &arguments, &context).await
            },
        )
        .none(&["incidentManagementEscalationPolicies", "incidentManagementOncallSchedules"]);
    add_to_issue(registry.object::<IssueRecord>("Issue"));
    add_to_issue(registry.object::<EpicIssueRecord>("EpicIssue"));
}

fn add_to_issue<T: IssueRecordSource>(fields: Fields<'_, Context, T>) {
    let _ = fields
        .lookup("alertManagementAlert", |record: Arc<T>, _, context| async move {
            Ok(of_issue(record.record(), &context).await?.into_iter().next().into())
        })
        .lookup("alertManagementAlerts", |record: Arc<T>, arguments, context| async move {
            let all = of_issue(record.record(), &context).await?;
            Ok(Connection::of_list(&arguments.page()?, all).into())
        });
}

fn register_record(registry: &mut Registry<Context>) {
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
        .none(&["metricsDashboardUrl", "prometheusAlert"]);
}

fn register_lookups(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<AlertRecord>("AlertManagementAlert")
        .lookup("assignees", |record: Record, arguments, context| async move {
            assignees(&record, &arguments, &context).await
        })
        .lookup("notes", |record: Record, arguments, context| async move {
            let (subject, all) = alert_notes::all(&record, &context).await?;
            other_notes::notes(&context, &subject, &all, &arguments.page()?).await
        })
        .lookup("discussions", |record: Record, arguments, context| async move {
            let (subject, all) = alert_notes::all(&record, &context).await?;
            other_notes::discussions(&context, &subject, &all, &arguments.page()?).await
        })
        .lookup("hosts", |record: Record, _, _| async move {
            Ok(record.row.host_list().map_err(failure_of)?.into())
        })
        .lookup("detailsUrl", |record: Record, _, context| async move {
            Ok(record.url(&context).into())
        })
        .lookup(
            "webUrl",
            |record: Record, _, context| async move { Ok(record.url(&context).into()) },
        )
        .lookup("todos", |record: Record, arguments, context| async move {
            match record.row.issue_id {
                Some(issue) => {
                    let incident = ItemId { kind: ItemKind::Issue, id: issue.0 };
                    todos::chosen_of(&context, incident, &arguments).await
                }
                None => Ok(Connection::empty().into()),
            }
        })
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
        });
}

async fn assignees(
    record: &AlertRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let people = SecurityLoaders::of(context).alert_assignees.load(record.row.id).await?;
    let people = people.unwrap_or_default();
    let found = people.iter().map(|user| people::of_id(context, *user));
    let mut found = crate::join::try_join_all(found).await?;
    found.retain(|one| !one.is_null());
    Ok(Connection::of_list(&page, found).into())
}

/// The incident of an alert, where the caller may see it.
pub(super) async fn incident(context: &Context, id: Option<IssueId>) -> Result<Value, Failure> {
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

/// Which alerts are wanted; nothing where none can fit.
async fn filter(arguments: &Arguments, context: &Context) -> Result<Option<AlertFilter>, Failure> {
    if arguments.maybe_enum("domain").as_deref() == Some("threat_monitoring") {
        return Ok(None);
    }
    let iid = arguments.maybe_text("iid").map(|iid| iid.parse::<i64>());
    let assignee = match arguments.maybe_text("assigneeUsername").filter(|name| !name.is_empty()) {
        Some(name) => Some(user_named(context, name).await?),
        None => None,
    };
    if matches!(iid, Some(Err(_))) || assignee == Some(None) {
        return Ok(None);
    }
    let sort = arguments.maybe_enum("sort").map(|name| order(&name));
    Ok(Some(AlertFilter {
        statuses: values_of::<AlertStatus>(&arguments.texts("statuses")),
        severities: Vec::new(),
        search: arguments.maybe_text("search"),
        iid: iid.and_then(Result::ok),
        assignee: assignee.flatten(),
        order: sort.map(|(order, _)| order),
        descending: sort.is_some_and(|(_, descending)| descending),
    }))
}

async fn user_named(context: &Context, name: String) -> Result<Option<UserId>, Failure> {
    let found = context.forge.db.read(move |tx| ids_of(tx, &[name])).await;
    Ok(found.map_err(failure_of)?.into_values().next())
}

async fn one(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let Some(grant) = visible(home.grant::<ReadAlerts>())? else { return Ok(Value::Null) };
    let Some(filter) = filter(arguments, context).await? else { return Ok(Value::Null) };
    let first = kernel::page::PageRequest { page: 1, per_page: 1 };
    let read = context.forge.db.read(move |tx| actions::list(tx, &grant, &filter, first));
    let found = read.await.map_err(failure_of)?.items.pop();
    Ok(found.map_or(Value::Null, |row| alert(home.clone(), row)))
}

async fn list(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let Some(grant) = visible(home.grant::<ReadAlerts>())? else { return Ok(Value::Null) };
    let Some(filter) = filter(arguments, context).await? else {
        return Ok(Connection::empty().into());
    };
    let cursors = filter.order.map_or(CursorOrder::Id, |order| CursorOrder::Number(order.as_str()));
    let page = WindowedPage::new(arguments.page()?, cursors)?;
    let (asked, wanted, counts) = (page.clone(), filter.clone(), arguments.counts());
    let read = context.forge.db.read(move |tx| {
        asked.read(counts, |window, part| actions::list_in(tx, &grant, &wanted, window, part))
    });
    let found = read.await.map_err(failure_of)?;
    let position = |row: &Alert| filter.position(row);
    Ok(page.connection(found, position, |row| alert(home.clone(), row)).into())
}

async fn counts(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let Some(grant) = visible(home.grant::<ReadAlerts>())? else { return Ok(Value::Null) };
    let counts = match filter(arguments, context).await? {
        None => std::collections::HashMap::new(),
        Some(filter) => {
            let project = grant.project();
            let read = context.forge.db.read(move |tx| tx.alert_status_counts(project, &filter));
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
