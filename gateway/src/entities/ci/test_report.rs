//! What the tests of a pipeline came to.

use serde::Serialize;
use utoipa::ToSchema;

/// All tests of a pipeline, one by one.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct TestReportEntity {
    pub total_time: f64,
    pub total_count: i64,
    pub success_count: i64,
    pub failed_count: i64,
    pub skipped_count: i64,
    pub error_count: i64,
    pub test_suites: Vec<TestSuiteEntity>,
}

/// The tests of the jobs of one name.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestSuiteEntity {
    pub name: String,
    pub total_time: f64,
    pub total_count: i64,
    pub success_count: i64,
    pub failed_count: i64,
    pub skipped_count: i64,
    pub error_count: i64,
    pub suite_error: Option<String>,
    #[schema(value_type = Vec<Object>)]
    pub test_cases: Vec<serde_json::Value>,
}

/// All tests of a pipeline, counted.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct TestSummaryEntity {
    pub total: TestFiguresEntity,
    #[schema(value_type = Vec<Object>)]
    pub test_suites: Vec<serde_json::Value>,
}

#[derive(Debug, Default, Serialize, ToSchema)]
pub struct TestFiguresEntity {
    pub time: f64,
    pub count: i64,
    pub success: i64,
    pub failed: i64,
    pub skipped: i64,
    pub error: i64,
    pub suite_error: Option<String>,
}
