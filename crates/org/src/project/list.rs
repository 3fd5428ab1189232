//! Lists of projects: which ones, in which order, one page at a time.
//!
//! The conditions are written as SQL, since finding a page among a hundred thousand projects in time depends on which
//! index is walked. First the ids of the page are found, then its rows.

mod conditions;
mod filters;
mod reports;
mod walk;
mod words;

use std::collections::HashMap;

use db::{Fragment, OneOf as _, Tx, each_backend, error, schema::projects};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Result, Ts, Visibility,
    ids::{NamespaceId, ProjectId, UserId},
    page::{Page, PageRequest},
};

use self::{
    conditions::Conditions,
    filters::conditions,
    walk::{page_of_ids, select},
};
use super::{Project, in_group::GroupScope, search::likeness};
use crate::custom_attribute::CustomAttribute;

kernel::text_enum! {
    /// The sort order of a project list; ties are ordered by id.
    pub enum OrderBy {
        Id = "id", Name = "name", Path = "path", CreatedAt = "created_at", UpdatedAt = "updated_at",
        LastActivityAt = "last_activity_at", Similarity = "similarity", StarCount = "star_count",
        RepositorySize = "repository_size", StorageSize = "storage_size", PackagesSize = "packages_size",
        WikiSize = "wiki_size",
    }
}
kernel::text_enum! { pub enum Sort { Ascending = "asc", Descending = "desc" } }

/// Among which projects is looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProjectSet {
    #[default]
    All,
    Nothing,
    /// Directly in a namespace.
    Namespace(NamespaceId),
    Group(GroupScope),
    StarredBy(UserId),
    ForksOf(ProjectId),
    These(Vec<ProjectId>),
}

/// Which projects are wanted.
#[derive(Clone, Debug, Default)]
pub struct ProjectFilter {
    pub among: ProjectSet,
    pub archived: Option<bool>,
    pub visibility: Option<Visibility>,
    pub search: Option<String>,
    pub search_namespaces: bool,
    pub owned: bool,
    pub starred: bool,
    pub imported: bool,
    pub membership: bool,
    pub with_issues: bool,
    pub with_merge_requests: bool,
    pub language: Option<String>,
    pub min_access_level: Option<AccessLevel>,
    pub id_after: Option<i64>,
    pub id_before: Option<i64>,
    pub last_activity_after: Option<Ts>,
    pub last_activity_before: Option<Ts>,
    pub updated_after: Option<Ts>,
    pub updated_before: Option<Ts>,
    /// Only these.
    pub ids: Option<Vec<ProjectId>>,
    pub topics: Vec<String>,
    pub topic_id: Option<i64>,
    pub repository_storage: Option<String>,
    /// What administrators noted of them; all of these.
    pub attributes: Vec<CustomAttribute>,
    /// Only those in which a job brought a report of security findings, and the caller may read these: SQL about
    /// a project `p`, which whoever knows reports gives.
    pub with_security_reports: Option<Fragment>,
    /// Only those whose pipelines told what tests cover, and are shown to the caller: SQL about a project `p`.
    pub with_coverage: Option<Fragment>,
}

#[derive(Clone, Copy, Debug)]
pub struct Order {
    pub by: OrderBy,
    pub sort: Sort,
}

/// Ordering by likeness looks at so many of the newest matches.
const COMPARED: i64 = 1000;

pub trait ProjectLists {
    /// One page of the projects that the actor may see.
    fn projects(
        &mut self,
        actor: Actor,
        filter: &ProjectFilter,
        order: Order,
        page: PageRequest,
    ) -> Result<Page<Project>>;
    /// The first so many, uncounted: for lists that go on after their last id.
    fn first_projects(
        &mut self,
        actor: Actor,
        filter: &ProjectFilter,
        order: Order,
        most: i64,
    ) -> Result<Vec<Project>>;
    /// Rows in the order of their ids here; what is gone is left out.
    fn projects_in_order(&mut self, ids: &[i64]) -> Result<Vec<Project>>;
}

impl ProjectLists for Tx<'_> {
    fn projects(
        &mut self,
        actor: Actor,
        filter: &ProjectFilter,
        order: Order,
        page: PageRequest,
    ) -> Result<Page<Project>> {
        let conditions = conditions(self, actor, filter)?;
        if let (OrderBy::Similarity, Some(search)) = (order.by, &filter.search) {
            return by_likeness(self, &conditions, search, order.sort, page);
        }
        let found = page_of_ids(self, &conditions, order, page)?;
        let items = self.projects_in_order(&found.items)?;
        Ok(Page { items, total: found.total })
    }

    fn first_projects(
        &mut self,
        actor: Actor,
        filter: &ProjectFilter,
        order: Order,
        most: i64,
    ) -> Result<Vec<Project>> {
        let conditions = conditions(self, actor, filter)?;
        let found = select(self, &conditions, order, most, 0)?;
        self.projects_in_order(&found)
    }

    fn projects_in_order(&mut self, ids: &[i64]) -> Result<Vec<Project>> {
        let rows: Vec<Project> = each_backend!(self, |conn| projects::table
            .filter(projects::id.one_of(ids))
            .select(Project::as_select())
            .load(conn)
            .map_err(error("Project")))?;
        let mut rows: HashMap<i64, Project> =
            rows.into_iter().map(|project| (project.id.0, project)).collect();
        Ok(ids.iter().filter_map(|id| rows.remove(id)).collect())
    }
}

/// The same measure on both databases, so it is taken here.
fn by_likeness(
    tx: &mut Tx<'_>,
    conditions: &Conditions,
    search: &str,
    sort: Sort,
    page: PageRequest,
) -> Result<Page<Project>> {
    let newest = Order { by: OrderBy::Id, sort: Sort::Descending };
    let found = select(tx, conditions, newest, COMPARED, 0)?;
    let mut rows = tx.projects_in_order(&found)?;
    rows.sort_by_cached_key(|project| {
        let description = project.description.as_deref().unwrap_or_default();
        let alike = likeness(&project.path, search) * 10
            + likeness(&project.name, search) * 7
            + likeness(description, search) * 2;
        std::cmp::Reverse((alike, project.id))
    });
    if sort == Sort::Ascending {
        rows.reverse();
    }
    Ok(page.slice(rows))
}
