//! Reading and keeping memberships.

use std::collections::HashMap;

use db::{
    CountOf, Tx, each_backend, error, lower,
    schema::{members, namespace_access, namespaces, project_access, projects, users},
};
use diesel::{prelude::*, sql_types::Integer};
use kernel::{
    AccessLevel, Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{
    Member, MemberFilter, Membership,
    actions::{NewMember, Source},
};
use crate::{
    namespace::Namespace,
    search::{beginning, containing},
    user::{User, store::UserStore},
};

pub trait MemberStore {
    /// A membership that was given here and has not ended.
    fn find_member(&mut self, source: Source, user: UserId) -> Result<Option<Member>>;
    /// Members that were added here.
    fn members(
        &mut self,
        source: Source,
        filter: &MemberFilter,
        page: PageRequest,
    ) -> Result<Page<Membership>>;
    /// Everybody with a role here, wherever it comes from, with the highest one.
    fn all_members(
        &mut self,
        source: Source,
        filter: &MemberFilter,
        page: PageRequest,
    ) -> Result<Page<Membership>>;
    fn insert_member(&mut self, new: &NewMember) -> Result<()>;
    fn keep_member(
        &mut self,
        member: &Member,
        level: AccessLevel,
        expires_at: Option<Ts>,
    ) -> Result<()>;
    fn delete_member(&mut self, source: Source, user: UserId) -> Result<()>;
    /// A namespace and those above it, from the inside out.
    fn lineage(&mut self, namespace: NamespaceId) -> Result<Vec<Namespace>>;
    /// The highest role that membership of one of these gives, and which of them does.
    fn highest_in(
        &mut self,
        namespaces: &[NamespaceId],
        user: UserId,
    ) -> Result<Option<(AccessLevel, NamespaceId)>>;
    /// How many people beside `user` own one of these; bots do not count.
    fn count_other_owners(&mut self, namespaces: &[NamespaceId], user: UserId) -> Result<i64>;
    /// Where the user was added below a group.
    fn memberships_below(&mut self, group: &Namespace, user: UserId) -> Result<Vec<Source>>;
    /// Memberships whose end has come.
    fn expired_members(&mut self, limit: i64) -> Result<Vec<Member>>;
}

impl MemberStore for Tx<'_> {
    fn find_member(&mut self, source: Source, user: UserId) -> Result<Option<Member>> {
        let now = self.now;
        each_backend!(self, |conn| {
            let query = members::table
                .filter(members::user_id.eq(user))
                .filter(members::expires_at.is_null().or(members::expires_at.gt(now)))
                .into_boxed();
            let query = match source {
                Source::Project(id) => query.filter(members::project_id.eq(id)),
                Source::Group(id) => query.filter(members::namespace_id.eq(id)),
            };
            query.select(Member::as_select()).get_result(conn).optional().map_err(error("Member"))
        })
    }

    fn members(
        &mut self,
        source: Source,
        filter: &MemberFilter,
        page: PageRequest,
    ) -> Result<Page<Membership>> {
        let now = self.now;
        let (term, email) = searched(filter);
        let (rows, total): (Vec<(Member, User)>, i64) = each_backend!(self, |conn| {
            let chosen = || {
                let mut query = members::table
                    .inner_join(users::table)
                    .filter(members::expires_at.is_null().or(members::expires_at.gt(now)))
                    .filter(members::access_level.gt(AccessLevel::Minimal))
                    .into_boxed();
                query = match source {
                    Source::Project(id) => query.filter(members::project_id.eq(id)),
                    Source::Group(id) => query.filter(members::namespace_id.eq(id)),
                };
                if let Some(term) = &term {
                    query = query.filter(
                        lower(users::name)
                            .like(term)
                            .escape('\\')
                            .or(users::username_key.like(term).escape('\\'))
                            .or(users::email_key.eq(&email)),
                    );
                }
                if !filter.only.is_empty() {
                    query = query.filter(users::id.eq_any(&filter.only));
                }
                if !filter.skip.is_empty() {
                    query = query.filter(users::id.ne_all(&filter.skip));
                }
                query
            };
            let counted = chosen().select(diesel::dsl::sql::<Integer>("1")).limit(COUNT_LIMIT + 1);
            let total = CountOf(counted).get_result(conn).map_err(error("Member"))?;
            let rows = chosen()
                .order_by(members::id.asc())
                .select((Member::as_select(), User::as_select()))
                .limit(page.per_page)
                .offset(page.offset())
                .load(conn)
                .map_err(error("Member"))?;
            Ok::<_, kernel::Error>((rows, total))
        })?;
        let creators = givers(self, rows.iter().filter_map(|(member, _)| member.created_by))?;
        let items = rows.into_iter().map(|(member, user)| Membership {
            user,
            access_level: member.access_level,
            expires_at: member.expires_at,
            created_at: member.created_at,
            created_by: member.created_by.and_then(|id| creators.get(&id).cloned()),
        });
        Ok(Page { items: items.collect(), total: Total::Counted(total) })
    }

    fn all_members(
        &mut self,
        source: Source,
        filter: &MemberFilter,
        page: PageRequest,
    ) -> Result<Page<Membership>> {
        let page = effective(self, source, filter, page)?;
        let ids: Vec<UserId> = page.items.iter().map(|(user, _)| user.id).collect();
        let given = given_along(self, source, &ids)?;
        let creators = givers(self, given.values().filter_map(|member| member.created_by))?;
        Ok(page.map(|(user, access_level)| {
            let member = given.get(&user.id);
            let created_by = member.and_then(|member| member.created_by);
            Membership {
                access_level,
                expires_at: member.and_then(|member| member.expires_at),
                created_at: member.map_or(user.created_at, |member| member.created_at),
                created_by: created_by.and_then(|id| creators.get(&id).cloned()),
                user,
            }
        }))
    }

    fn insert_member(&mut self, new: &NewMember) -> Result<()> {
        let (project, group) = new.source.columns();
        // An ended membership that was not cleared away yet makes room.
        self.delete_member(new.source, new.user_id)?;
        let row = (
            members::project_id.eq(project),
            members::namespace_id.eq(group),
            members::user_id.eq(new.user_id),
            members::access_level.eq(new.access_level),
            members::expires_at.eq(new.expires_at),
            members::created_by.eq(new.created_by),
            members::created_at.eq(self.now),
            members::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(members::table).values(row);
        each_backend!(self, |conn| insert.execute(conn).map_err(error("Member")))?;
        Ok(())
    }

    fn keep_member(
        &mut self,
        member: &Member,
        level: AccessLevel,
        expires_at: Option<Ts>,
    ) -> Result<()> {
        let changes = (
            members::access_level.eq(level),
            members::expires_at.eq(expires_at),
            members::updated_at.eq(self.now),
        );
        let update = diesel::update(members::table.find(member.id)).set(changes);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Member")))?;
        Ok(())
    }

    fn delete_member(&mut self, source: Source, user: UserId) -> Result<()> {
        let theirs = members::table.filter(members::user_id.eq(user));
        match source {
            Source::Project(id) => {
                let gone = diesel::delete(theirs.filter(members::project_id.eq(id)));
                each_backend!(self, |conn| gone.execute(conn).map_err(error("Member")))?;
            }
            Source::Group(id) => {
                let gone = diesel::delete(theirs.filter(members::namespace_id.eq(id)));
                each_backend!(self, |conn| gone.execute(conn).map_err(error("Member")))?;
            }
        }
        Ok(())
    }

    fn lineage(&mut self, namespace: NamespaceId) -> Result<Vec<Namespace>> {
        let mut lineage = Vec::new();
        let mut next = Some(namespace);
        while let Some(id) = next {
            let query = namespaces::table.find(id);
            let found: Namespace = each_backend!(self, |conn| query
                .select(Namespace::as_select())
                .get_result(conn)
                .map_err(error("Namespace")))?;
            next = found.parent_id;
            lineage.push(found);
        }
        Ok(lineage)
    }

    fn highest_in(
        &mut self,
        namespaces: &[NamespaceId],
        user: UserId,
    ) -> Result<Option<(AccessLevel, NamespaceId)>> {
        let now = self.now;
        let query = members::table
            .filter(members::user_id.eq(user))
            .filter(members::namespace_id.eq_any(namespaces))
            .filter(members::expires_at.is_null().or(members::expires_at.gt(now)))
            .order_by((members::access_level.desc(), members::id.asc()))
            .select((members::access_level, members::namespace_id.assume_not_null()))
            .limit(1);
        each_backend!(self, |conn| query.get_result(conn).optional().map_err(error("Member")))
    }

    fn count_other_owners(&mut self, namespaces: &[NamespaceId], user: UserId) -> Result<i64> {
        let now = self.now;
        let query = members::table
            .inner_join(users::table)
            .filter(members::namespace_id.eq_any(namespaces))
            .filter(members::access_level.eq(AccessLevel::Owner))
            .filter(members::user_id.ne(user))
            .filter(members::expires_at.is_null().or(members::expires_at.gt(now)))
            .filter(users::bot.eq(false))
            .count();
        each_backend!(self, |conn| query.get_result(conn).map_err(error("Member")))
    }

    fn memberships_below(&mut self, group: &Namespace, user: UserId) -> Result<Vec<Source>> {
        let below = beginning(&format!("{}/", group.full_path.to_lowercase()));
        let groups = members::table
            .inner_join(namespaces::table.on(members::namespace_id.eq(namespaces::id.nullable())))
            .filter(members::user_id.eq(user))
            .filter(namespaces::path_key.like(&below).escape('\\'))
            .select(namespaces::id);
        let groups: Vec<NamespaceId> =
            each_backend!(self, |conn| groups.load(conn).map_err(error("Member")))?;
        let inside = members::table
            .inner_join(projects::table.on(members::project_id.eq(projects::id.nullable())))
            .filter(members::user_id.eq(user))
            .filter(projects::path_key.like(&below).escape('\\'))
            .select(projects::id);
        let inside: Vec<ProjectId> =
            each_backend!(self, |conn| inside.load(conn).map_err(error("Member")))?;
        let groups = groups.into_iter().map(Source::Group);
        Ok(groups.chain(inside.into_iter().map(Source::Project)).collect())
    }

    fn expired_members(&mut self, limit: i64) -> Result<Vec<Member>> {
        let now = self.now;
        let query =
            members::table.filter(members::expires_at.le(now)).order_by(members::id).limit(limit);
        each_backend!(self, |conn| query
            .select(Member::as_select())
            .load(conn)
            .map_err(error("Member")))
    }
}

/// The pattern for names and the whole address that a filter looks for.
fn searched(filter: &MemberFilter) -> (Option<String>, String) {
    let query = filter.query.as_deref().filter(|query| !query.is_empty());
    (query.map(containing), query.map(str::to_lowercase).unwrap_or_default())
}

fn givers(tx: &mut Tx<'_>, ids: impl Iterator<Item = UserId>) -> Result<HashMap<UserId, User>> {
    let mut ids: Vec<UserId> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() { Ok(HashMap::new()) } else { tx.users_by_id(&ids) }
}

/// A page of the projection of effective access.
#[expect(
    clippy::too_many_lines,
    reason = "one query, whose filters are compiled for each database"
)]
fn effective(
    tx: &mut Tx<'_>,
    source: Source,
    filter: &MemberFilter,
    page: PageRequest,
) -> Result<Page<(User, AccessLevel)>> {
    let (term, email) = searched(filter);
    each_backend!(tx, |conn| {
        let chosen = || {
            let mut query = users::table.into_boxed();
            query = match source {
                Source::Project(id) => query.filter(
                    users::id.eq_any(
                        project_access::table
                            .filter(project_access::project_id.eq(id))
                            .filter(project_access::access_level.gt(AccessLevel::Minimal))
                            .select(project_access::user_id),
                    ),
                ),
                Source::Group(id) => query.filter(
                    users::id.eq_any(
                        namespace_access::table
                            .filter(namespace_access::namespace_id.eq(id))
                            .filter(namespace_access::access_level.gt(AccessLevel::Minimal))
                            .select(namespace_access::user_id),
                    ),
                ),
            };
            if let Some(term) = &term {
                query = query.filter(
                    lower(users::name)
                        .like(term)
                        .escape('\\')
                        .or(users::username_key.like(term).escape('\\'))
                        .or(users::email_key.eq(&email)),
                );
            }
            if !filter.only.is_empty() {
                query = query.filter(users::id.eq_any(&filter.only));
            }
            if !filter.skip.is_empty() {
                query = query.filter(users::id.ne_all(&filter.skip));
            }
            query
        };
        let counted = chosen().select(diesel::dsl::sql::<Integer>("1")).limit(COUNT_LIMIT + 1);
        let total = CountOf(counted).get_result(conn).map_err(error("Member"))?;
        let found: Vec<User> = chosen()
            .order_by(users::id.asc())
            .select(User::as_select())
            .limit(page.per_page)
            .offset(page.offset())
            .load(conn)
            .map_err(error("Member"))?;
        let ids: Vec<UserId> = found.iter().map(|user| user.id).collect();
        let levels: Vec<(UserId, AccessLevel)> = match source {
            Source::Project(id) => project_access::table
                .filter(project_access::project_id.eq(id))
                .filter(project_access::user_id.eq_any(&ids))
                .select((project_access::user_id, project_access::access_level))
                .load(conn)
                .map_err(error("Member"))?,
            Source::Group(id) => namespace_access::table
                .filter(namespace_access::namespace_id.eq(id))
                .filter(namespace_access::user_id.eq_any(&ids))
                .select((namespace_access::user_id, namespace_access::access_level))
                .load(conn)
                .map_err(error("Member"))?,
        };
        let levels: HashMap<UserId, AccessLevel> = levels.into_iter().collect();
        let leveled = |user: User| {
            let level = levels.get(&user.id).copied().unwrap_or_default();
            (user, level)
        };
        let items = found.into_iter().map(leveled).collect();
        Ok(Page { items, total: Total::Counted(total) })
    })
}

/// For each of these users the membership with the highest level, of the source and everything above it.
fn given_along(tx: &mut Tx<'_>, source: Source, of: &[UserId]) -> Result<HashMap<UserId, Member>> {
    let (project, home) = match source {
        Source::Group(id) => (None, id),
        Source::Project(id) => {
            let query = projects::table.find(id).select(projects::namespace_id);
            let home: NamespaceId =
                each_backend!(tx, |conn| query.get_result(conn).map_err(error("Project")))?;
            (Some(id), home)
        }
    };
    let above: Vec<NamespaceId> = tx.lineage(home)?.iter().map(|group| group.id).collect();
    let now = tx.now;
    let rows = members::table
        .filter(members::user_id.eq_any(of))
        .filter(members::expires_at.is_null().or(members::expires_at.gt(now)))
        .filter(
            members::namespace_id
                .eq_any(&above)
                .or(members::project_id.eq(project.unwrap_or(ProjectId(0)))),
        )
        .order_by((members::access_level.asc(), members::id.desc()));
    let rows: Vec<Member> = each_backend!(tx, |conn| rows
        .select(Member::as_select())
        .load(conn)
        .map_err(error("Member")))?;
    Ok(rows.into_iter().map(|member| (member.user_id, member)).collect())
}
