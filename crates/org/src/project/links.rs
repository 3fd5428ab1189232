//! Sharing projects with groups.

use db::{Tx, each_backend, error, schema::project_group_links};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Error, Grant, Result, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::{NamespaceId, ProjectId},
};

use super::store::ProjectStore;
use crate::{
    access::{self, IdOrPath},
    expiry::ended,
    member::rules::role,
    namespace::{sharing, store::NamespaceStore},
    policy::AdminProject,
};

/// A project shared with a group.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = project_group_links, check_for_backend(db::AnyBackend))]
pub struct ProjectGroupLink {
    pub id: i64,
    pub project_id: ProjectId,
    pub namespace_id: NamespaceId,
    pub access_level: AccessLevel,
    pub expires_at: Option<Ts>,
    pub updated_at: Ts,
}

/// The maximum role of members of the group, and its expiry.
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    pub group: NamespaceId,
    pub level: AccessLevel,
    pub expires_at: Option<Ts>,
}

/// Shares a project with a group that the caller sees.
///
/// # Errors
/// `NotFound` when the group is not there for the caller.
pub fn share(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminProject>,
    with: Sharing,
) -> Result<ProjectGroupLink> {
    access::lock_access_projection(tx)?;
    let project = tx.project(grant.project())?;
    let (group, _) = access::locate_group(tx, grant.actor(), &IdOrPath::Id(with.group.0))
        .map_err(|_absent| Error::missing())?;
    let group = group.0.id;
    let home = tx.namespace(project.namespace_id)?;
    if !sharing::may_invite(tx, home.id, group)? {
        return Err(Error::missing());
    }
    if home.settings().share_with_group_lock {
        return Err(Error::bad_request().whole("The project sharing with group is disabled"));
    }
    if !(AccessLevel::Guest..=AccessLevel::Owner).contains(&with.level) {
        return Err(Error::invalid("group_access", "is not included in the list"));
    }
    if with.level > grant.who().level {
        return Err(Error::forbidden());
    }
    sharing::ensure_ahead(tx, with.expires_at)?;
    // One that has ended is none, even while nobody has cleared it away.
    let ended = project_group_links::table
        .filter(project_group_links::project_id.eq(project.id))
        .filter(project_group_links::namespace_id.eq(group))
        .filter(ended!(project_group_links, tx.now));
    each_backend!(tx, |conn| diesel::delete(ended).execute(conn).map_err(error("Group Link")))?;
    let row = (
        project_group_links::project_id.eq(project.id),
        project_group_links::namespace_id.eq(group),
        project_group_links::access_level.eq(with.level),
        project_group_links::expires_at.eq(with.expires_at),
        project_group_links::created_at.eq(tx.now),
        project_group_links::updated_at.eq(tx.now),
    );
    let insert =
        diesel::insert_into(project_group_links::table).values(row).on_conflict_do_nothing();
    let new = each_backend!(tx, |conn| insert.execute(conn).map_err(error("Group Link")))?;
    if new == 0 {
        return Err(Error::conflict().whole("Project already shared with this group"));
    }
    access::refresh_project_share(tx, project.id, group)?;
    let place = AuditPlace::Project(project.id);
    let added = AuditRecord::addition("project_group_link_created", place, "group_access")
        .detail("as", role(with.level));
    record(tx, group, added)?;
    link(tx, project.id, group)
}

/// Writes down whom a project is shared with, or no longer.
fn record(tx: &mut Tx<'_>, group: NamespaceId, action: AuditRecord) -> Result<()> {
    if let Some(group) = tx.find_namespace(group)? {
        tx.mention(action.target("Group", group.id.0, group.full_path));
    }
    Ok(())
}

/// Writes down that a share has ended.
fn record_end(tx: &mut Tx<'_>, project: ProjectId, group: NamespaceId) -> Result<()> {
    let place = AuditPlace::Project(project);
    let removed = AuditRecord::removal("project_group_link_deleted", place, "group_access");
    record(tx, group, removed)
}

/// The link between a project and a group.
pub fn link(tx: &mut Tx<'_>, project: ProjectId, group: NamespaceId) -> Result<ProjectGroupLink> {
    let query = project_group_links::table
        .filter(project_group_links::project_id.eq(project))
        .filter(project_group_links::namespace_id.eq(group));
    each_backend!(tx, |conn| query
        .select(ProjectGroupLink::as_select())
        .get_result(conn)
        .map_err(error("Group Link")))
}

/// Ends the sharing; only when it did not change after `unmodified_since`, where that is given.
pub fn unshare(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminProject>,
    group: NamespaceId,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    access::lock_access_projection(tx)?;
    let found = link(tx, grant.project(), group)?;
    if found.expires_at.is_some_and(|end| end <= tx.now) {
        return Err(Error::missing());
    }
    if unmodified_since.is_some_and(|since| found.updated_at > since) {
        return Err(Error::precondition());
    }
    let row = project_group_links::table.find(found.id);
    each_backend!(tx, |conn| diesel::delete(row).execute(conn).map_err(error("Group Link")))?;
    access::refresh_project_share(tx, grant.project(), group)?;
    tx.mention(access::Event::ShareEnded { project: grant.project(), group });
    record_end(tx, grant.project(), group)
}

/// How many expired links one transaction removes.
const REMOVED_AT_ONCE: i64 = 200;

/// Removes links whose end has come; tells whether there may be more.
pub fn remove_expired(tx: &mut Tx<'_>) -> Result<bool> {
    access::lock_access_projection(tx)?;
    let expired = project_group_links::table
        .filter(ended!(project_group_links, tx.now))
        .order_by(project_group_links::id)
        .limit(REMOVED_AT_ONCE)
        .select((
            project_group_links::id,
            project_group_links::project_id,
            project_group_links::namespace_id,
        ));
    let expired: Vec<(i64, ProjectId, NamespaceId)> =
        each_backend!(tx, |conn| expired.load(conn).map_err(error("Group Link")))?;
    for (id, project, invited) in &expired {
        let row = project_group_links::table.find(id);
        each_backend!(tx, |conn| diesel::delete(row).execute(conn).map_err(error("Group Link")))?;
        access::refresh_project_share(tx, *project, *invited)?;
        tx.mention(access::Event::ShareEnded { project: *project, group: *invited });
        record_end(tx, *project, *invited)?;
    }
    Ok(i64::try_from(expired.len()).unwrap_or(0) == REMOVED_AT_ONCE)
}
