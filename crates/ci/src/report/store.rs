//! Test reports of jobs in the database.

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{jobs, test_suites},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{JobId, PipelineId},
};

use super::{
    TestCounts,
    junit::{CaseStatus, Suite, bounded_time},
};

const NOUN: &str = "Test report";
/// Rows of one statement, below what both databases allow.
const AT_ONCE: usize = 100;

/// The test suite of one job.
#[derive(Clone, Debug, PartialEq, Queryable, Selectable)]
#[diesel(table_name = test_suites, check_for_backend(db::AnyBackend))]
pub struct TestSuite {
    pub job_id: JobId,
    pub pipeline_id: PipelineId,
    /// Jobs of one name, and the copies of a job, share a suite.
    pub name: String,
    /// Seconds.
    pub total_time: f64,
    pub success_count: i64,
    pub failed_count: i64,
    pub skipped_count: i64,
    pub error_count: i64,
    /// Why it shows no tests.
    pub suite_error: Option<String>,
    /// Bytes of its tests, as they are kept beside the report.
    pub cases_size: i64,
}

impl TestSuite {
    pub fn of(job: JobId, pipeline: PipelineId, suite: &Suite, cases_size: u64) -> Self {
        let count = |status| i64::try_from(suite.count(status)).unwrap_or(i64::MAX);
        Self {
            job_id: job,
            pipeline_id: pipeline,
            name: suite.name().to_owned(),
            total_time: suite.total_time(),
            success_count: count(CaseStatus::Success),
            failed_count: count(CaseStatus::Failed),
            skipped_count: count(CaseStatus::Skipped),
            error_count: count(CaseStatus::Error),
            suite_error: suite.error().map(str::to_owned),
            cases_size: i64::try_from(cases_size).unwrap_or(i64::MAX),
        }
    }

    pub fn figures(&self) -> TestCounts {
        TestCounts {
            // Earlier versions kept larger ones.
            time: bounded_time(self.total_time),
            success: self.success_count,
            failed: self.failed_count,
            skipped: self.skipped_count,
            error: self.error_count,
        }
    }
}

pub trait TestSuiteStore {
    /// The suite of a job, in the place of one that it brought before.
    fn save_test_suite(&mut self, suite: &TestSuite) -> Result<()> {
        self.save_test_suites(std::slice::from_ref(suite))
    }
    /// As [`save_test_suite`](Self::save_test_suite), of several jobs.
    fn save_test_suites(&mut self, suites: &[TestSuite]) -> Result<()>;
    /// Those of a pipeline's jobs, but for jobs whose place a newer one took; the oldest job first.
    fn test_suites(&mut self, pipeline: PipelineId) -> Result<Vec<TestSuite>>;
    /// As [`test_suites`](Self::test_suites), of several pipelines.
    fn test_suites_of(&mut self, pipelines: &[PipelineId]) -> Result<Vec<TestSuite>>;
}

impl TestSuiteStore for Tx<'_> {
    fn save_test_suites(&mut self, suites: &[TestSuite]) -> Result<()> {
        for some in suites.chunks(AT_ONCE) {
            let jobs: Vec<JobId> = some.iter().map(|suite| suite.job_id).collect();
            let before = test_suites::table.filter(test_suites::job_id.one_of(&jobs));
            each_backend!(self, |conn| diesel::delete(before).execute(conn).map_err(error(NOUN)))?;
            let rows: Vec<_> = some
                .iter()
                .map(|suite| {
                    (
                        test_suites::job_id.eq(suite.job_id),
                        test_suites::pipeline_id.eq(suite.pipeline_id),
                        test_suites::name.eq(&suite.name),
                        test_suites::total_time.eq(suite.total_time),
                        test_suites::success_count.eq(suite.success_count),
                        test_suites::failed_count.eq(suite.failed_count),
                        test_suites::skipped_count.eq(suite.skipped_count),
                        test_suites::error_count.eq(suite.error_count),
                        test_suites::suite_error.eq(suite.suite_error.as_deref()),
                        test_suites::cases_size.eq(suite.cases_size),
                    )
                })
                .collect();
            each_backend!(self, |conn| diesel::insert_into(test_suites::table)
                .values(&rows)
                .execute(conn)
                .map_err(error(NOUN)))?;
        }
        Ok(())
    }

    fn test_suites(&mut self, pipeline: PipelineId) -> Result<Vec<TestSuite>> {
        self.test_suites_of(&[pipeline])
    }

    fn test_suites_of(&mut self, pipelines: &[PipelineId]) -> Result<Vec<TestSuite>> {
        each_backend!(self, |conn| test_suites::table
            .inner_join(jobs::table)
            .filter(test_suites::pipeline_id.one_of(pipelines).and(jobs::retried.eq(false)))
            .order(test_suites::job_id)
            .select(TestSuite::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }
}
