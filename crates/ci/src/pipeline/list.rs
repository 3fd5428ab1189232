//! Lists of pipelines.

mod filter;

use std::collections::{BTreeSet, HashMap};

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    listing::{self, Bind, Selection, page_of_ids},
    schema::pipelines,
};
use diesel::{prelude::*, sql_types::Bool};
use kernel::{
    Result,
    ids::{MergeRequestId, PipelineId, ProjectId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use self::filter::{column_of, conditions, walk};
use super::{Pipeline, PipelineStore as _, Source};

pub(super) use filter::OWN;
pub use filter::{NewestOfRefs, PipelineFilter, PipelineOrder};

/// So many pipelines are put in order sooner than as many are found in it.
const FEW: i64 = 1000;

/// Pipelines of commits that are read at once.
const OF_COMMITS: i64 = 20_000;

/// The refs and commits of a merge request's pipelines.
#[derive(Clone, Debug)]
pub struct MergeRequestPipelines {
    pub merge_request: MergeRequestId,
    /// The project from which its commits come.
    pub project: ProjectId,
    pub source_branch: String,
    pub shas: Vec<String>,
}

impl MergeRequestPipelines {
    /// Whether a pipeline was made for the merge request, or for one of its commits on its branch.
    fn has(&self, pipeline: &Pipeline) -> bool {
        let own = pipeline.merge_request_id == Some(self.merge_request);
        pipeline.project_id == self.project
            && (own || pipeline.ref_name == self.source_branch)
            && self.shas.contains(&pipeline.sha)
    }
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
    /// The newest `most` pipelines of each of these merge requests, the newest first, by one statement.
    fn pipelines_of_merge_requests(
        &mut self,
        of: &[MergeRequestPipelines],
        most: usize,
    ) -> Result<HashMap<MergeRequestId, Vec<Pipeline>>>;
    /// The pipelines of each of these commits, the newest first, by one statement.
    fn pipelines_of_shas(
        &mut self,
        project: ProjectId,
        shas: &[String],
    ) -> Result<HashMap<String, Vec<Pipeline>>>;
    /// The pipeline with this number in its project.
    fn pipeline_numbered(&mut self, project: ProjectId, iid: i64) -> Result<Option<Pipeline>>;
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
                    .filter(pipelines::project_id.eq(project).and(pipelines::sha.one_of(shas)))
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

    fn pipelines_of_merge_requests(
        &mut self,
        of: &[MergeRequestPipelines],
        most: usize,
    ) -> Result<HashMap<MergeRequestId, Vec<Pipeline>>> {
        let projects: BTreeSet<ProjectId> = of.iter().map(|one| one.project).collect();
        let shas: BTreeSet<&str> =
            of.iter().flat_map(|one| &one.shas).map(String::as_str).collect();
        let (projects, shas) = (Vec::from_iter(projects), Vec::from_iter(shas));
        let found = newest_of_commits(self, &projects, &shas)?;
        let own = |one: &MergeRequestPipelines| {
            let own = found.iter().filter(|pipeline| one.has(pipeline)).take(most).cloned();
            (one.merge_request, own.collect())
        };
        Ok(of.iter().map(own).collect())
    }

    fn pipelines_of_shas(
        &mut self,
        project: ProjectId,
        shas: &[String],
    ) -> Result<HashMap<String, Vec<Pipeline>>> {
        let shas: Vec<&str> = shas.iter().map(String::as_str).collect();
        let mut by_sha: HashMap<String, Vec<Pipeline>> = HashMap::new();
        for pipeline in newest_of_commits(self, &[project], &shas)? {
            by_sha.entry(pipeline.sha.clone()).or_default().push(pipeline);
        }
        Ok(by_sha)
    }

    fn pipeline_numbered(&mut self, project: ProjectId, iid: i64) -> Result<Option<Pipeline>> {
        let numbered = pipelines::project_id.eq(project).and(pipelines::iid.eq(iid));
        each_backend!(self, |conn| pipelines::table
            .filter(numbered)
            .select(Pipeline::as_select())
            .first(conn)
            .optional()
            .map_err(error("Pipeline")))
    }

    fn pipelines(
        &mut self,
        project: ProjectId,
        filter: &PipelineFilter,
        page: PageRequest,
    ) -> Result<Page<Pipeline>> {
        let conditions = conditions(self, project, filter)?;
        let (from, binds) = (format!("pipelines WHERE {}", conditions.text()), conditions.binds);
        let found = match gathered(self, filter, (&from, &binds), page)? {
            Some(found) => found,
            None => {
                let (order, walk) = (filter.order_of(""), walk(&from, filter.order()));
                let selection = Selection { id: "id", from: walk, binds: binds.clone(), order };
                page_of_ids(self, &selection, page, |tx| listing::count(tx, &from, &binds))?
            }
        };
        found.try_map_all(|ids| in_order(self, &ids))
    }
}

/// The newest pipelines of these commits in these projects, but for the children of others.
fn newest_of_commits(
    tx: &mut Tx<'_>,
    projects: &[ProjectId],
    shas: &[&str],
) -> Result<Vec<Pipeline>> {
    if projects.is_empty() || shas.is_empty() {
        return Ok(Vec::new());
    }
    each_backend!(tx, |conn| pipelines::table
        .filter(pipelines::project_id.one_of(projects).and(pipelines::sha.one_of(shas)))
        .filter(pipelines::source.ne(Source::ParentPipeline))
        .order(pipelines::id.desc())
        .limit(OF_COMMITS)
        .select(Pipeline::as_select())
        .load(conn)
        .map_err(error("Pipeline")))
}

/// What few match is found by what it matches and then put in order; nothing where the order has to be walked, or is the one
/// of the index by which it is found.
fn gathered(
    tx: &mut Tx<'_>,
    filter: &PipelineFilter,
    (from, binds): (&str, &[Bind]),
    page: PageRequest,
) -> Result<Option<Page<i64>>> {
    if filter.is_indexed() {
        return Ok(None);
    }
    let query = match filter.order() {
        PipelineOrder::Id => format!("SELECT id FROM {from}"),
        order => format!("SELECT id, {} FROM {from}", column_of(order)),
    };
    let order = format!(" ORDER BY {}", filter.order_of("found."));
    listing::page_of_few(tx, &query, binds, FEW, &order, page)
}

/// These pipelines, in this order.
fn in_order(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Pipeline>> {
    let wanted: Vec<PipelineId> = ids.iter().copied().map(PipelineId).collect();
    let mut found = tx.pipelines_by_id(&wanted)?;
    Ok(wanted.iter().filter_map(|id| found.remove(id)).collect())
}
