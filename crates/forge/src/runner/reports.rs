//! Reports among the artifacts of jobs: read once, while whoever brings them waits.

use std::{
    collections::{BTreeSet, HashMap},
    io::{BufReader, Seek as _},
};

use ci::{
    artifact::{Artifact, ArtifactKind, ArtifactStore as _},
    job::{Job, JobListStore as _, SpecStore as _},
    pipeline,
    policy::ReadPipelines,
    report::{
        InheritedVariableStore as _, ReportedSuite, SuiteWithCases, TestSuite, TestSuiteStore as _,
        dotenv::{self, DotenvLimits},
        junit::{Limits, Suite},
        merged, suite_name,
    },
};
use db::Tx;
use kernel::{
    Actor, Error, Grant, Result, Standing, Ts,
    error::Kind,
    ids::{JobId, JobSpecId, PipelineId, ProjectId},
    task::spawn_blocking,
};
use org::{access::standings_of_one, settings::store::SettingsStore as _};
use secrets::Vault;
use tokio::sync::Semaphore;

use super::artifacts::lets_in;
use crate::{Forge, ports::ci::Projects};
use objects::{ObjectReader, StoredContent};

/// So many test reports are read at once: a large one takes a hundred times its size for a moment.
static READING: Semaphore = Semaphore::const_new(2);

/// Bytes of tests that one answer shows. The suites behind that are shown without theirs.
const SHOWN_LIMIT: u64 = 64 << 20;

/// Bytes of a dotenv report, whatever administrators set.
const LARGEST_DOTENV: usize = 1 << 20;

/// The content of a report.
#[derive(Clone, Debug)]
pub(super) enum Report {
    Tests(TestSuite),
    Variables(Vec<(String, String)>),
}

/// The result of reading an artifact that may be a report.
pub(super) enum ReportResult {
    Done(Option<Report>),
    /// It is of no use, in words for whoever brought it.
    Refused(String),
}

/// Where the tests lie that a report at this place tells of.
pub(super) fn cases_location(report: &str) -> String {
    format!("{report}-cases")
}

/// Reads an artifact that has arrived, as far as its kind asks for it.
pub(super) async fn read(
    forge: &Forge,
    job: &Job,
    kind: ArtifactKind,
    location: &str,
    kept: &StoredContent,
) -> Result<ReportResult> {
    match kind {
        ArtifactKind::Junit => {
            let suite = read_tests(forge, job, location, kept).await?;
            Ok(ReportResult::Done(Some(Report::Tests(suite))))
        }
        ArtifactKind::Dotenv => {
            let file = BufReader::new(forge.artifacts.reader(location, kept.size));
            let limits = forge.db.peek(dotenv_limits).await?;
            let read = spawn_blocking(move || dotenv::read(file, &limits)).await;
            Ok(match read.map_err(Error::internal)? {
                Ok(variables) => ReportResult::Done(Some(Report::Variables(variables))),
                Err(sentence) => ReportResult::Refused(sentence),
            })
        }
        _ => Ok(ReportResult::Done(None)),
    }
}

/// What a dotenv report may hold; without a limit it is read up to a megabyte all the same.
fn dotenv_limits(tx: &mut Tx<'_>) -> Result<DotenvLimits> {
    let plan = tx.settings()?.plan_limits;
    let bound = |limit: i64| usize::try_from(limit).ok().filter(|limit| *limit > 0);
    let size = bound(plan.dotenv_size).unwrap_or(LARGEST_DOTENV).min(LARGEST_DOTENV);
    Ok(DotenvLimits { size, variables: bound(plan.dotenv_variables).unwrap_or(usize::MAX) })
}

async fn read_tests(
    forge: &Forge,
    job: &Job,
    location: &str,
    kept: &StoredContent,
) -> Result<TestSuite> {
    let spec = job.spec_id;
    let options = match spec {
        Some(spec) => forge.db.peek(move |tx| Ok(tx.spec(spec)?.options)).await?,
        None => ci::config::options::Options::default(),
    };
    keep_tests(forge, job, suite_name(&job.name, &options), location, kept).await
}

/// Reads the report of a job's tests that lies at this place, and keeps the tests beside it.
pub(crate) async fn keep_tests(
    forge: &Forge,
    job: &Job,
    name: &str,
    location: &str,
    kept: &StoredContent,
) -> Result<TestSuite> {
    let mut suite = Suite::new(name);
    let _place = READING.acquire().await.map_err(Error::internal)?;
    let report = BufReader::new(forge.artifacts.reader(location, kept.size));
    let read = spawn_blocking(move || {
        suite.read_packed(report, &Limits::default());
        let mut cases = tempfile::tempfile()?;
        let size = suite.store(&mut cases)?;
        cases.rewind()?;
        Ok::<_, std::io::Error>((suite, size, cases))
    });
    let (suite, size, cases) = read.await.map_err(Error::internal)?.map_err(Error::internal)?;
    forge.artifacts.keep_file(&cases_location(location), cases).await?;
    Ok(TestSuite::of(job.id, job.pipeline_id, &suite, size))
}

/// In the transaction in which the artifact gets its row.
pub(super) fn insert(tx: &mut Tx<'_>, vault: &Vault, job: JobId, report: &Report) -> Result<()> {
    match report {
        Report::Tests(suite) => tx.save_test_suite(suite),
        Report::Variables(all) => tx.save_inherited_variables(vault, job, all),
    }
}

/// What the tests of a pipeline's jobs came to, job by job, of the reports that the caller may have; also where
/// these have expired.
pub fn test_suites(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadPipelines>,
    id: PipelineId,
) -> Result<Vec<TestSuite>> {
    let pipeline = pipeline::actions::read(tx, grant, &Projects, id)?;
    let suites = tx.test_suites(pipeline.id)?;
    let jobs = jobs_of(tx, &suites)?;
    readable(tx, suites, &jobs, &HashMap::from([(grant.project(), *grant.who())]))
}

/// As [`test_suites`], of several pipelines that the caller may see; a fixed number of statements.
///
/// # Errors
/// When the database cannot be read.
pub fn test_suites_of(
    tx: &mut Tx<'_>,
    actor: Actor,
    pipelines: &[PipelineId],
) -> Result<Vec<TestSuite>> {
    let suites = tx.test_suites_of(pipelines)?;
    let jobs = jobs_of(tx, &suites)?;
    let projects: BTreeSet<ProjectId> = jobs.values().map(|job| job.project_id).collect();
    let standings = standings_of_one::in_projects(tx, actor, &Vec::from_iter(projects))?;
    readable(tx, suites, &jobs, &standings)
}

fn jobs_of(tx: &mut Tx<'_>, suites: &[TestSuite]) -> Result<HashMap<JobId, Job>> {
    let ids: Vec<i64> = suites.iter().map(|suite| suite.job_id.0).collect();
    Ok(tx.jobs_by_id(&ids)?.into_iter().map(|job| (job.id, job)).collect())
}

/// Those of reports that the caller may have as files: tests tell nothing to whom the artifacts of their job are
/// closed.
fn readable(
    tx: &mut Tx<'_>,
    suites: Vec<TestSuite>,
    jobs: &HashMap<JobId, Job>,
    standings: &HashMap<ProjectId, Standing>,
) -> Result<Vec<TestSuite>> {
    let ids: BTreeSet<JobSpecId> = jobs.values().filter_map(|job| job.spec_id).collect();
    let specs = tx.specs(&Vec::from_iter(ids))?;
    let is_open = |suite: &TestSuite| {
        let Some(job) = jobs.get(&suite.job_id) else { return false };
        let Some(who) = standings.get(&job.project_id) else { return false };
        job.spec_id.is_none_or(|id| specs.get(&id).is_some_and(|spec| lets_in(who, spec)))
    };
    Ok(suites.into_iter().filter(is_open).collect())
}

/// The tests of a pipeline, one by one, as far as the reports are still there.
pub async fn test_report(
    forge: &Forge,
    grant: Grant<ReadPipelines>,
    id: PipelineId,
) -> Result<Vec<ReportedSuite>> {
    let found = forge.db.read(move |tx| {
        let suites = test_suites(tx, &grant, id)?;
        let jobs: Vec<JobId> = suites.iter().map(|suite| suite.job_id).collect();
        let artifacts = tx.artifacts_of(&jobs)?;
        Ok(with_reports(suites, &artifacts, tx.now))
    });
    let (mut left, mut readers) = (SHOWN_LIMIT, Vec::new());
    for (suite, location) in found.await? {
        let size = u64::try_from(suite.cases_size).unwrap_or_default();
        let reader = match left.checked_sub(size) {
            Some(rest) => {
                left = rest;
                match forge.artifacts.reader_of(&location).await {
                    // It has just gone with its report.
                    Err(gone) if gone.is_plain(Kind::NotFound) => continue,
                    reader => Some((reader?, size)),
                }
            }
            None => None,
        };
        readers.push((suite, reader));
    }
    let read = spawn_blocking(move || {
        let with_cases = |(suite, reader): (TestSuite, Option<(ObjectReader, u64)>)| {
            let cases = reader.map(|(reader, size)| Suite::stored(reader, size)).transpose()?;
            Ok((suite, cases))
        };
        let all: std::io::Result<Vec<SuiteWithCases>> =
            readers.into_iter().map(with_cases).collect();
        all.map(merged)
    });
    read.await.map_err(Error::internal)?.map_err(Error::internal)
}

/// Those whose reports are still there, with the places of their tests.
fn with_reports(
    suites: Vec<TestSuite>,
    artifacts: &[Artifact],
    now: Ts,
) -> Vec<(TestSuite, String)> {
    let is_there = |one: &&Artifact| one.file_type == ArtifactKind::Junit && one.is_there(now);
    let places: HashMap<JobId, &Artifact> =
        artifacts.iter().filter(is_there).map(|one| (one.job_id, one)).collect();
    let placed = |suite: TestSuite| {
        let location = cases_location(&places.get(&suite.job_id)?.location);
        Some((suite, location))
    };
    suites.into_iter().filter_map(placed).collect()
}
