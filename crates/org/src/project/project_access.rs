//! Members and groups with access to a project.

use std::collections::BTreeSet;

use db::{
    CountOf, Tx, each_backend, error, lower,
    schema::{namespaces, project_access, project_group_links, users},
};
use diesel::{dsl::sql, prelude::*, sql_types::Bool};
use kernel::{
    AccessLevel, Grant, Result,
    ids::{NamespaceId, ProjectId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{home::HomeStore, store::ProjectStore};
use crate::{
    expiry::living,
    hierarchy::known_groups,
    member::list::known_here,
    namespace::{Kind, Namespace},
    policy::{AdminProject, ReadProject},
    search::containing,
    user::{State, User},
};

/// Active people with any role in a project, but for those whom only a group brings that the caller may not know of.
pub fn people(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadProject>,
    search: Option<&str>,
    without: &[UserId],
    page: PageRequest,
) -> Result<Page<User>> {
    let pattern = containing(search.unwrap_or_default());
    let matching = lower(users::name)
        .like(pattern.clone())
        .escape('\\')
        .or(lower(users::username).like(pattern).escape('\\'));
    let known = known_here(tx, grant.actor(), grant.project(), "project_access.user_id")?;
    let found = project_access::table
        .inner_join(users::table)
        .filter(project_access::project_id.eq(grant.project()))
        .filter(sql::<Bool>(known.as_deref().unwrap_or("1 = 1")))
        .filter(project_access::access_level.gt(AccessLevel::NoAccess))
        .filter(project_access::until.gt(tx.now))
        .filter(users::state.eq(State::Active))
        .filter(users::id.ne_all(without))
        .filter(matching);
    let rows: Vec<User> = each_backend!(tx, |conn| found
        .clone()
        .order(users::id)
        .limit(page.per_page)
        .offset(page.offset())
        .select(User::as_select())
        .load(conn)
        .map_err(error("User")))?;
    let count = CountOf(found.select(users::id).limit(COUNT_LIMIT + 1));
    let total: i64 = each_backend!(tx, |conn| count.get_result(conn).map_err(error("User")))?;
    Ok(Page { items: rows, total: Total::Counted(total) })
}

/// Which groups of a project are wanted.
#[derive(Clone, Debug, Default)]
pub struct GroupQuery {
    pub search: Option<String>,
    pub without: Vec<NamespaceId>,
    pub with_shared: bool,
    pub shared_visible_only: bool,
    pub shared_min_access_level: Option<AccessLevel>,
}

/// The groups that a project lives in, and those that it is shared with. Of these, whoever may share it is told of all,
/// others of those that they may know of.
pub fn groups(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadProject>,
    wanted: &GroupQuery,
) -> Result<Vec<Namespace>> {
    let home = home_of(tx, grant)?;
    let mut ids = above(tx, home)?;
    if wanted.with_shared {
        let shared = shared(tx, grant.project(), wanted.shared_min_access_level)?;
        if grant.also::<AdminProject>().is_ok() && !wanted.shared_visible_only {
            ids.extend(shared);
        } else {
            ids.extend(known_groups(tx, grant.actor(), &shared)?.iter().map(|group| group.id));
        }
    }
    let ids: Vec<NamespaceId> = ids.into_iter().filter(|id| !wanted.without.contains(id)).collect();
    let search = wanted.search.as_deref().unwrap_or_default().to_lowercase();
    let matches = |group: &Namespace| {
        group.name.to_lowercase().contains(&search) || group.path.to_lowercase().contains(&search)
    };
    let found = tx.namespaces_by_id(&ids)?.into_values();
    Ok(found.filter(|group| group.kind == Kind::Group && matches(group)).collect())
}

fn home_of(tx: &mut Tx<'_>, grant: &Grant<ReadProject>) -> Result<NamespaceId> {
    Ok(tx.project(grant.project())?.namespace_id)
}

/// A namespace and all above it.
fn above(tx: &mut Tx<'_>, home: NamespaceId) -> Result<BTreeSet<NamespaceId>> {
    let mut found = BTreeSet::new();
    let mut next = Some(home);
    while let Some(id) = next {
        if !found.insert(id) {
            break;
        }
        let row = namespaces::table.find(id).select(namespaces::parent_id);
        next = each_backend!(tx, |conn| row.get_result(conn).map_err(error("Namespace")))?;
    }
    Ok(found)
}

fn shared(
    tx: &mut Tx<'_>,
    project: ProjectId,
    at_least: Option<AccessLevel>,
) -> Result<Vec<NamespaceId>> {
    let query = project_group_links::table
        .filter(project_group_links::project_id.eq(project))
        .filter(project_group_links::access_level.ge(at_least.unwrap_or_default()))
        .filter(living!(project_group_links, tx.now))
        .select(project_group_links::namespace_id);
    each_backend!(tx, |conn| query.load(conn).map_err(error("Group")))
}
