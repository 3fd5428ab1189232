//! Memberships and last activity of users, for administrators.

use std::collections::HashMap;

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    schema::{members, namespaces, projects, users},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use crate::{member::Member, user::User};

kernel::text_enum! {
    /// The kind of a membership's source.
    pub enum SourceKind { Project = "Project", Namespace = "Namespace" }
}

/// A membership, seen from the person.
#[derive(Clone, Debug)]
pub struct UserMembership {
    pub source_id: i64,
    pub source_name: String,
    pub source_kind: SourceKind,
    pub access_level: AccessLevel,
}

/// In how many groups and projects somebody is a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Associations {
    pub groups: i64,
    pub projects: i64,
}

type Row = (AccessLevel, Option<(ProjectId, String)>, Option<(NamespaceId, String)>);

/// Where somebody was made a member and still is, in the order in which that happened.
pub fn memberships(
    tx: &mut Tx<'_>,
    user: UserId,
    kind: Option<SourceKind>,
    page: PageRequest,
) -> Result<Page<UserMembership>> {
    let now = tx.now;
    each_backend!(tx, |conn| {
        let chosen = || {
            let found = members::table
                .left_join(projects::table.on(projects::id.nullable().eq(members::project_id)))
                .left_join(
                    namespaces::table.on(namespaces::id.nullable().eq(members::namespace_id)),
                )
                .filter(members::user_id.eq(user))
                .filter(members::expires_at.is_null().or(members::expires_at.gt(now)))
                .filter(projects::deleted_at.is_null())
                .filter(namespaces::deleted_at.is_null())
                .into_boxed();
            match kind {
                Some(SourceKind::Project) => found.filter(members::project_id.is_not_null()),
                Some(SourceKind::Namespace) => found.filter(members::namespace_id.is_not_null()),
                None => found,
            }
        };
        let rows: Vec<Row> = chosen()
            .order(members::id)
            .limit(page.per_page)
            .offset(page.offset())
            .select((
                members::access_level,
                (projects::id, projects::name).nullable(),
                (namespaces::id, namespaces::name).nullable(),
            ))
            .load(conn)
            .map_err(error("Member"))?;
        let count = CountOf(chosen().select(members::id).limit(COUNT_LIMIT + 1));
        let total: i64 = count.get_result(conn).map_err(error("Member"))?;
        let items = rows.into_iter().filter_map(belonging).collect();
        Ok(Page { items, total: Total::Counted(total) })
    })
}

fn belonging((access_level, project, namespace): Row) -> Option<UserMembership> {
    let (source_kind, source_id, source_name) = match (project, namespace) {
        (Some((id, name)), _) => (SourceKind::Project, id.0, name),
        (None, Some((id, name))) => (SourceKind::Namespace, id.0, name),
        (None, None) => return None,
    };
    Some(UserMembership { source_id, source_name, source_kind, access_level })
}

pub fn associations(tx: &mut Tx<'_>, user: UserId) -> Result<Associations> {
    let now = tx.now;
    let living = members::expires_at.is_null().or(members::expires_at.gt(now));
    let groups = members::table
        .inner_join(namespaces::table.on(namespaces::id.nullable().eq(members::namespace_id)))
        .filter(members::user_id.eq(user))
        .filter(living)
        .filter(namespaces::deleted_at.is_null())
        .count();
    let groups: i64 = each_backend!(tx, |conn| groups.get_result(conn).map_err(error("Member")))?;
    let inside = members::table
        .inner_join(projects::table.on(projects::id.nullable().eq(members::project_id)))
        .filter(members::user_id.eq(user))
        .filter(living)
        .filter(projects::deleted_at.is_null())
        .count();
    let projects: i64 = each_backend!(tx, |conn| inside.get_result(conn).map_err(error("Member")))?;
    Ok(Associations { groups, projects })
}

/// In how many groups each of these people is a member; who is in none has no entry.
pub fn group_counts(tx: &mut Tx<'_>, users: &[UserId]) -> Result<HashMap<UserId, i64>> {
    let now = tx.now;
    let rows = members::table
        .inner_join(namespaces::table.on(namespaces::id.nullable().eq(members::namespace_id)))
        .filter(members::user_id.one_of(users))
        .filter(members::expires_at.is_null().or(members::expires_at.gt(now)))
        .filter(namespaces::deleted_at.is_null())
        .group_by(members::user_id)
        .select((members::user_id, diesel::dsl::count_star()));
    let rows: Vec<(UserId, i64)> =
        each_backend!(tx, |conn| rows.load(conn).map_err(error("Member")))?;
    Ok(rows.into_iter().collect())
}

/// The memberships of some people in groups or in projects, those first that were given first.
pub fn memberships_of(
    tx: &mut Tx<'_>,
    users: &[UserId],
    kind: SourceKind,
) -> Result<HashMap<UserId, Vec<Member>>> {
    let now = tx.now;
    let rows: Vec<Member> = each_backend!(tx, |conn| {
        let found = members::table
            .filter(members::user_id.one_of(users))
            .filter(members::expires_at.is_null().or(members::expires_at.gt(now)))
            .order(members::id)
            .select(Member::as_select())
            .into_boxed();
        let found = match kind {
            SourceKind::Project => found.filter(members::project_id.is_not_null()),
            SourceKind::Namespace => found.filter(members::namespace_id.is_not_null()),
        };
        found.load(conn).map_err(error("Member"))
    })?;
    let mut all: HashMap<UserId, Vec<Member>> = HashMap::new();
    for member in rows {
        all.entry(member.user_id).or_default().push(member);
    }
    Ok(all)
}

/// People who were here since then, those first whom nobody has seen for longest.
pub fn active_since(tx: &mut Tx<'_>, since: Ts, page: PageRequest) -> Result<Page<User>> {
    let found = users::table
        .filter(users::last_activity_at.is_not_null())
        .filter(users::last_activity_at.ge(Some(since)));
    let items: Vec<User> = each_backend!(tx, |conn| found
        .order((users::last_activity_at, users::id))
        .limit(page.per_page)
        .offset(page.offset())
        .select(User::as_select())
        .load(conn)
        .map_err(error("User")))?;
    let count = CountOf(found.select(users::id).limit(COUNT_LIMIT + 1));
    let total = each_backend!(tx, |conn| count.get_result(conn).map_err(error("User")))?;
    Ok(Page { items, total: Total::Counted(total) })
}
