//! Resource groups in the database.

use std::collections::HashMap;

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    listing::{self, Bind},
    schema::{jobs, resource_groups as groups},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{JobId, PipelineId, ProjectId, ResourceGroupId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{ProcessMode, ResourceGroup};
use crate::{
    Status,
    job::{Job, JobKind},
};

pub trait ResourceGroupStore {
    fn resource_groups(
        &mut self,
        project: ProjectId,
        page: PageRequest,
    ) -> Result<Page<ResourceGroup>>;
    fn find_resource_group(
        &mut self,
        project: ProjectId,
        key: &str,
    ) -> Result<Option<ResourceGroup>>;
    /// The ids of groups by their keys; those that are not there are made.
    fn save_resource_groups(
        &mut self,
        project: ProjectId,
        keys: &[&str],
    ) -> Result<HashMap<String, ResourceGroupId>>;
    fn set_process_mode(&mut self, id: ResourceGroupId, mode: ProcessMode) -> Result<()>;
    /// Keeps others from the group until the transaction ends, and tells how it is.
    fn hold_resource_group(&mut self, id: ResourceGroupId) -> Result<Option<ResourceGroup>>;
    fn set_holder(&mut self, id: ResourceGroupId, holder: Option<JobId>) -> Result<()>;
    /// The job that is next, with its pipeline, where it waits already.
    fn next_in_group(
        &mut self,
        group: &ResourceGroup,
    ) -> Result<Option<(JobId, JobKind, PipelineId)>>;
    /// Groups that jobs of a pipeline hold.
    fn groups_held_in(&mut self, pipeline: PipelineId) -> Result<Vec<ResourceGroupId>>;
    /// Groups that are held by a job which is gone, has ended or waits for nothing that could end it.
    fn stuck_groups(&mut self, most: i64) -> Result<Vec<ResourceGroupId>>;
    /// Jobs that wait for the group or will do so.
    fn upcoming_jobs(&mut self, group: &ResourceGroup, page: PageRequest) -> Result<Page<Job>>;
}

/// Those who are taken into account before they wait, where the order matters.
const UPCOMING: [Status; 3] = [Status::WaitingForResource, Status::Created, Status::Scheduled];

/// Below what a statement may have parameters, on both databases.
const AT_ONCE: usize = 500;

/// The ids of a few groups; those that are not there are made.
fn keep_some(
    tx: &mut Tx<'_>,
    project: ProjectId,
    keys: &[&str],
) -> Result<Vec<(String, ResourceGroupId)>> {
    let row = |key: &&str| {
        (
            groups::project_id.eq(project),
            groups::key.eq((*key).to_owned()),
            groups::process_mode.eq(ProcessMode::Unordered),
            groups::created_at.eq(tx.now),
            groups::updated_at.eq(tx.now),
        )
    };
    let rows: Vec<_> = keys.iter().map(row).collect();
    each_backend!(tx, |conn| diesel::insert_into(groups::table)
        .values(&rows)
        .on_conflict_do_nothing()
        .execute(conn)
        .map_err(error("Resource Group")))?;
    let named = groups::project_id.eq(project).and(groups::key.one_of(keys));
    each_backend!(tx, |conn| groups::table
        .filter(named)
        .select((groups::key, groups::id))
        .load(conn)
        .map_err(error("Resource Group")))
}

impl ResourceGroupStore for Tx<'_> {
    fn resource_groups(
        &mut self,
        project: ProjectId,
        page: PageRequest,
    ) -> Result<Page<ResourceGroup>> {
        let (items, total) = each_backend!(self, |conn| {
            let all = groups::table.filter(groups::project_id.eq(project));
            let items = all
                .order(groups::id)
                .limit(page.per_page)
                .offset(page.offset())
                .select(ResourceGroup::as_select())
                .load(conn)
                .map_err(error("Resource Group"))?;
            let counted = CountOf(all.select(groups::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error("Resource Group"))?;
            (items, total)
        });
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn find_resource_group(
        &mut self,
        project: ProjectId,
        key: &str,
    ) -> Result<Option<ResourceGroup>> {
        each_backend!(self, |conn| groups::table
            .filter(groups::project_id.eq(project).and(groups::key.eq(key)))
            .select(ResourceGroup::as_select())
            .first(conn)
            .optional()
            .map_err(error("Resource Group")))
    }

    fn save_resource_groups(
        &mut self,
        project: ProjectId,
        keys: &[&str],
    ) -> Result<HashMap<String, ResourceGroupId>> {
        let mut all = HashMap::with_capacity(keys.len());
        for some in keys.chunks(AT_ONCE) {
            all.extend(keep_some(self, project, some)?);
        }
        Ok(all)
    }

    fn set_process_mode(&mut self, id: ResourceGroupId, mode: ProcessMode) -> Result<()> {
        let set = (groups::process_mode.eq(mode), groups::updated_at.eq(self.now));
        let update = diesel::update(groups::table.find(id)).set(set);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Resource Group")))?;
        Ok(())
    }

    fn hold_resource_group(&mut self, id: ResourceGroupId) -> Result<Option<ResourceGroup>> {
        let hold = diesel::update(groups::table.find(id)).set(groups::key.eq(groups::key));
        each_backend!(self, |conn| hold
            .returning(ResourceGroup::as_returning())
            .get_result(conn)
            .optional()
            .map_err(error("Resource Group")))
    }

    fn set_holder(&mut self, id: ResourceGroupId, holder: Option<JobId>) -> Result<()> {
        let update = diesel::update(groups::table.find(id)).set(groups::holder_id.eq(holder));
        each_backend!(self, |conn| update.execute(conn).map_err(error("Resource Group")))?;
        Ok(())
    }

    fn groups_held_in(&mut self, pipeline: PipelineId) -> Result<Vec<ResourceGroupId>> {
        let sql = "SELECT g.id AS id FROM jobs j \
                   JOIN resource_groups g ON g.id = j.resource_group_id AND g.holder_id = j.id \
                   WHERE j.pipeline_id = $1 ORDER BY g.id";
        let ids = listing::ids(self, sql, &[Bind::Number(pipeline.0)])?;
        Ok(ids.into_iter().map(ResourceGroupId).collect())
    }

    fn stuck_groups(&mut self, most: i64) -> Result<Vec<ResourceGroupId>> {
        // A bridge that mirrors a pipeline is manual while that waits for somebody.
        let sql = format!(
            "SELECT g.id AS id FROM resource_groups g WHERE g.holder_id IS NOT NULL AND NOT EXISTS (\
             SELECT 1 FROM jobs j WHERE j.id = g.holder_id AND NOT j.retried \
             AND (j.status IN ('preparing', 'pending', 'running') \
             OR j.status = 'manual' AND j.kind = 'bridge' AND (\
             EXISTS (SELECT 1 FROM pipelines p WHERE p.parent_job_id = j.id) \
             OR EXISTS (SELECT 1 FROM mirrored_pipelines m WHERE m.job_id = j.id)))) ORDER BY g.id LIMIT {most}"
        );
        let ids = listing::ids(self, &sql, &[])?;
        Ok(ids.into_iter().map(ResourceGroupId).collect())
    }

    fn next_in_group(
        &mut self,
        group: &ResourceGroup,
    ) -> Result<Option<(JobId, JobKind, PipelineId)>> {
        let found: Option<(JobId, JobKind, PipelineId, Status)> = each_backend!(self, |conn| {
            let of_group = jobs::table
                .filter(jobs::resource_group_id.eq(group.id).and(jobs::retried.eq(false)))
                .into_boxed();
            let chosen =
                match group.process_mode {
                    ProcessMode::Unordered => of_group
                        .filter(jobs::status.eq(Status::WaitingForResource))
                        .order(jobs::id.asc()),
                    ProcessMode::OldestFirst => of_group
                        .filter(jobs::status.eq_any(UPCOMING))
                        .order((jobs::pipeline_id.asc(), jobs::status.desc(), jobs::id.asc())),
                    ProcessMode::NewestFirst => of_group
                        .filter(jobs::status.eq_any(UPCOMING))
                        .order((jobs::pipeline_id.desc(), jobs::status.desc(), jobs::id.asc())),
                    ProcessMode::NewestReadyFirst => of_group
                        .filter(jobs::status.eq(Status::WaitingForResource))
                        .order((jobs::pipeline_id.desc(), jobs::id.asc())),
                };
            chosen
                .select((jobs::id, jobs::kind, jobs::pipeline_id, jobs::status))
                .first(conn)
                .optional()
                .map_err(error("Job"))
        })?;
        let waits = found.filter(|(_, _, _, status)| *status == Status::WaitingForResource);
        Ok(waits.map(|(id, kind, pipeline, _)| (id, kind, pipeline)))
    }

    fn upcoming_jobs(&mut self, group: &ResourceGroup, page: PageRequest) -> Result<Page<Job>> {
        let (items, total) = each_backend!(self, |conn| {
            let chosen = || {
                let statuses: &[Status] = match group.process_mode {
                    ProcessMode::Unordered | ProcessMode::NewestReadyFirst => &UPCOMING[..1],
                    ProcessMode::OldestFirst | ProcessMode::NewestFirst => &UPCOMING,
                };
                jobs::table
                    .filter(jobs::resource_group_id.eq(group.id).and(jobs::retried.eq(false)))
                    .filter(jobs::status.one_of(statuses))
                    .into_boxed()
            };
            let ordered = match group.process_mode {
                ProcessMode::Unordered => chosen().order(jobs::id.asc()),
                ProcessMode::OldestFirst => {
                    chosen().order((jobs::pipeline_id.asc(), jobs::status.desc(), jobs::id.asc()))
                }
                ProcessMode::NewestFirst | ProcessMode::NewestReadyFirst => {
                    chosen().order((jobs::pipeline_id.desc(), jobs::status.desc(), jobs::id.asc()))
                }
            };
            let items = ordered
                .limit(page.per_page)
                .offset(page.offset())
                .select(Job::as_select())
                .load(conn)
                .map_err(error("Job"))?;
            let counted = CountOf(chosen().select(jobs::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error("Job"))?;
            (items, total)
        });
        Ok(Page { items, total: Total::Counted(total) })
    }
}
