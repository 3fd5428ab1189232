//! Reading and keeping single memberships; lists have a file of their own.

use std::collections::{BTreeSet, HashMap};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{members, namespaces, projects, users},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Result, Ts,
    ids::{MemberId, NamespaceId, ProjectId, UserId},
};

use super::{Member, NewMember, Source};
use crate::{
    access,
    expiry::living,
    namespace::Namespace,
    search::beginning,
    user::{self, User},
};

pub trait MemberStore {
    /// A membership that was given here and has not ended.
    fn find_member(&mut self, source: Source, user: UserId) -> Result<Option<Member>>;
    /// As [`find_member`](Self::find_member), also one whose end is today and has come.
    fn find_member_row(&mut self, source: Source, user: UserId) -> Result<Option<Member>>;
    fn find_member_by_id(&mut self, id: MemberId) -> Result<Option<Member>>;
    fn insert_member(&mut self, new: &NewMember) -> Result<()>;
    /// Says since when somebody is a member.
    fn save_membership_start(&mut self, source: Source, user: UserId, since: Ts) -> Result<()>;
    /// Changes what it gives, now or once it is approved, and its end.
    fn save_member(
        &mut self,
        member: &Member,
        level: AccessLevel,
        expires_at: Option<Ts>,
    ) -> Result<()>;
    /// Lets a membership rest (a level to await) or work again; false where somebody changed it meanwhile.
    fn move_member(&mut self, member: &Member, awaiting: Option<AccessLevel>) -> Result<bool>;
    fn delete_member(&mut self, source: Source, user: UserId) -> Result<()>;
    /// The folder and those above it, from the inside out.
    fn lineage(&mut self, namespace: NamespaceId) -> Result<Vec<Namespace>>;
    /// The highest level that membership of one of these folders gives, and which one it is.
    fn highest_in(
        &mut self,
        namespaces: &[NamespaceId],
        user: UserId,
    ) -> Result<Option<(AccessLevel, NamespaceId)>>;
    /// How many people beside this one own one of these folders by membership of it.
    fn count_other_owners(&mut self, namespaces: &[NamespaceId], user: UserId) -> Result<i64>;
    /// How many of these people were not given a role in a source itself, or one that has ended.
    fn count_strangers(&mut self, source: Source, people: &BTreeSet<UserId>) -> Result<usize>;
    /// Who manages a source by being added there, at most so many.
    fn managers(&mut self, source: Source, limit: i64) -> Result<Vec<User>>;
    /// Memberships of somebody below a group.
    fn members_below(&mut self, group: &Namespace, user: UserId) -> Result<Vec<Member>>;
    /// Memberships whose end has come.
    fn expired_members(&mut self, limit: i64) -> Result<Vec<Member>>;
}

impl MemberStore for Tx<'_> {
    fn find_member(&mut self, source: Source, user: UserId) -> Result<Option<Member>> {
        let now = self.now;
        let found = self.find_member_row(source, user)?;
        Ok(found.filter(|member| member.expires_at.is_none_or(|end| end > now)))
    }

    fn find_member_row(&mut self, source: Source, user: UserId) -> Result<Option<Member>> {
        let theirs = members::table.filter(members::user_id.eq(user));
        match source {
            Source::Project(id) => {
                let query = theirs.filter(members::project_id.eq(id));
                each_backend!(self, |conn| query
                    .select(Member::as_select())
                    .get_result(conn)
                    .optional()
                    .map_err(error("Member")))
            }
            Source::Group(id) => {
                let query = theirs.filter(members::namespace_id.eq(id));
                each_backend!(self, |conn| query
                    .select(Member::as_select())
                    .get_result(conn)
                    .optional()
                    .map_err(error("Member")))
            }
        }
    }

    fn find_member_by_id(&mut self, id: MemberId) -> Result<Option<Member>> {
        let query = members::table.find(id);
        each_backend!(self, |conn| query
            .select(Member::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Member")))
    }

    fn insert_member(&mut self, new: &NewMember) -> Result<()> {
        access::lock_access_projection(self)?;
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

    fn save_membership_start(&mut self, source: Source, user: UserId, since: Ts) -> Result<()> {
        let Some(member) = self.find_member_row(source, user)? else { return Ok(()) };
        let row = diesel::update(members::table.find(member.id)).set(members::created_at.eq(since));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Member")))?;
        Ok(())
    }

    fn save_member(
        &mut self,
        member: &Member,
        level: AccessLevel,
        expires_at: Option<Ts>,
    ) -> Result<()> {
        access::lock_access_projection(self)?;
        let waits = member.awaiting_level.is_some();
        let changes = (
            members::access_level.eq(if waits { AccessLevel::NoAccess } else { level }),
            members::awaiting_level.eq(waits.then_some(level)),
            members::expires_at.eq(expires_at),
            members::updated_at.eq(self.now),
        );
        let update = diesel::update(members::table.find(member.id)).set(changes);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Member")))?;
        Ok(())
    }

    fn move_member(&mut self, member: &Member, awaiting: Option<AccessLevel>) -> Result<bool> {
        access::lock_access_projection(self)?;
        let works = match awaiting {
            Some(_) => AccessLevel::NoAccess,
            None => member.level(),
        };
        let changes = (
            members::access_level.eq(works),
            members::awaiting_level.eq(awaiting),
            members::updated_at.eq(self.now),
        );
        let seen =
            members::table.find(member.id).filter(members::access_level.eq(member.access_level));
        let update = diesel::update(seen).set(changes);
        let moved = each_backend!(self, |conn| update.execute(conn).map_err(error("Member")))?;
        Ok(moved == 1)
    }

    fn delete_member(&mut self, source: Source, user: UserId) -> Result<()> {
        access::lock_access_projection(self)?;
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
        let query = namespaces::table.find(namespace);
        let inner: Namespace = each_backend!(self, |conn| query
            .select(Namespace::as_select())
            .get_result(conn)
            .map_err(error("Namespace")))?;
        if inner.parent_id.is_none() {
            return Ok(vec![inner]);
        }
        // Those above are named by the beginnings of the path.
        let key = inner.full_path.to_lowercase();
        let above: Vec<&str> = key.match_indices('/').map(|(at, _)| &key[..at]).collect();
        let query = namespaces::table.filter(namespaces::path_key.eq_any(above));
        let above: Vec<Namespace> = each_backend!(self, |conn| query
            .select(Namespace::as_select())
            .load(conn)
            .map_err(error("Namespace")))?;
        let mut above: HashMap<NamespaceId, Namespace> =
            above.into_iter().map(|found| (found.id, found)).collect();
        let mut lineage = vec![inner];
        while let Some(parent) = lineage.last().and_then(|last| last.parent_id)
            && let Some(found) = above.remove(&parent)
        {
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
            .filter(members::namespace_id.one_of(namespaces))
            .filter(members::access_level.gt(AccessLevel::Minimal))
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
            .filter(members::namespace_id.one_of(namespaces))
            .filter(members::access_level.eq(AccessLevel::Owner))
            .filter(members::user_id.ne(user))
            .filter(members::expires_at.is_null().or(members::expires_at.gt(now)))
            .filter(users::bot.eq(false))
            .count();
        each_backend!(self, |conn| query.get_result(conn).map_err(error("Member")))
    }

    fn count_strangers(&mut self, source: Source, people: &BTreeSet<UserId>) -> Result<usize> {
        let (project, group) = source.columns();
        let (project, group) = (project.unwrap_or(ProjectId(0)), group.unwrap_or(NamespaceId(0)));
        let named: Vec<UserId> = people.iter().copied().collect();
        let query = members::table
            .filter(members::user_id.eq_any(named))
            .filter(members::project_id.eq(project).or(members::namespace_id.eq(group)))
            .filter(living!(members, self.now))
            .count();
        let known: i64 =
            each_backend!(self, |conn| query.get_result(conn).map_err(error("Member")))?;
        Ok(people.len().saturating_sub(usize::try_from(known).unwrap_or(0)))
    }

    fn managers(&mut self, source: Source, limit: i64) -> Result<Vec<User>> {
        let now = self.now;
        let people = members::table
            .inner_join(users::table)
            .filter(members::expires_at.is_null().or(members::expires_at.gt(now)))
            .filter(users::bot.eq(false))
            .filter(users::state.eq(user::State::Active))
            .order_by((members::access_level.desc(), members::id))
            .limit(limit);
        match source {
            Source::Project(id) => {
                let query = people
                    .filter(members::project_id.eq(id))
                    .filter(members::access_level.ge(AccessLevel::Maintainer));
                each_backend!(self, |conn| query
                    .select(User::as_select())
                    .load(conn)
                    .map_err(error("Member")))
            }
            Source::Group(id) => {
                let query = people
                    .filter(members::namespace_id.eq(id))
                    .filter(members::access_level.ge(AccessLevel::Owner));
                each_backend!(self, |conn| query
                    .select(User::as_select())
                    .load(conn)
                    .map_err(error("Member")))
            }
        }
    }

    fn members_below(&mut self, group: &Namespace, user: UserId) -> Result<Vec<Member>> {
        let below = beginning(&format!("{}/", group.full_path.to_lowercase()));
        let groups = members::table
            .inner_join(namespaces::table.on(members::namespace_id.eq(namespaces::id.nullable())))
            .filter(members::user_id.eq(user))
            .filter(namespaces::path_key.like(&below).escape('\\'));
        let mut found: Vec<Member> = each_backend!(self, |conn| groups
            .select(Member::as_select())
            .load(conn)
            .map_err(error("Member")))?;
        let inside = members::table
            .inner_join(projects::table.on(members::project_id.eq(projects::id.nullable())))
            .filter(members::user_id.eq(user))
            .filter(projects::path_key.like(&below).escape('\\'));
        let inside: Vec<Member> = each_backend!(self, |conn| inside
            .select(Member::as_select())
            .load(conn)
            .map_err(error("Member")))?;
        found.extend(inside);
        Ok(found)
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
