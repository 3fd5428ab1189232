//! Lists of pipelines.

use std::collections::{BTreeSet, HashMap};

use db::{
    Conn, CountOf, OneOf as _, Tx, each_backend, error,
    listing::{self, Bind, Conditions, Selection, list_of, page_of_ids},
    schema::pipelines,
};
use diesel::{prelude::*, sql_types::Bool};
use kernel::{
    Error, Result, Ts,
    ids::{MergeRequestId, PipelineId, ProjectId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{Pipeline, PipelineStore as _, Source};
use crate::Status;

/// So many pipelines are put in order sooner than as many are found in it.
const FEW: i64 = 1000;
/// Without the children of other pipelines, which are listed only where they are asked for.
pub(super) const OWN: &str = "source <> 'parent_pipeline'";

/// Pipelines of commits that are read at once.
const OF_COMMITS: i64 = 20_000;

/// The id of no pipeline.
const NO_PIPELINE: i64 = 0;

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
pub struct NewestOfRefs {
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
    pub newest: Option<NewestOfRefs>,
    /// Those whose configuration cannot be read, or those alone for which it can.
    pub yaml_errors: Option<bool>,
    /// By one of these people.
    pub users: Option<Vec<UserId>>,
    pub updated_before: Option<Ts>,
    pub updated_after: Option<Ts>,
    /// Only older ones than this.
    pub id_before: Option<PipelineId>,
    /// Only younger ones than this.
    pub id_after: Option<PipelineId>,
    pub order: PipelineOrder,
    pub descending: bool,
}

/// Where the pipelines of a merge request are looked for.
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

/// What a page is taken from where the order is walked. By the time of the last change SQLite would look in that column's
/// index and put all that it finds in order: the sign makes it an expression, which no index has.
fn walk(from: &str, order: PipelineOrder) -> String {
    match order {
        PipelineOrder::UpdatedAt => from.to_owned(),
        PipelineOrder::Id | PipelineOrder::Status | PipelineOrder::Ref | PipelineOrder::UserId => {
            from.replace("updated_at", "+updated_at")
        }
    }
}

fn column_of(order: PipelineOrder) -> &'static str {
    match order {
        PipelineOrder::Id => "id",
        PipelineOrder::Status => "status",
        PipelineOrder::Ref => "ref_name",
        PipelineOrder::UpdatedAt => "updated_at",
        PipelineOrder::UserId => "user_id",
    }
}

impl PipelineFilter {
    /// Whether a pipeline that was read already is one of those that are wanted; which is the newest of its ref, the list
    /// of all knows alone.
    fn fits(&self, pipeline: &Pipeline) -> bool {
        let is =
            |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|one| one == value);
        (self.statuses.is_empty() || self.statuses.contains(&pipeline.status))
            && self.source.is_none_or(|source| source == pipeline.source)
            && is(&self.ref_name, &pipeline.ref_name)
            && is(&self.sha, &pipeline.sha)
            && self.yaml_errors.is_none_or(|with| with == pipeline.yaml_errors.is_some())
            && (self.users.as_ref())
                .is_none_or(|users| pipeline.user_id.is_some_and(|user| users.contains(&user)))
            && self.updated_before.is_none_or(|before| pipeline.updated_at <= before)
            && self.updated_after.is_none_or(|after| pipeline.updated_at >= after)
    }

    /// Those of a list in memory that are wanted, in its order.
    pub fn choose(&self, all: Vec<Pipeline>) -> Vec<Pipeline> {
        let mut chosen: Vec<Pipeline> = all.into_iter().filter(|one| self.fits(one)).collect();
        if let Some(newest) = &self.newest {
            let mut seen = BTreeSet::new();
            chosen.retain(|one| {
                one.tag == newest.tags
                    && newest.names.contains(&one.ref_name)
                    && seen.insert(one.ref_name.clone())
            });
        }
        chosen
    }

    /// The order without columns that have one value in the whole list.
    fn order(&self) -> PipelineOrder {
        let is_fixed = match self.order {
            PipelineOrder::Status => self.statuses.len() == 1,
            PipelineOrder::Ref => self.ref_name.is_some(),
            PipelineOrder::UserId => self.users.as_ref().is_some_and(|users| users.len() == 1),
            PipelineOrder::Id | PipelineOrder::UpdatedAt => false,
        };
        if is_fixed { PipelineOrder::Id } else { self.order }
    }

    /// Whether one index holds what is wanted in the order in which it is wanted.
    fn is_indexed(&self) -> bool {
        let each = [
            self.statuses.len(),
            usize::from(self.source.is_some()),
            usize::from(self.ref_name.is_some()),
            usize::from(self.sha.is_some()),
            self.users.as_ref().map_or(0, Vec::len),
            usize::from(self.yaml_errors.is_some()),
        ];
        let of_one_column = each.iter().sum::<usize>() <= 1;
        let of_one_status_and_ref = each == [1, 0, 1, 0, 0, 0];
        let others = [self.updated_before, self.updated_after];
        let is_plain = others.iter().all(Option::is_none) && self.newest.is_none();
        is_plain && self.order() == PipelineOrder::Id && (of_one_column || of_one_status_and_ref)
    }

    /// `table` stands before each column, with its point.
    fn order_of(&self, table: &str) -> String {
        let direction = if self.descending { "DESC" } else { "ASC" };
        match self.order() {
            PipelineOrder::Id => format!("{table}id {direction}"),
            order => {
                format!("{table}{} {direction}, {table}id {direction}", column_of(order))
            }
        }
    }
}

/// Words that come from here are in the text, so that each plan is made for what they match.
fn conditions(tx: &mut Tx<'_>, project: ProjectId, filter: &PipelineFilter) -> Result<Conditions> {
    let mut all = Conditions::default();
    all.number("project_id = {}", project.0);
    match filter.source {
        Some(source) => all.plain(format!("source = '{source}'")),
        None => all.plain(OWN),
    }
    if !filter.statuses.is_empty() {
        let statuses = filter.statuses.iter().map(|status| format!("'{status}'"));
        all.plain(format!("status IN ({})", statuses.collect::<Vec<_>>().join(", ")));
    }
    if let Some(name) = &filter.ref_name {
        all.word("ref_name = {}", name);
    }
    if let Some(sha) = &filter.sha {
        all.word("sha = {}", sha);
    }
    if let Some(newest) = &filter.newest {
        all.plain(format!("id IN ({})", list_of(&newest_of(tx, project, newest)?)));
    }
    if let Some(users) = &filter.users {
        let users: Vec<i64> = users.iter().map(|user| user.0).collect();
        all.plain(format!("user_id IN ({})", list_of(&users)));
    }
    if let Some(before) = filter.updated_before {
        all.number("updated_at <= {}", before.0);
    }
    if let Some(after) = filter.updated_after {
        all.number("updated_at >= {}", after.0);
    }
    if let Some(before) = filter.id_before {
        all.number("id < {}", before.0);
    }
    if let Some(after) = filter.id_after {
        all.number("id > {}", after.0);
    }
    match filter.yaml_errors {
        Some(true) => all.plain("yaml_errors IS NOT NULL"),
        Some(false) => all.plain("yaml_errors IS NULL"),
        None => {}
    }
    Ok(all)
}

/// These pipelines, in this order.
fn in_order(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Pipeline>> {
    let wanted: Vec<PipelineId> = ids.iter().copied().map(PipelineId).collect();
    let mut found = tx.pipelines_by_id(&wanted)?;
    Ok(wanted.iter().filter_map(|id| found.remove(id)).collect())
}

/// Of each of these branches or tags the newest.
fn newest_of(tx: &mut Tx<'_>, project: ProjectId, newest: &NewestOfRefs) -> Result<Vec<i64>> {
    let names = match &tx.conn {
        Conn::Sqlite(_) => "json_each($2) AS n",
        Conn::Postgres(_) => "json_array_elements_text(CAST($2 AS json)) AS n(value)",
    };
    let tag = if newest.tags { "TRUE" } else { "FALSE" };
    let sql = format!(
        "SELECT COALESCE((SELECT p.id FROM pipelines p WHERE p.project_id = $1 AND p.ref_name = n.value \
         AND p.{OWN} AND p.tag = {tag} ORDER BY p.id DESC LIMIT 1), {NO_PIPELINE}) AS id FROM {names}"
    );
    let names = serde_json::to_string(&newest.names).map_err(Error::internal)?;
    let mut newest = listing::ids(tx, &sql, &[Bind::Number(project.0), Bind::Word(names)])?;
    newest.retain(|id| *id != NO_PIPELINE);
    Ok(newest)
}
