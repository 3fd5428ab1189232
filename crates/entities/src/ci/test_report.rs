//! The test report of a pipeline.

use ci::report::{ReportedSuite, TestCounts, TestSuite};
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// All tests of a pipeline, one by one.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestReportEntity {
    /// Total duration of all tests in seconds.
    pub total_time: f64,
    pub total_count: i64,
    pub success_count: i64,
    pub failed_count: i64,
    pub skipped_count: i64,
    pub error_count: i64,
    pub test_suites: Vec<TestSuiteEntity>,
}

/// Tests of the jobs with one name.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestSuiteEntity {
    /// Name of the job; copies of a job by number share a suite.
    pub name: String,
    pub total_time: f64,
    pub total_count: i64,
    pub success_count: i64,
    pub failed_count: i64,
    pub skipped_count: i64,
    pub error_count: i64,
    /// Error that prevented reading the tests.
    pub suite_error: Option<String>,
    /// Errors first, then failures, successes and what was skipped; the slowest first in each. Each with `status`, `name`,
    /// `classname`, `file`, `execution_time`, `system_output`, `stack_trace` and `recent_failures`.
    #[schema(value_type = Vec<Object>)]
    pub test_cases: Vec<Box<RawValue>>,
}

impl From<Vec<ReportedSuite>> for TestReportEntity {
    fn from(suites: Vec<ReportedSuite>) -> Self {
        let all = suites.iter().fold(TestCounts::default(), |all, suite| all.plus(suite.figures));
        Self {
            total_time: all.time,
            total_count: all.count(),
            success_count: all.success,
            failed_count: all.failed,
            skipped_count: all.skipped,
            error_count: all.error,
            test_suites: suites.into_iter().map(TestSuiteEntity::from).collect(),
        }
    }
}

impl From<ReportedSuite> for TestSuiteEntity {
    fn from(suite: ReportedSuite) -> Self {
        let figures = suite.figures;
        Self {
            name: suite.name,
            total_time: figures.time,
            total_count: figures.count(),
            success_count: figures.success,
            failed_count: figures.failed,
            skipped_count: figures.skipped,
            error_count: figures.error,
            suite_error: suite.error,
            test_cases: suite.cases,
        }
    }
}

/// All tests of a pipeline, counted.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestSummaryEntity {
    pub total: TestFiguresEntity,
    pub test_suites: Vec<TestSuiteSummaryEntity>,
}

/// Test totals over all suites.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestFiguresEntity {
    /// Total duration of all tests in seconds.
    pub time: f64,
    pub count: i64,
    pub success: i64,
    pub failed: i64,
    pub skipped: i64,
    pub error: i64,
    /// Error of the first suite whose tests could not be read.
    pub suite_error: Option<String>,
}

/// Test totals of the jobs with one name.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestSuiteSummaryEntity {
    pub name: String,
    pub total_time: f64,
    pub total_count: i64,
    pub success_count: i64,
    pub failed_count: i64,
    pub skipped_count: i64,
    pub error_count: i64,
    /// IDs of the jobs that reported the tests.
    pub build_ids: Vec<i64>,
    pub suite_error: Option<String>,
}

impl TestSuiteSummaryEntity {
    fn new(name: &str, jobs: &[&TestSuite]) -> Self {
        let all = jobs.iter().fold(TestCounts::default(), |all, suite| all.plus(suite.figures()));
        Self {
            name: name.to_owned(),
            total_time: all.time,
            total_count: all.count(),
            success_count: all.success,
            failed_count: all.failed,
            skipped_count: all.skipped,
            error_count: all.error,
            build_ids: jobs.iter().map(|suite| suite.job_id.0).collect(),
            suite_error: jobs.iter().find_map(|suite| suite.suite_error.clone()),
        }
    }
}

impl From<Vec<TestSuite>> for TestSummaryEntity {
    fn from(suites: Vec<TestSuite>) -> Self {
        let all = suites.iter().fold(TestCounts::default(), |all, suite| all.plus(suite.figures()));
        let mut by_name: IndexMap<&str, Vec<&TestSuite>> = IndexMap::new();
        for suite in &suites {
            by_name.entry(&suite.name).or_default().push(suite);
        }
        Self {
            total: TestFiguresEntity {
                time: all.time,
                count: all.count(),
                success: all.success,
                failed: all.failed,
                skipped: all.skipped,
                error: all.error,
                suite_error: suites.iter().find_map(|suite| suite.suite_error.clone()),
            },
            test_suites: by_name
                .iter()
                .map(|(name, jobs)| TestSuiteSummaryEntity::new(name, jobs))
                .collect(),
        }
    }
}
