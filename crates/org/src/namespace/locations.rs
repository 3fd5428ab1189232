//! Namespaces that groups and projects may be transferred to.

use db::{
    CountOf, Tx, each_backend, error, lower,
    schema::{namespace_access, namespaces},
};
use diesel::{prelude::*, sql_types::Integer};
use kernel::{
    AccessLevel, Actor, Grant, Result,
    ids::NamespaceId,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{
    Kind, Namespace,
    full_path::below,
    model::{ProjectCreation, SubgroupCreation},
    store::NamespaceStore,
};
use crate::{
    policy::{AdminGroup, OwnProject},
    project::store::ProjectStore,
    search::containing,
};

/// The kind of object that the caller would create in a group.
enum LocationPurpose {
    /// A subgroup, and not below the group with these keys.
    Subgroup {
        from: String,
        to: String,
    },
    Project,
}

/// Groups in which the caller may make subgroups, beside those where the group already is.
pub fn of_group(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminGroup>,
    search: Option<&str>,
    page: PageRequest,
) -> Result<Page<Namespace>> {
    let group = tx.namespace(grant.group())?;
    let (from, to) = below(&group.full_path);
    let without: Vec<NamespaceId> =
        [Some(group.id), group.parent_id].into_iter().flatten().collect();
    found(tx, grant.actor(), &LocationPurpose::Subgroup { from, to }, &without, search, page)
}

/// Groups in which the caller may make projects, beside the one where the project already is.
pub fn of_project(
    tx: &mut Tx<'_>,
    grant: &Grant<OwnProject>,
    search: Option<&str>,
    page: PageRequest,
) -> Result<Page<Namespace>> {
    let home = tx.project(grant.project())?.namespace_id;
    found(tx, grant.actor(), &LocationPurpose::Project, &[home], search, page)
}

/// Groups in which the actor may make projects.
pub fn for_projects(
    tx: &mut Tx<'_>,
    actor: Actor,
    search: Option<&str>,
    page: PageRequest,
) -> Result<Page<Namespace>> {
    found(tx, actor, &LocationPurpose::Project, &[], search, page)
}

#[expect(
    clippy::too_many_lines,
    reason = "one query, whose filters are compiled for each database"
)]
fn found(
    tx: &mut Tx<'_>,
    actor: Actor,
    wanted: &LocationPurpose,
    without: &[NamespaceId],
    search: Option<&str>,
    page: PageRequest,
) -> Result<Page<Namespace>> {
    let (user, now) = (actor.user()?, tx.now);
    let pattern = containing(search.unwrap_or_default());
    each_backend!(tx, |conn| {
        let chosen = || {
            let mut query = namespaces::table
                .filter(namespaces::kind.eq(Kind::Group))
                .filter(namespaces::deleted_at.is_null())
                .filter(namespaces::id.ne_all(without))
                .into_boxed();
            if search.is_some() {
                query = query.filter(
                    lower(namespaces::path)
                        .like(&pattern)
                        .escape('\\')
                        .or(lower(namespaces::name).like(&pattern).escape('\\')),
                );
            }
            let with = |level: AccessLevel| {
                namespaces::id.eq_any(
                    namespace_access::table
                        .filter(namespace_access::user_id.eq(user))
                        .filter(namespace_access::until.gt(now))
                        .filter(namespace_access::access_level.ge(level))
                        .select(namespace_access::namespace_id),
                )
            };
            match wanted {
                LocationPurpose::Subgroup { from, to } => {
                    query = query.filter(diesel::dsl::not(
                        namespaces::path_key.ge(from).and(namespaces::path_key.lt(to)),
                    ));
                    if !actor.admin {
                        let open = namespaces::subgroup_creation_level
                            .eq(SubgroupCreation::Maintainer.to_string());
                        query = query.filter(
                            with(AccessLevel::Owner).or(open.and(with(AccessLevel::Maintainer))),
                        );
                    }
                }
                LocationPurpose::Project if actor.admin => {}
                LocationPurpose::Project => {
                    let open = namespaces::project_creation_level
                        .eq(ProjectCreation::Developer.to_string());
                    let kept =
                        namespaces::project_creation_level.ne(ProjectCreation::NoOne.to_string());
                    query = query.filter(
                        kept.and(with(AccessLevel::Maintainer))
                            .or(open.and(with(AccessLevel::Developer))),
                    );
                }
            }
            query
        };
        let counted = chosen().select(diesel::dsl::sql::<Integer>("1")).limit(COUNT_LIMIT + 1);
        let total: i64 = CountOf(counted).get_result(conn).map_err(error("Group"))?;
        let items: Vec<Namespace> = chosen()
            .order_by(namespaces::id.asc())
            .select(Namespace::as_select())
            .limit(page.per_page)
            .offset(page.offset())
            .load(conn)
            .map_err(error("Group"))?;
        Ok(Page { items, total: Total::Counted(total) })
    })
}
