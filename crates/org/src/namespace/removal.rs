//! Removing groups: at once, or marked for a day to come; and what is left of them afterwards.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{
        group_group_links, members, namespace_access, namespaces, project_access,
        project_group_links, projects, redirects,
    },
};
use diesel::{prelude::*, sql_query, sql_types::Text};
use kernel::{
    Error, Grant, Result, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::{NamespaceId, ProjectId, UserId},
};
use time::Duration;
use worker::Queue;

use super::{
    Kind, Namespace,
    event::{Event, NamespacePath, TreeRemoval},
    full_path::below,
    owners::TreeOwners,
    store::NamespaceStore,
};
use crate::{
    access::{self, changes, seats},
    jobs::PurgeDeletions,
    member::store::MemberStore,
    policy::RemoveGroup,
    project::Project,
    settings::store::SettingsStore,
    user::{event::Person, store::UserStore},
};

const ONLY_SUBGROUPS: &str = "`permanently_remove` option is only available for subgroups.";
const NOT_MARKED: &str = "Group must be marked for deletion first.";
const WRONG_PATH: &str =
    "`full_path` is incorrect. You must enter the complete path for the subgroup.";
const NOTHING_TO_RESTORE: &str = "Group has not been marked for deletion";

/// Options of removing a group.
#[derive(Clone, Debug, Default)]
pub struct Removal {
    /// A subgroup that is marked already goes now.
    pub permanently: bool,
    /// Its full path once more, so that nobody does that by mistake.
    pub full_path: Option<String>,
    pub unless_newer: Option<Ts>,
}

/// Removes a group with everything inside, or marks it where the installation gives groups some days more.
pub fn remove(tx: &mut Tx<'_>, grant: &Grant<RemoveGroup>, how: &Removal) -> Result<()> {
    access::lock_access_projection(tx)?;
    let group = tx.namespace(grant.group())?;
    group.updated_at.ensure_unchanged_since(how.unless_newer)?;
    let user = grant.actor().id;
    let delayed = tx.settings()?.delayed_group_deletion;
    if !delayed && group.marked_for_deletion_at.is_none() {
        return take_away(tx, &group, user);
    }
    if how.permanently {
        ensure_final(&group, how)?;
        return take_away(tx, &group, user);
    }
    let line = tx.lineage(group.id)?;
    if line.iter().any(|group| group.marked_for_deletion_at.is_some()) {
        return Ok(());
    }
    set_deletion(tx, group.id, Some(tx.now), user)?;
    tx.emit(Event::GroupMarkedForDeletion { group: (&group).into(), user })
}

fn ensure_final(group: &Namespace, how: &Removal) -> Result<()> {
    let why = if group.parent_id.is_none() {
        ONLY_SUBGROUPS
    } else if group.marked_for_deletion_at.is_none() {
        NOT_MARKED
    } else if how.full_path.as_ref() != Some(&group.full_path) {
        WRONG_PATH
    } else {
        return Ok(());
    };
    Err(Error::bad_request().whole(why.to_owned()))
}

fn set_deletion(
    tx: &mut Tx<'_>,
    group: NamespaceId,
    at: Option<Ts>,
    by: Option<UserId>,
) -> Result<()> {
    let row = namespaces::table.find(group);
    let marks = (
        namespaces::marked_for_deletion_at.eq(at),
        namespaces::marked_by.eq(by),
        namespaces::updated_at.eq(tx.now),
    );
    each_backend!(tx, |conn| diesel::update(row).set(marks).execute(conn).map_err(error("Group")))?;
    Ok(())
}

/// Lets a group stay that was to go.
pub fn restore(tx: &mut Tx<'_>, grant: &Grant<RemoveGroup>) -> Result<Namespace> {
    access::lock_access_projection(tx)?;
    let group = tx.namespace(grant.group())?;
    if group.marked_for_deletion_at.is_none() {
        return Err(Error::bad_request().whole(NOTHING_TO_RESTORE));
    }
    set_deletion(tx, group.id, None, None)?;
    tx.emit(Event::GroupRestore { group: (&group).into(), user: grant.actor().id })?;
    tx.namespace(group.id)
}

/// Removes groups whose days are over; tells whether there may be more.
pub fn remove_overdue(tx: &mut Tx<'_>) -> Result<bool> {
    access::lock_access_projection(tx)?;
    let period = Duration::days(tx.settings()?.deletion_adjourned_period);
    let limit = tx.now.plus(-period);
    let overdue = namespaces::table
        .filter(namespaces::marked_for_deletion_at.le(limit))
        .filter(namespaces::deleted_at.is_null())
        .order(namespaces::id)
        .limit(1);
    let overdue: Option<Namespace> = each_backend!(tx, |conn| overdue
        .select(Namespace::as_select())
        .get_result(conn)
        .optional()
        .map_err(error("Group")))?;
    match overdue {
        Some(group) => {
            let marked_by = group.marked_by;
            take_away(tx, &group, marked_by)?;
            Ok(true)
        }
        None => Ok(false),
    }
}

fn take_away(tx: &mut Tx<'_>, group: &Namespace, user: Option<UserId>) -> Result<()> {
    let person = match user {
        Some(user) => tx.find_user(user)?.as_ref().map(Person::from),
        None => None,
    };
    remove_tree(tx, group.id, person.as_ref())?;
    tx.emit(Event::GroupDestroy { group: group.into(), user })
}

/// Takes away a namespace, everything below it, and the projects of all of these: from now on nothing of it is found,
/// nobody has a role by it, and its paths are free. Rows and repositories are cleared away later. `user` asked for it.
pub fn remove_tree(tx: &mut Tx<'_>, id: NamespaceId, user: Option<&Person>) -> Result<()> {
    if let Some(removal) = take_tree(tx, id, user)? {
        tx.mention(removal);
    }
    Ok(())
}

/// As [`remove_tree`], for groups that nobody was told of: their end is not told either, that of projects in them is.
pub fn remove_unannounced(tx: &mut Tx<'_>, id: NamespaceId) -> Result<()> {
    if let Some(removal) = take_tree(tx, id, None)? {
        tx.mention(TreeRemoval { groups: Vec::new(), ..removal });
    }
    Ok(())
}

fn take_tree(
    tx: &mut Tx<'_>,
    id: NamespaceId,
    user: Option<&Person>,
) -> Result<Option<TreeRemoval>> {
    access::lock_access_projection(tx)?;
    let Some(namespace) = tx.find_namespace(id)? else { return Ok(None) };
    seats::leaves(tx, &namespace.full_path)?;
    changes::groups(tx)?;
    let tree = Tree::of(&namespace);
    let mut groups = tree.groups(tx)?;
    let projects = tree.projects(tx)?;
    let parents = groups.iter();
    let parents = parents.filter_map(|group| Some((group.group_id, group.parent_group_id?)));
    let owners = TreeOwners::read(tx, &namespace, parents.collect(), &projects)?;
    tree.end_shares(tx, &groups)?;
    tree.uncount_forks(tx)?;
    tree.end_roles(tx)?;
    tree.hide(tx)?;
    // A group is told of after those in it.
    groups.sort_by_key(|group| group.group_id == id);
    tx.enqueue(&PurgeDeletions {})?;
    Ok(Some(TreeRemoval { groups, projects, owners, user: user.cloned() }))
}

/// A namespace and everything below it, by their addresses.
struct Tree {
    id: NamespaceId,
    from: String,
    to: String,
}

macro_rules! groups_of {
    ($tree:expr) => {{
        let inside = namespaces::path_key.ge(&$tree.from).and(namespaces::path_key.lt(&$tree.to));
        namespaces::table
            .filter(namespaces::id.eq($tree.id).or(inside))
            .filter(namespaces::deleted_at.is_null())
    }};
}

macro_rules! projects_of {
    ($tree:expr) => {
        projects::table
            .filter(projects::path_key.ge(&$tree.from).and(projects::path_key.lt(&$tree.to)))
            .filter(projects::deleted_at.is_null())
    };
}

macro_rules! run {
    ($tx:expr, $statement:expr) => {{
        let statement = $statement;
        each_backend!($tx, |conn| statement.execute(conn).map_err(error("Group")))?;
    }};
}

impl Tree {
    fn of(namespace: &Namespace) -> Self {
        let (from, to) = below(&namespace.full_path);
        Self { id: namespace.id, from, to }
    }

    fn groups(&self, tx: &mut Tx<'_>) -> Result<Vec<NamespacePath>> {
        type Row = (NamespaceId, String, String, String, Option<NamespaceId>, Ts);
        let query = groups_of!(self)
            .filter(namespaces::kind.eq(Kind::Group))
            .order(namespaces::id)
            .select((
                namespaces::id,
                namespaces::name,
                namespaces::path,
                namespaces::full_path,
                namespaces::parent_id,
                namespaces::created_at,
            ));
        let rows: Vec<Row> = each_backend!(tx, |conn| query.load(conn).map_err(error("Group")))?;
        let group = |(group_id, name, path, full_path, parent_group_id, created_at): Row| {
            NamespacePath { group_id, name, path, full_path, parent_group_id, created_at }
        };
        Ok(rows.into_iter().map(group).collect())
    }

    fn projects(&self, tx: &mut Tx<'_>) -> Result<Vec<Project>> {
        let query = projects_of!(self).order(projects::id);
        each_backend!(tx, |conn| query
            .select(Project::as_select())
            .load(conn)
            .map_err(error("Project")))
    }

    /// Whatever was shared with these groups is shared with them no more. Their members are still known, so that only
    /// their roles are worked out anew.
    fn end_shares(&self, tx: &mut Tx<'_>, groups: &[NamespacePath]) -> Result<()> {
        let paths: HashMap<NamespaceId, &str> =
            groups.iter().map(|group| (group.group_id, group.full_path.as_str())).collect();
        let ours = groups_of!(self).select(namespaces::id);
        let shared = project_group_links::table
            .filter(project_group_links::namespace_id.eq_any(ours))
            .select((project_group_links::project_id, project_group_links::namespace_id));
        let shared: Vec<(ProjectId, NamespaceId)> =
            each_backend!(tx, |conn| shared.load(conn).map_err(error("Group")))?;
        run!(
            tx,
            diesel::delete(
                project_group_links::table.filter(project_group_links::namespace_id.eq_any(ours))
            )
        );
        // First, while the roles in these groups tell who had one in the projects.
        for (project, invited) in shared {
            access::refresh_project_share(tx, project, invited)?;
            let place = AuditPlace::Project(project);
            let end = AuditRecord::removal("project_group_link_deleted", place, "group_access");
            let path = paths.get(&invited).copied().unwrap_or_default();
            tx.mention(end.target("Group", invited.0, path));
        }
        let groups = group_group_links::table
            .filter(group_group_links::invited_id.eq_any(ours))
            .select((group_group_links::namespace_id, group_group_links::invited_id));
        let groups: Vec<(NamespaceId, NamespaceId)> =
            each_backend!(tx, |conn| groups.load(conn).map_err(error("Group")))?;
        run!(
            tx,
            diesel::delete(
                group_group_links::table.filter(
                    group_group_links::invited_id
                        .eq_any(ours)
                        .or(group_group_links::namespace_id.eq_any(ours))
                )
            )
        );
        for (group, invited) in groups {
            access::refresh_group_share(tx, group, invited)?;
            let place = AuditPlace::Group(group);
            let name = "group_share_with_group_link_removed";
            let end = AuditRecord::removal(name, place, "group_access");
            let path = paths.get(&invited).copied().unwrap_or_default();
            tx.mention(end.target("Group", invited.0, path));
        }
        Ok(())
    }

    /// Projects elsewhere that forks in here were made of have so many fewer.
    fn uncount_forks(&self, tx: &mut Tx<'_>) -> Result<()> {
        const FORKS: &str =
            "FROM projects f WHERE f.path_key >= $1 AND f.path_key < $2 AND f.deleted_at IS NULL";
        let text = format!(
            "UPDATE projects SET forks_count = forks_count - \
             (SELECT count(*) {FORKS} AND f.forked_from_id = projects.id) \
             WHERE id IN (SELECT f.forked_from_id {FORKS} AND f.forked_from_id IS NOT NULL)"
        );
        let query =
            sql_query(text).bind::<Text, _>(self.from.clone()).bind::<Text, _>(self.to.clone());
        each_backend!(tx, |conn| query.execute(conn).map_err(error("Project")))?;
        Ok(())
    }

    fn end_roles(&self, tx: &mut Tx<'_>) -> Result<()> {
        let groups = groups_of!(self).select(namespaces::id);
        let inside = projects_of!(self).select(projects::id);
        run!(
            tx,
            diesel::delete(
                namespace_access::table.filter(namespace_access::namespace_id.eq_any(groups))
            )
        );
        run!(
            tx,
            diesel::delete(project_access::table.filter(project_access::project_id.eq_any(inside)))
        );
        let groups = groups_of!(self).select(namespaces::id.nullable());
        let inside = projects_of!(self).select(projects::id.nullable());
        run!(tx, diesel::delete(members::table.filter(members::namespace_id.eq_any(groups))));
        run!(tx, diesel::delete(members::table.filter(members::project_id.eq_any(inside))));
        Ok(())
    }

    /// No path holds two slashes, so nobody else ever wants those that these get.
    fn hide(&self, tx: &mut Tx<'_>) -> Result<()> {
        let leading = projects_of!(self).select(projects::id.nullable());
        run!(tx, diesel::delete(redirects::table.filter(redirects::project_id.eq_any(leading))));
        let freed = |id: &str| format!("path_key || '//' || CAST({id} AS TEXT)");
        let now = tx.now.0;
        for (table, more, whose) in [
            ("projects", "", String::new()),
            ("namespaces", ", owner_id = NULL", format!("OR id = {}", self.id)),
        ] {
            let text = format!(
                "UPDATE {table} SET path_key = {}, deleted_at = {now}, updated_at = {now} {more} \
                 WHERE ((path_key >= $1 AND path_key < $2) {whose}) AND deleted_at IS NULL",
                freed("id")
            );
            let query =
                sql_query(text).bind::<Text, _>(self.from.clone()).bind::<Text, _>(self.to.clone());
            each_backend!(tx, |conn| query.execute(conn).map_err(error("Group")))?;
        }
        Ok(())
    }
}

/// Removes the rows of namespaces that were taken away and hold nothing any more; tells whether any went.
pub fn purge(tx: &mut Tx<'_>) -> Result<Vec<NamespaceId>> {
    const AT_ONCE: i64 = 200;
    let inner = diesel::alias!(namespaces as inner);
    let empty = namespaces::table
        .filter(namespaces::deleted_at.is_not_null())
        .filter(diesel::dsl::not(diesel::dsl::exists(
            inner.filter(inner.field(namespaces::parent_id).eq(namespaces::id.nullable())),
        )))
        .filter(diesel::dsl::not(diesel::dsl::exists(
            projects::table.filter(projects::namespace_id.eq(namespaces::id)),
        )))
        .order((namespaces::deleted_at, namespaces::id))
        .limit(AT_ONCE)
        .select(namespaces::id);
    let empty: Vec<NamespaceId> =
        each_backend!(tx, |conn| empty.load(conn).map_err(error("Group")))?;
    let rows = namespaces::table.filter(namespaces::id.one_of(&empty));
    each_backend!(tx, |conn| diesel::delete(rows).execute(conn).map_err(error("Group")))?;
    Ok(empty)
}
