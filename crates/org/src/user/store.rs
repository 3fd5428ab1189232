//! Reading and keeping people.

use std::collections::HashMap;

use db::{
    CountOf, Tx, each_backend, error, lower,
    schema::{members, namespaces, project_access, user_profiles, users},
};
use diesel::{prelude::*, sql_types::Integer};
use kernel::{
    AccessLevel, Result,
    ids::{NamespaceId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{
    Details, Profile, State, User, UserFilter,
    model::{FullUser, Order},
};
use crate::search::containing;

pub trait UserStore {
    fn user(&mut self, id: UserId) -> Result<User>;
    fn find_user(&mut self, id: UserId) -> Result<Option<User>>;
    /// Letter case does not matter.
    fn find_user_named(&mut self, username: &str) -> Result<Option<User>>;
    /// Letter case does not matter.
    fn find_user_with_email(&mut self, email: &str) -> Result<Option<User>>;
    /// All users of a page at once.
    fn users_by_id(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, User>>;
    fn users(&mut self, filter: &UserFilter, page: PageRequest) -> Result<Page<User>>;
    /// Everybody, the oldest account first.
    fn all_users(&mut self) -> Result<Vec<User>>;
    fn has_users(&mut self) -> Result<bool>;
    fn profile(&mut self, id: UserId) -> Result<Profile>;
    /// What the longer forms tell of people, in a fixed number of queries.
    fn full_users(&mut self, users: Vec<User>) -> Result<Vec<FullUser>>;
    fn keep_details(&mut self, id: UserId, details: &Details) -> Result<()>;
    fn keep_password(&mut self, id: UserId, hash: &str) -> Result<()>;
    /// Whether the account was still in the state `from`.
    fn move_user(&mut self, user: &User, to: State) -> Result<bool>;
    fn note_sign_in(&mut self, user: &User) -> Result<()>;
    /// Groups that would have no owner without this person.
    fn groups_owned_alone(&mut self, user: UserId) -> Result<Vec<NamespaceId>>;
    fn delete_user(&mut self, id: UserId) -> Result<()>;
}

impl UserStore for Tx<'_> {
    fn user(&mut self, id: UserId) -> Result<User> {
        let query = users::table.find(id);
        each_backend!(self, |conn| query
            .select(User::as_select())
            .get_result(conn)
            .map_err(error("User")))
    }

    fn find_user(&mut self, id: UserId) -> Result<Option<User>> {
        let query = users::table.find(id);
        each_backend!(self, |conn| query
            .select(User::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("User")))
    }

    fn find_user_named(&mut self, username: &str) -> Result<Option<User>> {
        let query = users::table.filter(users::username_key.eq(username.to_lowercase()));
        each_backend!(self, |conn| query
            .select(User::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("User")))
    }

    fn find_user_with_email(&mut self, email: &str) -> Result<Option<User>> {
        let query = users::table.filter(users::email_key.eq(email.to_lowercase()));
        each_backend!(self, |conn| query
            .select(User::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("User")))
    }

    fn users_by_id(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, User>> {
        let rows: Vec<User> = each_backend!(self, |conn| users::table
            .filter(users::id.eq_any(ids))
            .select(User::as_select())
            .load(conn)
            .map_err(error("User")))?;
        Ok(rows.into_iter().map(|user| (user.id, user)).collect())
    }

    #[expect(
        clippy::too_many_lines,
        reason = "one query, whose filters are compiled for each database"
    )]
    fn users(&mut self, filter: &UserFilter, page: PageRequest) -> Result<Page<User>> {
        if filter.nobody {
            return Ok(Page { items: Vec::new(), total: Total::Counted(0) });
        }
        let term = filter.search.as_deref().map(containing);
        let email = filter.search.as_deref().map(str::to_lowercase).unwrap_or_default();
        let key = filter.username.as_deref().map(str::to_lowercase);
        each_backend!(self, |conn| {
            let chosen = || {
                let mut query = users::table.into_boxed();
                if let Some(key) = &key {
                    query = query.filter(users::username_key.eq(key));
                }
                if let Some(term) = &term {
                    let named = lower(users::name)
                        .like(term)
                        .escape('\\')
                        .or(users::username_key.like(term).escape('\\'));
                    query = match filter.any_email {
                        true => query.filter(named.or(users::email_key.eq(&email))),
                        false => {
                            let public = lower(users::public_email.assume_not_null()).eq(&email);
                            query.filter(named.or(users::public_email.is_not_null().and(public)))
                        }
                    };
                }
                if filter.active {
                    query = query.filter(users::state.eq(State::Active));
                }
                if filter.blocked {
                    query = query.filter(users::state.eq_any([State::Blocked, State::LdapBlocked]));
                }
                if filter.external {
                    query = query.filter(users::external.eq(true));
                }
                if filter.exclude_external {
                    query = query.filter(users::external.eq(false));
                }
                if filter.without_bots {
                    query = query.filter(users::bot.eq(false));
                }
                if filter.without_projects {
                    let theirs = project_access::table
                        .filter(project_access::user_id.eq(users::id))
                        .select(project_access::project_id);
                    query = query.filter(diesel::dsl::not(diesel::dsl::exists(theirs)));
                }
                if filter.admins {
                    query = query.filter(users::admin.eq(true));
                }
                if let Some(after) = filter.created_after {
                    query = query.filter(users::created_at.ge(after));
                }
                if let Some(before) = filter.created_before {
                    query = query.filter(users::created_at.le(before));
                }
                query
            };
            let counted = chosen().select(diesel::dsl::sql::<Integer>("1")).limit(COUNT_LIMIT + 1);
            let total: i64 = CountOf(counted).get_result(conn).map_err(error("User"))?;
            let query = match (filter.order, filter.descending) {
                (Order::Id, false) => chosen().order_by(users::id.asc()),
                (Order::Id, true) => chosen().order_by(users::id.desc()),
                (Order::Name, false) => chosen().order_by(users::name.asc()),
                (Order::Name, true) => chosen().order_by(users::name.desc()),
                (Order::Username, false) => chosen().order_by(users::username.asc()),
                (Order::Username, true) => chosen().order_by(users::username.desc()),
                (Order::CreatedAt, false) => chosen().order_by(users::created_at.asc()),
                (Order::CreatedAt, true) => chosen().order_by(users::created_at.desc()),
                (Order::UpdatedAt, false) => chosen().order_by(users::updated_at.asc()),
                (Order::UpdatedAt, true) => chosen().order_by(users::updated_at.desc()),
            };
            let query = match filter.descending {
                true => query.then_order_by(users::id.desc()),
                false => query.then_order_by(users::id.asc()),
            };
            let items: Vec<User> = query
                .select(User::as_select())
                .limit(page.per_page)
                .offset(page.offset())
                .load(conn)
                .map_err(error("User"))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn all_users(&mut self) -> Result<Vec<User>> {
        let query = users::table.order(users::id);
        each_backend!(self, |conn| query
            .select(User::as_select())
            .load(conn)
            .map_err(error("User")))
    }

    fn has_users(&mut self) -> Result<bool> {
        let query = users::table.select(users::id).order(users::id).limit(1);
        let first: Option<UserId> =
            each_backend!(self, |conn| query.get_result(conn).optional().map_err(error("User")))?;
        Ok(first.is_some())
    }

    fn profile(&mut self, id: UserId) -> Result<Profile> {
        let query = user_profiles::table.find(id);
        let found: Option<Profile> = each_backend!(self, |conn| query
            .select(Profile::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("User")))?;
        Ok(found.unwrap_or_default())
    }

    fn full_users(&mut self, users: Vec<User>) -> Result<Vec<FullUser>> {
        let ids: Vec<UserId> = users.iter().map(|user| user.id).collect();
        let profiles: Vec<(UserId, Profile)> = each_backend!(self, |conn| user_profiles::table
            .filter(user_profiles::user_id.eq_any(&ids))
            .select((user_profiles::user_id, Profile::as_select()))
            .load(conn)
            .map_err(error("User")))?;
        let mut profiles: HashMap<UserId, Profile> = profiles.into_iter().collect();
        let homes: Vec<(Option<UserId>, NamespaceId)> =
            each_backend!(self, |conn| namespaces::table
                .filter(namespaces::owner_id.eq_any(&ids))
                .select((namespaces::owner_id, namespaces::id))
                .load(conn)
                .map_err(error("Namespace")))?;
        let homes: HashMap<Option<UserId>, NamespaceId> = homes.into_iter().collect();
        let creators: Vec<UserId> = users.iter().filter_map(|user| user.created_by).collect();
        let creators =
            if creators.is_empty() { HashMap::new() } else { self.users_by_id(&creators)? };
        let full = users.into_iter().map(|user| FullUser {
            profile: profiles.remove(&user.id).unwrap_or_default(),
            namespace_id: homes.get(&Some(user.id)).copied(),
            created_by: user.created_by.and_then(|id| creators.get(&id).cloned()),
            user,
        });
        Ok(full.collect())
    }

    fn keep_details(&mut self, id: UserId, details: &Details) -> Result<()> {
        let changes = (
            users::username.eq(&details.username),
            users::username_key.eq(details.username.to_lowercase()),
            users::name.eq(&details.name),
            users::email.eq(&details.email),
            users::email_key.eq(details.email.to_lowercase()),
            users::public_email.eq(&details.public_email),
            users::commit_email.eq(&details.commit_email),
            users::admin.eq(details.admin),
            users::external.eq(details.external),
            users::projects_limit.eq(details.projects_limit),
            users::can_create_group.eq(details.can_create_group),
            users::private_profile.eq(details.private_profile),
            users::note.eq(&details.note),
            users::updated_at.eq(self.now),
        );
        let row = diesel::update(users::table.find(id)).set(changes);
        each_backend!(self, |conn| row.execute(conn).map_err(error("User")))?;
        let row = diesel::update(user_profiles::table.find(id)).set(&details.profile);
        each_backend!(self, |conn| row.execute(conn).map_err(error("User")))?;
        Ok(())
    }

    fn keep_password(&mut self, id: UserId, hash: &str) -> Result<()> {
        let changes = (users::password_hash.eq(Some(hash)), users::updated_at.eq(self.now));
        let row = diesel::update(users::table.find(id)).set(changes);
        each_backend!(self, |conn| row.execute(conn).map_err(error("User")))?;
        Ok(())
    }

    fn move_user(&mut self, user: &User, to: State) -> Result<bool> {
        let row = users::table.find(user.id).filter(users::state.eq(user.state));
        let changes = (users::state.eq(to), users::updated_at.eq(self.now));
        let update = diesel::update(row).set(changes);
        let moved = each_backend!(self, |conn| update.execute(conn).map_err(error("User")))?;
        Ok(moved == 1)
    }

    fn note_sign_in(&mut self, user: &User) -> Result<()> {
        let changes = (
            users::last_sign_in_at.eq(user.current_sign_in_at.or(Some(self.now))),
            users::current_sign_in_at.eq(Some(self.now)),
            users::last_activity_at.eq(Some(self.now)),
            users::sign_in_count.eq(users::sign_in_count + 1),
        );
        let update = diesel::update(users::table.find(user.id)).set(changes);
        each_backend!(self, |conn| update.execute(conn).map_err(error("User")))?;
        Ok(())
    }

    fn groups_owned_alone(&mut self, user: UserId) -> Result<Vec<NamespaceId>> {
        let others = diesel::alias!(members as others);
        let owner = AccessLevel::Owner;
        each_backend!(self, |conn| {
            let other_owner = others
                .filter(others.field(members::namespace_id).eq(members::namespace_id))
                .filter(others.field(members::access_level).eq(owner))
                .filter(others.field(members::user_id).ne(user))
                .select(others.field(members::id));
            members::table
                .inner_join(
                    namespaces::table.on(namespaces::id.nullable().eq(members::namespace_id)),
                )
                .filter(members::user_id.eq(user))
                .filter(members::access_level.eq(owner))
                .filter(namespaces::deleted_at.is_null())
                .filter(diesel::dsl::not(diesel::dsl::exists(other_owner)))
                .select(namespaces::id)
                .load(conn)
                .map_err(error("Group"))
        })
    }

    fn delete_user(&mut self, id: UserId) -> Result<()> {
        let gone = diesel::delete(users::table.find(id));
        each_backend!(self, |conn| gone.execute(conn).map_err(error("User")))?;
        Ok(())
    }
}
