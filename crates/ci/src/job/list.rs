//! Lists of jobs: of a project, and of a pipeline.

use db::{
    Tx, each_backend, error,
    listing::{self, Bind, Selection, page_of_ids},
    schema::jobs,
};
use diesel::prelude::*;
use kernel::{
    Result, TextEnum as _,
    ids::{JobId, PipelineId, ProjectId, RunnerId},
    page::{Page, PageRequest},
};

use super::{Job, JobKind};
use crate::Status;

/// Which jobs are wanted; all lists begin with the newest.
#[derive(Clone, Debug)]
pub struct JobFilter {
    pub kind: JobKind,
    /// Any of these; empty for all.
    pub statuses: Vec<Status>,
    /// Those, too, whose place a newer one took.
    pub retried: bool,
    /// Only those that are older than this one.
    pub before: Option<JobId>,
}

/// Which jobs of a runner are wanted.
#[derive(Clone, Debug)]
pub struct RunnerJobFilter {
    pub status: Option<Status>,
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
        let most = page.offset().saturating_add(page.probe());
        let binds = [Bind::Number(project.0)];
        let kind = filter.kind.as_str();
        let older = filter.before.map(|id| format!(" AND id < {}", listing::value(id)));
        let older = older.unwrap_or_default();
        let of = |status: &str| {
            format!(
                "SELECT id FROM jobs WHERE project_id = $1 AND kind = '{kind}'{status}{older} ORDER BY id DESC LIMIT {most}"
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
            "SELECT found.id AS id FROM {from} ORDER BY found.id DESC LIMIT {} OFFSET {}",
            page.probe(),
            page.offset()
        );
        let found = page.uncounted(listing::ids(self, &sql, &binds)?);
        found.try_map_all(|ids| self.jobs_by_id(&ids))
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
        found.try_map_all(|ids| self.jobs_by_id(&ids))
    }

    fn runner_jobs(
        &mut self,
        runner: RunnerId,
        filter: &RunnerJobFilter,
        page: PageRequest,
    ) -> Result<Page<Job>> {
        let mut from = "jobs WHERE runner_id = $1".to_owned();
        if let Some(status) = filter.status {
            from.push_str(&format!(" AND status = '{status}'"));
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

    fn jobs_by_id(&mut self, ids: &[i64]) -> Result<Vec<Job>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<JobId> = ids.iter().copied().map(JobId).collect();
        each_backend!(self, |conn| jobs::table
            .filter(jobs::id.eq_any(&ids))
            .order(jobs::id.desc())
            .select(Job::as_select())
            .load(conn)
            .map_err(error("Job")))
    }
}
