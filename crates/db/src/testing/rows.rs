//! Users, groups and projects for the tests of domains that only refer to them.

use diesel::prelude::*;
use kernel::{
    AccessLevel, Result, Ts, Visibility,
    ids::{NamespaceId, ProjectId, UserId},
};

use crate::{
    Tx, each_backend, error,
    schema::{namespaces, project_access, projects, users},
};

/// An active user with this user name.
pub fn user(tx: &mut Tx<'_>, name: &str) -> Result<UserId> {
    let address = format!("{name}@example.com");
    let row = (
        (users::username.eq(name), users::username_key.eq(name), users::name.eq(name)),
        (users::email.eq(&address), users::email_key.eq(&address), users::state.eq("active")),
        (users::admin.eq(false), users::external.eq(false), users::bot.eq(false)),
        (users::created_at.eq(tx.now), users::updated_at.eq(tx.now), users::sign_in_count.eq(0)),
        (users::projects_limit.eq(10), users::can_create_group.eq(true)),
        (users::private_profile.eq(false), users::internal.eq(false)),
    );
    let row = diesel::insert_into(users::table).values(row).returning(users::id);
    each_backend!(tx, |conn| row.get_result(conn).map_err(error("User")))
}

/// A public group without a parent.
pub fn group(tx: &mut Tx<'_>, path: &str) -> Result<NamespaceId> {
    let row = (
        (namespaces::kind.eq("group"), namespaces::name.eq(path), namespaces::path.eq(path)),
        (namespaces::full_path.eq(path), namespaces::path_key.eq(path)),
        (namespaces::full_name.eq(path), namespaces::visibility.eq(Visibility::Public)),
        namespaces::project_creation_level.eq("maintainer"),
        namespaces::subgroup_creation_level.eq("maintainer"),
        (namespaces::created_at.eq(tx.now), namespaces::updated_at.eq(tx.now)),
    );
    let row = diesel::insert_into(namespaces::table).values(row).returning(namespaces::id);
    each_backend!(tx, |conn| row.get_result(conn).map_err(error("Group")))
}

/// A public project of a group, with all features for everybody.
pub fn project(
    tx: &mut Tx<'_>,
    group: NamespaceId,
    creator: UserId,
    path: &str,
) -> Result<ProjectId> {
    const EVERYBODY: &str = "enabled";
    let row = (
        (projects::namespace_id.eq(group), projects::creator_id.eq(creator)),
        (projects::name.eq(path), projects::path.eq(path), projects::full_path.eq(path)),
        (projects::path_key.eq(path), projects::full_name.eq(path)),
        (projects::visibility.eq(Visibility::Public), projects::archived.eq(false)),
        (projects::repository_access.eq(EVERYBODY), projects::issues_access.eq(EVERYBODY)),
        (projects::merge_requests_access.eq(EVERYBODY), projects::forking_access.eq(EVERYBODY)),
        (projects::builds_access.eq(EVERYBODY), projects::wiki_access.eq(EVERYBODY)),
        projects::snippets_access.eq(EVERYBODY),
        (projects::star_count.eq(0), projects::forks_count.eq(0)),
        (projects::import_status.eq("none"), projects::last_activity_at.eq(tx.now)),
        (projects::created_at.eq(tx.now), projects::updated_at.eq(tx.now)),
    );
    let row = diesel::insert_into(projects::table).values(row).returning(projects::id);
    each_backend!(tx, |conn| row.get_result(conn).map_err(error("Project")))
}

/// The role that somebody has in a project for good.
pub fn role(
    tx: &mut Tx<'_>,
    user: UserId,
    project: ProjectId,
    access_level: AccessLevel,
) -> Result<()> {
    let row = (
        (project_access::user_id.eq(user), project_access::project_id.eq(project)),
        project_access::access_level.eq(access_level),
        project_access::until.eq(Ts::LATEST),
    );
    let row = diesel::insert_into(project_access::table).values(row);
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Member")))?;
    Ok(())
}
