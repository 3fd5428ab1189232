//! Vulnerability counts and grades of projects.

use std::sync::Arc;

use ci::policy::ReadPipelines;
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::TextEnum as _;
use security::{
    scan::{Scan, ScanStatus, ScanStore as _},
    vulnerability::{
        DayCount, HistoryStore as _, ReportType, Severity, VulnerabilityListStore as _,
    },
};
use time::Date;

use super::vulnerability_lists::{Projects, in_group, own, watched};
use crate::{
    context::Context,
    failure::failure_of,
    groups::GroupRecord,
    pipelines::{LocatedProject, name_of, shown_home},
    projects::ProjectRecord,
};

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ =
        registry.query().lookup("vulnerabilitiesCountByDay", |_, arguments, context| async move {
            by_day(watched(&context).await?, &arguments, &context).await
        });
    let _ = registry
        .object::<ProjectRecord>("Project")
        .lookup(
            "vulnerabilitiesCountByDay",
            |record: Arc<ProjectRecord>, arguments, context| async move {
                by_day(own(&record), &arguments, &context).await
            },
        )
        .lookup(
            "vulnerabilityImages",
            |record: Arc<ProjectRecord>, arguments, context| async move {
                images(own(&record), &arguments, &context).await
            },
        )
        .lookup("securityScanners", |record: Arc<ProjectRecord>, _, context| async move {
            scanner_kinds(&record, &context).await
        });
    let _ = registry.object::<GroupRecord>("Group").lookup(
        "vulnerabilitiesCountByDay",
        |record: Arc<GroupRecord>, arguments, context| async move {
            by_day(in_group(&record, &context).await?, &arguments, &context).await
        },
    );
}

fn day(arguments: &Arguments, name: &str) -> Result<Date, Failure> {
    let text = arguments.text(name)?;
    kernel::time::parse_date(&text)
        .map_err(|_cause| Failure::message(format!("`{name}` must be a valid ISO8601Date")))
}

async fn by_day(
    projects: Projects,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let (page, start, end) =
        (arguments.page()?, day(arguments, "startDate")?, day(arguments, "endDate")?);
    let Some(projects) = projects else { return Ok(Value::Null) };
    let read = context.forge.db.read(move |tx| tx.open_by_day(&projects, start, end)).await;
    let values = read.map_err(failure_of)?.iter().map(count).collect();
    Ok(Connection::of_list(&page, values).into())
}

fn count(of: &DayCount) -> Value {
    let one =
        |severity: Severity| -> i64 { of.by_severity.get(&severity).copied().unwrap_or_default() };
    let total: i64 = of.by_severity.values().sum();
    Value::fields(
        "VulnerabilitiesCountByDay",
        [
            ("critical", one(Severity::Critical).into()),
            ("date", Value::date(of.day)),
            ("high", one(Severity::High).into()),
            ("info", one(Severity::Info).into()),
            ("low", one(Severity::Low).into()),
            ("medium", one(Severity::Medium).into()),
            ("total", total.into()),
            ("unknown", one(Severity::Unknown).into()),
        ],
    )
}

async fn images(
    projects: Projects,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let Some(projects) = projects else { return Ok(Value::Null) };
    let found = context.forge.db.read(move |tx| tx.images_of(&projects)).await;
    let image =
        |name: String| Value::fields("VulnerabilityContainerImage", [("name", name.into())]);
    let values = found.map_err(failure_of)?.into_iter().map(image).collect();
    Ok(Connection::of_list(&page, values).into())
}

/// The kinds of scanners: all, those whose reports the newest pipeline brought, and those of which they were good.
async fn scanner_kinds(record: &ProjectRecord, context: &Context) -> Result<Value, Failure> {
    let Some(home) = shown_home(context, &LocatedProject::of(record)).await? else {
        return Ok(Value::Null);
    };
    if !home.may::<ReadPipelines>() {
        return Ok(Value::Null);
    }
    let project = record.id();
    let found = context.forge.db.read(move |tx| tx.newest_scans(project)).await;
    let found = found.map_err(failure_of)?;
    let kinds = |fits: fn(&Scan) -> bool| {
        let has =
            |kind: &&ReportType| found.iter().any(|scan| scan.report_type == **kind && fits(scan));
        Value::list(ReportType::ALL.iter().filter(has).copied().map(name_of))
    };
    Ok(Value::fields(
        "SecurityScanners",
        [
            ("available", Value::list(ReportType::ALL.iter().copied().map(name_of))),
            ("enabled", kinds(|_| true)),
            ("pipelineRun", kinds(|scan| scan.status == ScanStatus::Succeeded)),
        ],
    ))
}
