//! The tests of a pipeline: suites of the jobs of one name, taken together.

use std::sync::LazyLock;

use indexmap::IndexMap;
use regex::Regex;
use serde_json::value::RawValue;

use super::{
    TestSuite,
    junit::{CaseKey, CaseStatus, StoredCase, bounded_time},
};
use crate::config::options::Options;

/// The number of tests by status, and their duration in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TestCounts {
    pub time: f64,
    pub success: i64,
    pub failed: i64,
    pub skipped: i64,
    pub error: i64,
}

impl TestCounts {
    pub fn count(&self) -> i64 {
        self.success + self.failed + self.skipped + self.error
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            time: bounded_time(self.time + other.time),
            success: self.success + other.success,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
            error: self.error + other.error,
        }
    }

    fn add_one(&mut self, status: CaseStatus) {
        *match status {
            CaseStatus::Error => &mut self.error,
            CaseStatus::Failed => &mut self.failed,
            CaseStatus::Success => &mut self.success,
            CaseStatus::Skipped => &mut self.skipped,
        } += 1;
    }
}

/// What is behind the name of a copy: ` 1/3`, `: [a, b]`.
static COPY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"([\s:]+(\[.*\]|\d+[\s:/\\]+\d+))+\s*$").ok());

/// The suite of a job. Copies by number share one; each of a matrix has its own.
pub fn suite_name<'n>(job: &'n str, options: &Options) -> &'n str {
    match options.parallel.as_ref().is_some_and(|parallel| parallel.matrix.is_some()) {
        true => job,
        false => group_name(job),
    }
}

/// The name that a job shares with others that differ from it in a number alone.
pub fn group_name(job: &str) -> &str {
    let copy = COPY.as_ref().and_then(|copy| copy.find(job));
    match copy.filter(|copy| copy.start() > 0) {
        Some(copy) => &job[..copy.start()],
        None => job,
    }
}

/// A suite as the report shows it.
#[derive(Debug)]
pub struct ReportedSuite {
    pub name: String,
    pub figures: TestCounts,
    pub error: Option<String>,
    /// In the order in which they are shown.
    pub cases: Vec<Box<RawValue>>,
}

/// A suite of one job with its tests; `None` where these are too many to be shown.
pub type SuiteWithCases = (TestSuite, Option<Vec<StoredCase>>);

/// The suites of jobs, those of one name taken together.
pub fn merged(suites: Vec<SuiteWithCases>) -> Vec<ReportedSuite> {
    let mut by_name: IndexMap<String, Vec<SuiteWithCases>> = IndexMap::new();
    for (suite, cases) in suites {
        by_name.entry(suite.name.clone()).or_default().push((suite, cases));
    }
    by_name.into_iter().map(|(name, parts)| merged_suite(name, parts)).collect()
}

fn merged_suite(name: String, parts: Vec<SuiteWithCases>) -> ReportedSuite {
    if let Some(error) = parts.iter().find_map(|(suite, _)| suite.suite_error.clone()) {
        let figures = TestCounts::default();
        return ReportedSuite { name, figures, error: Some(error), cases: Vec::new() };
    }
    let all = parts.iter().fold(TestCounts::default(), |all, (suite, _)| all.plus(suite.figures()));
    let is_alone = parts.len() == 1;
    let cases: Option<Vec<Vec<StoredCase>>> = parts.into_iter().map(|(_, cases)| cases).collect();
    let cases: Vec<StoredCase> = cases.unwrap_or_default().into_iter().flatten().collect();
    if is_alone || cases.is_empty() {
        return ReportedSuite { name, figures: all, error: None, cases: shown(cases) };
    }
    // Of two alike, the last.
    let mut kept: IndexMap<CaseKey, StoredCase> = IndexMap::with_capacity(cases.len());
    kept.extend(cases.into_iter().map(|case| (case.key, case)));
    let mut cases: Vec<StoredCase> = kept.into_values().collect();
    cases.sort_by(StoredCase::in_order);
    let mut figures = TestCounts { time: all.time, ..TestCounts::default() };
    cases.iter().for_each(|case| figures.add_one(case.key.status));
    ReportedSuite { name, figures, error: None, cases: shown(cases) }
}

fn shown(cases: Vec<StoredCase>) -> Vec<Box<RawValue>> {
    cases.into_iter().map(|case| case.shown).collect()
}

#[cfg(test)]
mod tests {
    use kernel::ids::{JobId, PipelineId};

    use super::{SuiteWithCases, merged, suite_name};
    use crate::{
        config::options::{Options, Parallel},
        report::{
            TestSuite,
            junit::{Limits, Suite},
        },
    };

    #[test]
    fn copies_by_number_share_a_suite() {
        let plain = Options::default();
        for (job, name) in [
            ("rspec", "rspec"),
            ("rspec 1/3", "rspec"),
            ("rspec 1:3", "rspec"),
            ("rspec: [a, b]", "rspec"),
            ("rspec 10", "rspec 10"),
            ("1/3", "1/3"),
        ] {
            assert_eq!(suite_name(job, &plain), name);
        }
        let parallel = Parallel { number: None, matrix: Some(Vec::new()), total: 2 };
        let matrix = Options { parallel: Some(parallel), ..Options::default() };
        assert_eq!(suite_name("rspec: [a, b]", &matrix), "rspec: [a, b]");
    }

    fn part(job: i64, cases: &str) -> SuiteWithCases {
        let mut suite = Suite::new("job");
        let xml = format!("<testsuite>{cases}</testsuite>");
        suite.read(xml.as_bytes(), &Limits::default());
        let mut stored = Vec::new();
        let size = suite.store(&mut stored).unwrap();
        let row = TestSuite::of(JobId(job), PipelineId(1), &suite, size);
        (row, Some(Suite::stored(stored.as_slice(), size).unwrap()))
    }

    #[test]
    fn of_two_alike_in_copies_of_a_job_the_last_is_told_and_all_times_count() {
        let first = part(1, "<testcase name='a' time='1'/><testcase name='b' time='2'/>");
        let second = part(2, "<testcase name='a' time='4'/><testcase name='a'><error/></testcase>");

        let suite = merged(vec![first, second]).pop().unwrap();

        let figures = suite.figures;
        assert_eq!((figures.success, figures.error, figures.count()), (2, 1, 3));
        assert!((figures.time - 7.0).abs() < 1e-9);
        let told: Vec<&str> = suite.cases.iter().map(|case| &case.get()[..30]).collect();
        assert!(told[0].contains("error") && told[1].contains("success"), "{told:?}");
        assert!(suite.cases[1].get().contains("4.0"), "the slowest first");
    }

    #[test]
    fn times_that_earlier_versions_kept_are_told_within_bounds() {
        let told = |times: &[f64]| {
            let part = |(job, time): (i64, &f64)| {
                let (row, cases) = part(job, "");
                (TestSuite { total_time: *time, ..row }, cases)
            };
            merged((1..).zip(times).map(part).collect()).pop().unwrap().figures.time
        };
        let infinite = f64::INFINITY;
        for (times, time) in
            [(&[infinite][..], 1e12), (&[infinite, 1e305], 1e12), (&[infinite, -infinite], 0.0)]
        {
            assert!((told(times) - time).abs() < 1.0, "{times:?}");
        }
    }

    #[test]
    fn a_broken_report_takes_away_what_other_copies_say() {
        let (mut row, _) = part(2, "");
        row.suite_error = Some("no".to_owned());

        let suite = merged(vec![part(1, "<testcase name='a'/>"), (row, Some(Vec::new()))]);

        assert_eq!((suite[0].figures.count(), suite[0].error.as_deref()), (0, Some("no")));
        assert!(suite[0].cases.is_empty());
    }
}
