//! Lists of pipelines.

use db::{CountOf, Tx, each_backend, error, schema::pipelines};
use diesel::{dsl::max, prelude::*, sql_types::Bool};
use kernel::{
    Result, Ts,
    ids::{MergeRequestId, PipelineId, ProjectId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{Pipeline, Source};
use crate::Status;

kernel::text_enum! {
    pub enum PipelineOrder {
        Id = "id",
        Status = "status",
        Ref = "ref",
        UpdatedAt = "updated_at",
        UserId = "user_id",
    }
}

/// Of each of these branches or tags only the newest.
#[derive(Clone, Debug)]
pub struct Newest {
    pub tags: bool,
    pub names: Vec<String>,
}

/// Which pipelines of a project are wanted, and in which order.
#[derive(Clone, Debug)]
pub struct PipelineFilter {
    /// Any of these; empty for all.
    pub statuses: Vec<Status>,
    pub source: Option<Source>,
    pub ref_name: Option<String>,
    pub sha: Option<String>,
    pub newest: Option<Newest>,
    /// Those whose configuration cannot be read, or those alone for which it can.
    pub yaml_errors: Option<bool>,
    /// By one of these people.
    pub users: Option<Vec<UserId>>,
    pub updated_before: Option<Ts>,
    pub updated_after: Option<Ts>,
    pub order: PipelineOrder,
    pub descending: bool,
}

pub trait PipelineListStore {
    /// A page of all for these commits of a branch, or made for a merge request, the newest first.
    fn pipelines_of_commits(
        &mut self,
        project: ProjectId,
        ref_name: &str,
        shas: &[String],
        merge_request: MergeRequestId,
        page: PageRequest,
    ) -> Result<Page<Pipeline>>;
    fn pipelines(
        &mut self,
        project: ProjectId,
        filter: &PipelineFilter,
        page: PageRequest,
    ) -> Result<Page<Pipeline>>;
}

impl PipelineListStore for Tx<'_> {
    fn pipelines_of_commits(
        &mut self,
        project: ProjectId,
        ref_name: &str,
        shas: &[String],
        merge_request: MergeRequestId,
        page: PageRequest,
    ) -> Result<Page<Pipeline>> {
        let (items, total) = each_backend!(self, |conn| {
            let chosen = || {
                let of_branch = pipelines::ref_name.eq(ref_name).into_sql::<Bool>();
                let own = pipelines::merge_request_id.eq(merge_request).assume_not_null();
                pipelines::table
                    .filter(pipelines::project_id.eq(project).and(pipelines::sha.eq_any(shas)))
                    .filter(of_branch.or(own))
                    .filter(pipelines::source.ne(Source::ParentPipeline))
            };
            let items = chosen()
                .order(pipelines::id.desc())
                .limit(page.per_page)
                .offset(page.offset())
                .select(Pipeline::as_select())
                .load(conn)
                .map_err(error("Pipeline"))?;
            let counted = CountOf(chosen().select(pipelines::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error("Pipeline"))?;
            (items, total)
        });
        Ok(Page { items, total: Total::Counted(total) })
    }

    #[expect(clippy::too_many_lines, reason = "a condition for each parameter")]
    fn pipelines(
        &mut self,
        project: ProjectId,
        filter: &PipelineFilter,
        page: PageRequest,
    ) -> Result<Page<Pipeline>> {
        let only = match &filter.newest {
            None => None,
            Some(newest) => Some(newest_of(self, project, newest)?),
        };
        let (items, total) = each_backend!(self, |conn| {
            let chosen = || {
                let of_project = pipelines::project_id.eq(project);
                let mut chosen = pipelines::table.filter(of_project).into_boxed();
                chosen = match filter.source {
                    Some(source) => chosen.filter(pipelines::source.eq(source)),
                    None => chosen.filter(pipelines::source.ne(Source::ParentPipeline)),
                };
                if !filter.statuses.is_empty() {
                    chosen = chosen.filter(pipelines::status.eq_any(&filter.statuses));
                }
                if let Some(name) = &filter.ref_name {
                    chosen = chosen.filter(pipelines::ref_name.eq(name));
                }
                if let Some(sha) = &filter.sha {
                    chosen = chosen.filter(pipelines::sha.eq(sha));
                }
                if let Some(ids) = &only {
                    chosen = chosen.filter(pipelines::id.eq_any(ids));
                }
                if let Some(users) = &filter.users {
                    chosen = chosen.filter(pipelines::user_id.eq_any(users));
                }
                if let Some(before) = filter.updated_before {
                    chosen = chosen.filter(pipelines::updated_at.le(before));
                }
                if let Some(after) = filter.updated_after {
                    chosen = chosen.filter(pipelines::updated_at.ge(after));
                }
                match filter.yaml_errors {
                    Some(true) => chosen.filter(pipelines::yaml_errors.is_not_null()),
                    Some(false) => chosen.filter(pipelines::yaml_errors.is_null()),
                    None => chosen,
                }
            };
            macro_rules! by {
                ($column:ident) => {
                    match filter.descending {
                        true => chosen().order((pipelines::$column.desc(), pipelines::id.desc())),
                        false => chosen().order((pipelines::$column.asc(), pipelines::id.asc())),
                    }
                };
            }
            let ordered = match filter.order {
                PipelineOrder::Id if filter.descending => chosen().order(pipelines::id.desc()),
                PipelineOrder::Id => chosen().order(pipelines::id.asc()),
                PipelineOrder::Status => by!(status),
                PipelineOrder::Ref => by!(ref_name),
                PipelineOrder::UpdatedAt => by!(updated_at),
                PipelineOrder::UserId => by!(user_id),
            };
            let items = ordered
                .limit(page.per_page)
                .offset(page.offset())
                .select(Pipeline::as_select())
                .load(conn)
                .map_err(error("Pipeline"))?;
            let counted = CountOf(chosen().select(pipelines::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error("Pipeline"))?;
            (items, total)
        });
        Ok(Page { items, total: Total::Counted(total) })
    }
}

/// The newest of each branch or tag.
fn newest_of(tx: &mut Tx<'_>, project: ProjectId, newest: &Newest) -> Result<Vec<PipelineId>> {
    let rows: Vec<(String, Option<PipelineId>)> = each_backend!(tx, |conn| pipelines::table
        .filter(pipelines::project_id.eq(project).and(pipelines::tag.eq(newest.tags)))
        .filter(pipelines::source.ne(Source::ParentPipeline))
        .group_by(pipelines::ref_name)
        .select((pipelines::ref_name, max(pipelines::id)))
        .load(conn)
        .map_err(error("Pipeline")))?;
    let there: std::collections::HashSet<&str> = newest.names.iter().map(String::as_str).collect();
    let of_existing = rows.into_iter().filter(|(name, _)| there.contains(name.as_str()));
    Ok(of_existing.filter_map(|(_, id)| id).collect())
}
