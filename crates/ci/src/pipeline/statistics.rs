//! Figures of the pipelines of projects: how many there are on each day, how long they take, and what their tests cover.

use std::collections::HashMap;

use db::{
    Conn, Fragment, Tx,
    listing::{self, Bind, list_of},
};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Double, Nullable, Text},
};
use kernel::{
    Error, Result, Ts,
    ids::{PipelineId, ProjectId},
};
use time::Date;

use super::{Pipeline, PipelineStore as _, list::OWN};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;
/// So many pipelines of a branch, the newest, are looked at for one whose tests cover something.
const COVERAGE_LIMIT: i64 = 500;

/// The pipelines of a project that were made on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayFigures {
    pub day: Date,
    pub total: i64,
    pub succeeded: i64,
}

/// The duration of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineTime {
    pub sha: String,
    /// Seconds; zero where nothing ran.
    pub duration: i64,
}

/// The test coverage of a branch's latest successful pipeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoverageFigures {
    /// The mean of its jobs, in percent.
    pub average: f64,
    /// How many jobs told something.
    pub jobs: i64,
    /// The day on which the pipeline ended.
    pub day: Date,
}

#[derive(QueryableByName)]
struct DayRow {
    #[diesel(sql_type = BigInt)]
    day: i64,
    #[diesel(sql_type = BigInt)]
    total: i64,
    #[diesel(sql_type = BigInt)]
    succeeded: i64,
}

#[derive(QueryableByName)]
struct TimeRow {
    #[diesel(sql_type = Text)]
    sha: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    duration: Option<i64>,
}

#[derive(QueryableByName)]
struct CoverageRow {
    #[diesel(sql_type = BigInt)]
    pipeline: i64,
    #[diesel(sql_type = Double)]
    average: f64,
    #[diesel(sql_type = BigInt)]
    jobs: i64,
}

/// Whether the tests of one of a project's newest pipelines told a coverage; `project` is the column of its ID.
pub fn has_coverage(project: &str) -> Fragment {
    Fragment::new(format!(
        "EXISTS (SELECT 1 FROM (SELECT c.coverage FROM pipelines c WHERE c.project_id = {project} \
         ORDER BY c.id DESC LIMIT {COVERAGE_LIMIT}) AS newest WHERE newest.coverage IS NOT NULL)"
    ))
}

pub trait PipelineStatistics {
    /// The days since a moment on which pipelines of a project were made, in their order.
    fn pipelines_by_day(&mut self, project: ProjectId, since: Ts) -> Result<Vec<DayFigures>>;
    /// How long the newest pipelines of a project took, the oldest of them first.
    fn newest_times(&mut self, project: ProjectId, most: i64) -> Result<Vec<PipelineTime>>;
    /// The newest pipeline of each of these branches that is no child and of no merge request.
    fn newest_of_branches(
        &mut self,
        branches: &[(ProjectId, String)],
    ) -> Result<HashMap<(ProjectId, String), Pipeline>>;
    /// What the tests of these branches cover, as far as they cover anything.
    fn coverage_of_branches(
        &mut self,
        branches: &[(ProjectId, String)],
    ) -> Result<HashMap<(ProjectId, String), CoverageFigures>>;
}

impl PipelineStatistics for Tx<'_> {
    fn pipelines_by_day(&mut self, project: ProjectId, since: Ts) -> Result<Vec<DayFigures>> {
        // What was made since then also changed since then: the index of changes leaves the others out.
        let sql = format!(
            "SELECT p.created_at / {DAY} AS day, COUNT(*) AS total, \
             CAST(SUM(CASE WHEN p.status = 'success' THEN 1 ELSE 0 END) AS BIGINT) AS succeeded \
             FROM pipelines p WHERE p.project_id = $1 AND p.updated_at >= $2 AND p.created_at >= $2 \
             GROUP BY p.created_at / {DAY} ORDER BY p.created_at / {DAY}"
        );
        let binds = [Bind::Number(project.0), Bind::Number(since.0)];
        let rows: Vec<DayRow> = listing::rows(self, &sql, &binds)?;
        let figures = |row: DayRow| DayFigures {
            day: Ts(row.day.saturating_mul(DAY)).date(),
            total: row.total,
            succeeded: row.succeeded,
        };
        Ok(rows.into_iter().map(figures).collect())
    }

    fn newest_times(&mut self, project: ProjectId, most: i64) -> Result<Vec<PipelineTime>> {
        let sql = format!(
            "SELECT p.sha AS sha, p.duration AS duration FROM pipelines p WHERE p.project_id = $1 \
             ORDER BY p.id DESC LIMIT {most}"
        );
        let rows: Vec<TimeRow> = listing::rows(self, &sql, &[Bind::Number(project.0)])?;
        let time = |row: TimeRow| PipelineTime {
            sha: row.sha,
            duration: row.duration.unwrap_or_default(),
        };
        Ok(rows.into_iter().rev().map(time).collect())
    }

    fn newest_of_branches(
        &mut self,
        branches: &[(ProjectId, String)],
    ) -> Result<HashMap<(ProjectId, String), Pipeline>> {
        let one = |on_branch: &str| {
            format!("SELECT p.id FROM pipelines p WHERE {on_branch} ORDER BY p.id DESC LIMIT 1")
        };
        chosen_of_branches(self, branches, one)
    }

    fn coverage_of_branches(
        &mut self,
        branches: &[(ProjectId, String)],
    ) -> Result<HashMap<(ProjectId, String), CoverageFigures>> {
        let one = |on_branch: &str| {
            format!(
                "SELECT q.id FROM (SELECT p.id, p.status, p.coverage FROM pipelines p WHERE {on_branch} \
                 ORDER BY p.id DESC LIMIT {COVERAGE_LIMIT}) AS q \
                 WHERE q.status = 'success' AND q.coverage IS NOT NULL ORDER BY q.id DESC LIMIT 1"
            )
        };
        let newest = chosen_of_branches(self, branches, one)?;
        let ids: Vec<i64> = newest.values().map(|pipeline| pipeline.id.0).collect();
        let sql = format!(
            "SELECT j.pipeline_id AS pipeline, AVG(j.coverage) AS average, COUNT(*) AS jobs FROM jobs j \
             WHERE j.pipeline_id IN ({}) AND j.retried = FALSE AND j.coverage IS NOT NULL GROUP BY j.pipeline_id",
            list_of(&ids)
        );
        let rows: Vec<CoverageRow> = listing::rows(self, &sql, &[])?;
        let rows: HashMap<i64, CoverageRow> =
            rows.into_iter().map(|row| (row.pipeline, row)).collect();
        let figures = |(branch, pipeline): ((ProjectId, String), Pipeline)| {
            let row = rows.get(&pipeline.id.0)?;
            let day = pipeline.finished_at.unwrap_or(pipeline.updated_at).date();
            Some((branch, CoverageFigures { average: row.average, jobs: row.jobs, day }))
        };
        Ok(newest.into_iter().filter_map(figures).collect())
    }
}

/// Of each of these branches one pipeline, by one statement. `one` is given the condition on a pipeline `p` that it is of the
/// branch, and answers with the query for its id.
fn chosen_of_branches(
    tx: &mut Tx<'_>,
    branches: &[(ProjectId, String)],
    one: impl Fn(&str) -> String,
) -> Result<HashMap<(ProjectId, String), Pipeline>> {
    if branches.is_empty() {
        return Ok(HashMap::new());
    }
    let (pairs, project) = match &tx.conn {
        Conn::Sqlite(_) => ("json_each($1) AS n", "(n.value ->> 0)"),
        Conn::Postgres(_) => {
            ("json_array_elements(CAST($1 AS json)) AS n(value)", "CAST(n.value ->> 0 AS BIGINT)")
        }
    };
    let on_branch = format!(
        "p.project_id = {project} AND p.ref_name = (n.value ->> 1) AND p.{OWN} AND p.tag = FALSE AND p.merge_request_id IS NULL"
    );
    let sql = format!("SELECT COALESCE(({}), 0) AS id FROM {pairs}", one(&on_branch));
    let named: Vec<(i64, &str)> =
        branches.iter().map(|(project, name)| (project.0, name.as_str())).collect();
    let named = serde_json::to_string(&named).map_err(Error::internal)?;
    let ids = listing::ids(tx, &sql, &[Bind::Word(named)])?;
    let ids: Vec<PipelineId> = ids.into_iter().filter(|id| *id != 0).map(PipelineId).collect();
    let found = tx.pipelines_by_id(&ids)?.into_values();
    Ok(found.map(|pipeline| ((pipeline.project_id, pipeline.ref_name.clone()), pipeline)).collect())
}
