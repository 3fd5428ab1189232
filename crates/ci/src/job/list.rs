//! Lists of jobs: of a project, and of a pipeline.

use std::collections::HashMap;

use db::{
    Conn, OneOf as _, Tx, each_backend, error,
    listing::{self, Bind, Selection, page_of_ids},
    schema::jobs,
};
use diesel::{prelude::*, sql_types::BigInt};
use kernel::{
    Result, TextEnum as _,
    ids::{JobId, PipelineId, ProjectId, RunnerId},
    page::{Page, PageRequest},
};

use super::{Job, JobKind};
use crate::Status;

/// Which jobs are wanted.
#[derive(Clone, Debug)]
pub struct JobFilter {
    pub kind: JobKind,
    /// Any of these; empty for all.
    pub statuses: Vec<Status>,
    /// Those, too, whose place a newer one took.
    pub retried: bool,
    /// Only those that are older than this one.
    pub before: Option<JobId>,
    /// Only those that are younger than this one.
    pub after: Option<JobId>,
    /// Lists begin with the newest otherwise.
    pub oldest_first: bool,
}

impl JobFilter {
    fn direction(&self) -> &'static str {
        if self.oldest_first { "ASC" } else { "DESC" }
    }

    /// The conditions on ids, each with its `AND`.
    fn ids(&self) -> String {
        let older = self.before.map(|id| format!(" AND id < {}", listing::value(id)));
        let younger = self.after.map(|id| format!(" AND id > {}", listing::value(id)));
        older.unwrap_or_default() + &younger.unwrap_or_default()
    }
}

/// Which jobs of a runner are wanted.
#[derive(Clone, Debug)]
pub struct RunnerJobFilter {
    /// Any of these; empty for all.
    pub statuses: Vec<Status>,
    /// `None` for those of all projects.
    pub projects: Option<Vec<ProjectId>>,
    /// Whether the newest come first.
    pub descending: bool,
}

pub trait JobListStore {
    /// A page that is not counted.
    fn project_jobs(
        &mut self,
        project: ProjectId,
        filter: &JobFilter,
        page: PageRequest,
    ) -> Result<Page<Job>>;
    fn pipeline_jobs(
        &mut self,
        pipeline: PipelineId,
        filter: &JobFilter,
        page: PageRequest,
    ) -> Result<Page<Job>>;
    /// Jobs that a runner took, by age; of these projects alone, where some are named.
    fn runner_jobs(
        &mut self,
        runner: RunnerId,
        filter: &RunnerJobFilter,
        page: PageRequest,
    ) -> Result<Page<Job>>;
    /// As [`project_jobs`](Self::project_jobs), only those that left files behind.
    fn project_jobs_with_artifacts(
        &mut self,
        project: ProjectId,
        filter: &JobFilter,
        page: PageRequest,
    ) -> Result<Page<Job>>;
    /// A page of the jobs of all projects that is not counted.
    fn all_jobs(&mut self, filter: &JobFilter, page: PageRequest) -> Result<Page<Job>>;
    /// How many jobs each of these runners took, counted up to `limit`; of these projects alone, where some are
    /// named.
    fn runner_job_counts(
        &mut self,
        runners: &[RunnerId],
        projects: Option<&[ProjectId]>,
        limit: i64,
    ) -> Result<HashMap<RunnerId, i64>>;
    /// Those of these runners that do a job; of these projects alone, where some are named.
    fn busy_runners(
        &mut self,
        runners: &[RunnerId],
        projects: Option<&[ProjectId]>,
    ) -> Result<Vec<RunnerId>>;
    /// These jobs, the newest first.
    fn jobs_by_id(&mut self, ids: &[i64]) -> Result<Vec<Job>>;
}

impl JobListStore for Tx<'_> {
    fn project_jobs(
        &mut self,
        project: ProjectId,
        filter: &JobFilter,
        page: PageRequest,
    ) -> Result<Page<Job>> {
        jobs_of_project(self, project, filter, "", page)
    }

    fn project_jobs_with_artifacts(
        &mut self,
        project: ProjectId,
        filter: &JobFilter,
        page: PageRequest,
    ) -> Result<Page<Job>> {
        let with_files = " AND EXISTS (SELECT 1 FROM job_artifacts a WHERE a.job_id = jobs.id)";
        jobs_of_project(self, project, filter, with_files, page)
    }

    fn all_jobs(&mut self, filter: &JobFilter, page: PageRequest) -> Result<Page<Job>> {
        let kind = filter.kind.as_str();
        let mut conditions = format!("kind = '{kind}'");
        if !filter.statuses.is_empty() {
            conditions.push_str(&format!(" AND status IN ({})", words(&filter.statuses)));
        }
        if !filter.retried {
            conditions.push_str(" AND retried = FALSE");
        }
        conditions.push_str(&filter.ids());
        let sql = format!(
            "SELECT id FROM jobs WHERE {conditions} ORDER BY id {} LIMIT {} OFFSET {}",
            filter.direction(),
            page.probe(),
            page.offset()
        );
        let found = page.uncounted(listing::ids(self, &sql, &[])?);
        found.try_map_all(|ids| in_order(self, filter, &ids))
    }

    fn runner_job_counts(
        &mut self,
        runners: &[RunnerId],
        projects: Option<&[ProjectId]>,
        limit: i64,
    ) -> Result<HashMap<RunnerId, i64>> {
        if runners.is_empty() {
            return Ok(HashMap::new());
        }
        let ProjectCondition { with, condition, binds } = ProjectCondition::new(self, projects);
        // Of each runner no more rows than are told.
        let counts = runners.iter().map(|runner| {
            let id = listing::value(runner);
            format!(
                "SELECT {id} AS id, (SELECT COUNT(*) FROM \
                 (SELECT id FROM jobs WHERE runner_id = {id}{condition} LIMIT {limit}) AS counted) AS total"
            )
        });
        let sql = format!("{with}{}", counts.collect::<Vec<_>>().join(" UNION ALL "));
        let rows: Vec<RunnerCount> = listing::rows(self, &sql, &binds)?;
        Ok(rows.into_iter().map(|row| (RunnerId(row.id), row.total)).collect())
    }

    fn pipeline_jobs(
        &mut self,
        pipeline: PipelineId,
        filter: &JobFilter,
        page: PageRequest,
    ) -> Result<Page<Job>> {
        let mut from = "jobs WHERE pipeline_id = $1".to_owned();
        if !filter.retried {
            from.push_str(" AND retried = FALSE");
        }
        from.push_str(&format!(" AND kind = '{}'", filter.kind));
        if !filter.statuses.is_empty() {
            let statuses = filter.statuses.iter().map(|status| format!("'{status}'"));
            from.push_str(&format!(" AND status IN ({})", statuses.collect::<Vec<_>>().join(", ")));
        }
        let selection = Selection {
            id: "id",
            from: from.clone(),
            binds: vec![Bind::Number(pipeline.0)],
            order: "id DESC".to_owned(),
        };
        let binds = selection.binds.clone();
        let found = page_of_ids(self, &selection, page, |tx| listing::count(tx, &from, &binds))?;
        found.try_map_all(|ids| in_order(self, filter, &ids))
    }

    fn runner_jobs(
        &mut self,
        runner: RunnerId,
        filter: &RunnerJobFilter,
        page: PageRequest,
    ) -> Result<Page<Job>> {
        let mut from = "jobs WHERE runner_id = $1".to_owned();
        match filter.statuses.as_slice() {
            [] => {}
            [status] => from.push_str(&format!(" AND status = '{status}'")),
            several => from.push_str(&format!(" AND status IN ({})", words(several))),
        }
        if let Some(projects) = &filter.projects {
            let ids: Vec<i64> = projects.iter().map(|id| id.0).collect();
            from.push_str(&format!(" AND project_id IN ({})", listing::list_of(&ids)));
        }
        let order = if filter.descending { "id DESC" } else { "id" };
        let selection = Selection {
            id: "id",
            from: from.clone(),
            binds: vec![Bind::Number(runner.0)],
            order: order.to_owned(),
        };
        let binds = selection.binds.clone();
        let found = page_of_ids(self, &selection, page, |tx| listing::count(tx, &from, &binds))?;
        found.try_map_all(|ids| {
            let mut jobs = self.jobs_by_id(&ids)?;
            if !filter.descending {
                jobs.reverse();
            }
            Ok(jobs)
        })
    }

    fn busy_runners(
        &mut self,
        runners: &[RunnerId],
        projects: Option<&[ProjectId]>,
    ) -> Result<Vec<RunnerId>> {
        let ids: Vec<i64> = runners.iter().map(|id| id.0).collect();
        let ProjectCondition { with, condition, binds } = ProjectCondition::new(self, projects);
        let sql = format!(
            "{with}SELECT DISTINCT runner_id AS id FROM jobs \
             WHERE runner_id IN ({}) AND status = 'running'{condition}",
            listing::list_of(&ids)
        );
        Ok(listing::ids(self, &sql, &binds)?.into_iter().map(RunnerId).collect())
    }

    fn jobs_by_id(&mut self, ids: &[i64]) -> Result<Vec<Job>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<JobId> = ids.iter().copied().map(JobId).collect();
        each_backend!(self, |conn| jobs::table
            .filter(jobs::id.one_of(&ids))
            .order(jobs::id.desc())
            .select(Job::as_select())
            .load(conn)
            .map_err(error("Job")))
    }
}

/// A page of a project's jobs of which `also` holds, which is a condition with its `AND`.
fn jobs_of_project(
    tx: &mut Tx<'_>,
    project: ProjectId,
    filter: &JobFilter,
    also: &str,
    page: PageRequest,
) -> Result<Page<Job>> {
    let most = page.offset().saturating_add(page.probe());
    let binds = [Bind::Number(project.0)];
    let kind = filter.kind.as_str();
    let (ids, direction) = (filter.ids(), filter.direction());
    let of = |status: &str| {
        format!(
            "SELECT id FROM jobs WHERE project_id = $1 AND kind = '{kind}'{status}{ids}{also} ORDER BY id {direction} LIMIT {most}"
        )
    };
    // Of each status no more than the page could show, by the index that is in its order.
    let from = match filter.statuses.as_slice() {
        [] => format!("({}) AS found", of("")),
        statuses => {
            let each = statuses.iter().map(|status| {
                format!(
                    "SELECT id FROM ({}) AS of_{status}",
                    of(&format!(" AND status = '{status}'"))
                )
            });
            format!("({}) AS found", each.collect::<Vec<_>>().join(" UNION ALL "))
        }
    };
    let sql = format!(
        "SELECT found.id AS id FROM {from} ORDER BY found.id {direction} LIMIT {} OFFSET {}",
        page.probe(),
        page.offset()
    );
    let found = page.uncounted(listing::ids(tx, &sql, &binds)?);
    found.try_map_all(|ids| in_order(tx, filter, &ids))
}

/// These jobs in the order of the list.
fn in_order(tx: &mut Tx<'_>, filter: &JobFilter, ids: &[i64]) -> Result<Vec<Job>> {
    let mut jobs = tx.jobs_by_id(ids)?;
    if filter.oldest_first {
        jobs.reverse();
    }
    Ok(jobs)
}

/// The condition, with its `AND`, that jobs are of some projects.
#[derive(Default)]
struct ProjectCondition {
    /// What the statement begins with: the projects, once for all who ask.
    with: &'static str,
    condition: &'static str,
    binds: Vec<Bind>,
}

impl ProjectCondition {
    /// Without projects it holds of every job.
    fn new(tx: &Tx<'_>, projects: Option<&[ProjectId]>) -> Self {
        let Some(projects) = projects else { return Self::default() };
        let ids: Vec<i64> = projects.iter().map(|id| id.0).collect();
        let with = match &tx.conn {
            Conn::Sqlite(_) => "WITH among(id) AS (SELECT value FROM json_each($1)) ",
            Conn::Postgres(_) => {
                "WITH among(id) AS (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST($1 AS json))) "
            }
        };
        let condition = " AND project_id IN (SELECT id FROM among)";
        Self { with, condition, binds: vec![Bind::Word(listing::json_of(&ids))] }
    }
}

fn words(statuses: &[Status]) -> String {
    statuses.iter().map(|status| format!("'{status}'")).collect::<Vec<_>>().join(", ")
}

#[derive(QueryableByName)]
struct RunnerCount {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    total: i64,
}
