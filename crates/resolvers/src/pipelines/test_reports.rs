//! Test reports of a pipeline.

use std::{collections::HashSet, sync::Arc};

use ci::{policy::ReadPipelines, report::ReportedSuite};
use entities::ci::test_report::{TestSuiteSummaryEntity, TestSummaryEntity};
use forge::runner::reports;
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::ids::JobId;
use serde_json::Value as Json;

use super::{job::job_number, loaders::CiLoaders, pipeline::PipelineRecord};
use crate::{context::Context, failure::failure_of};

/// Tests of the jobs with one name.
#[derive(Debug)]
struct SuiteRecord(ReportedSuite);

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<TestSummaryEntity>("TestReportSummary")
        .plain("total", |summary| {
            let total = &summary.total;
            Value::fields(
                "TestReportTotal",
                [
                    ("count", total.count.into()),
                    ("error", total.error.into()),
                    ("failed", total.failed.into()),
                    ("skipped", total.skipped.into()),
                    ("success", total.success.into()),
                    ("suiteError", total.suite_error.clone().into()),
                    ("time", total.time.into()),
                ],
            )
        })
        .lookup("testSuites", |summary: Arc<TestSummaryEntity>, arguments, _| async move {
            let suites = summary.test_suites.iter().map(suite_summary).collect();
            Ok(Connection::of_list(&arguments.page()?, suites).into())
        });
    let _ = registry
        .object::<SuiteRecord>("TestSuite")
        .plain("errorCount", |suite| suite.0.figures.error.into())
        .plain("failedCount", |suite| suite.0.figures.failed.into())
        .plain("name", |suite| suite.0.name.as_str().into())
        .plain("skippedCount", |suite| suite.0.figures.skipped.into())
        .plain("successCount", |suite| suite.0.figures.success.into())
        .plain("suiteError", |suite| suite.0.error.clone().into())
        .plain("totalCount", |suite| suite.0.figures.count().into())
        .plain("totalTime", |suite| suite.0.figures.time.into())
        .lookup("testCases", |suite: Arc<SuiteRecord>, arguments, _| async move {
            let cases = suite.0.cases.iter().map(|case| test_case(case.get())).collect();
            Ok(Connection::of_list(&arguments.page()?, cases).into())
        });
}

fn suite_summary(suite: &TestSuiteSummaryEntity) -> Value {
    Value::fields(
        "TestSuiteSummary",
        [
            ("buildIds", Value::list(suite.build_ids.iter().map(ToString::to_string))),
            ("errorCount", suite.error_count.into()),
            ("failedCount", suite.failed_count.into()),
            ("name", suite.name.as_str().into()),
            ("skippedCount", suite.skipped_count.into()),
            ("successCount", suite.success_count.into()),
            ("suiteError", suite.suite_error.clone().into()),
            ("totalCount", suite.total_count.into()),
            ("totalTime", suite.total_time.into()),
        ],
    )
}

fn test_case(stored: &str) -> Value {
    let case: Json = serde_json::from_str(stored).unwrap_or_default();
    let text = |name: &str| match case.get(name) {
        None | Some(Json::Null) => Value::Null,
        Some(Json::String(text)) => text.as_str().into(),
        Some(other) => other.to_string().into(),
    };
    let recent = case.get("recent_failures").filter(|recent| recent.is_object());
    let recent = recent.map_or(Value::Null, |recent| {
        let branch = recent.get("base_branch").and_then(Json::as_str);
        let count = recent.get("count").and_then(Json::as_i64);
        Value::fields("RecentFailures", [("baseBranch", branch.into()), ("count", count.into())])
    });
    Value::fields(
        "TestCase",
        [
            ("attachmentUrl", Value::Null),
            ("classname", text("classname")),
            ("executionTime", case.get("execution_time").and_then(Json::as_f64).into()),
            ("file", text("file")),
            ("name", text("name")),
            ("recentFailures", recent),
            ("stackTrace", text("stack_trace")),
            ("status", text("status")),
            ("systemOutput", text("system_output")),
        ],
    )
}

/// The figures of all tests.
pub(super) async fn summary(record: &PipelineRecord, context: &Context) -> Result<Value, Failure> {
    let suites = CiLoaders::of(context).suites.load(record.row.id).await?.unwrap_or_default();
    let summary = TestSummaryEntity::from(suites.to_vec());
    Ok(Value::object("TestReportSummary", Arc::new(summary)))
}

/// The tests that some jobs reported, with those of other jobs of the same name.
pub(super) async fn suite(
    record: &PipelineRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let ids = arguments.texts("buildIds");
    let ids = ids.iter().map(|id| job_number(id).map(JobId));
    let ids = ids.collect::<Result<HashSet<JobId>, Failure>>()?;
    let all = CiLoaders::of(context).suites.load(record.row.id).await?.unwrap_or_default();
    let Some(named) = all.iter().find(|suite| ids.contains(&suite.job_id)) else {
        return Ok(Value::Null);
    };
    let grant = record.home.grant::<ReadPipelines>().map_err(failure_of)?;
    let report = reports::test_report(&context.forge, grant, record.row.id).await;
    let found = report.map_err(failure_of)?.into_iter().find(|suite| suite.name == named.name);
    Ok(found.map_or(Value::Null, |suite| Value::object("TestSuite", Arc::new(SuiteRecord(suite)))))
}
