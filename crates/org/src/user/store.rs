//! Reading and keeping people.

use std::{
    collections::{HashMap, HashSet},
    net::IpAddr,
};

use db::{
    Conn, OneOf as _, Tx, each_backend, error,
    schema::{members, namespaces, user_accounts, user_profiles, user_sessions, users},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Result, Ts,
    ids::{NamespaceId, UserId},
};

use super::{Details, Profile, State, User, UserSummary, account::AccountStore};
use crate::{
    access::{self, seats},
    expiry::living,
};

/// Users whose rows one statement holds.
const HELD_AT_ONCE: usize = 400;

pub trait UserStore {
    fn user(&mut self, id: UserId) -> Result<User>;
    fn find_user(&mut self, id: UserId) -> Result<Option<User>>;
    /// Letter case does not matter.
    fn find_user_named(&mut self, username: &str) -> Result<Option<User>>;
    /// Letter case does not matter.
    fn find_user_with_email(&mut self, email: &str) -> Result<Option<User>>;
    /// As [`find_user_with_email`](Self::find_user_with_email), of many addresses at once: the users by their primary
    /// addresses in small letters.
    fn users_by_email(&mut self, emails: &[String]) -> Result<HashMap<String, User>>;
    /// All users of a page at once.
    fn users_by_id(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, User>>;
    /// As [`users_by_id`](Self::users_by_id), with no more than records of other things show.
    fn summaries_by_id(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, UserSummary>>;
    /// Those of these users who are there; none of them is removed before this transaction ends.
    fn hold_users(&mut self, ids: &[UserId]) -> Result<HashSet<UserId>>;
    /// Everybody, the oldest account first.
    fn all_users(&mut self) -> Result<Vec<User>>;
    fn has_users(&mut self) -> Result<bool>;
    /// Those who may act as administrators now.
    fn administrators(&mut self) -> Result<Vec<UserId>>;
    fn profile(&mut self, id: UserId) -> Result<Profile>;
    fn save_details(&mut self, id: UserId, details: &Details) -> Result<()>;
    /// A password that is good until `expires_at`, if ever it ends.
    fn save_password(&mut self, id: UserId, hash: &str, expires_at: Option<Ts>) -> Result<()>;
    fn save_confirmed(&mut self, id: UserId, at: Option<Ts>) -> Result<()>;
    /// The address that becomes the primary one once it is confirmed.
    fn save_unconfirmed_address(&mut self, id: UserId, address: Option<&str>) -> Result<()>;
    /// Makes an address the primary one; the one before is shown nowhere any more.
    fn move_address(&mut self, user: &User, address: &str) -> Result<()>;
    /// Whether the account was still in the state `from`.
    fn move_user(&mut self, user: &User, to: State) -> Result<bool>;
    /// Notes when and from where somebody signed in.
    fn record_sign_in(&mut self, user: &User, address: Option<IpAddr>) -> Result<()>;
    /// Notes that somebody used the account.
    fn record_activity(&mut self, user: UserId) -> Result<()>;
    /// Groups that would have no owner without this person, each after those that it lies in.
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

    fn users_by_email(&mut self, emails: &[String]) -> Result<HashMap<String, User>> {
        let keys: Vec<String> = emails.iter().map(|email| email.to_lowercase()).collect();
        let rows: Vec<User> = each_backend!(self, |conn| users::table
            .filter(users::email_key.one_of(&keys))
            .select(User::as_select())
            .load(conn)
            .map_err(error("User")))?;
        Ok(rows.into_iter().map(|user| (user.email.to_lowercase(), user)).collect())
    }

    fn users_by_id(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, User>> {
        let rows: Vec<User> = each_backend!(self, |conn| users::table
            .filter(users::id.one_of(ids))
            .select(User::as_select())
            .load(conn)
            .map_err(error("User")))?;
        Ok(rows.into_iter().map(|user| (user.id, user)).collect())
    }

    fn summaries_by_id(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, UserSummary>> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let rows: Vec<UserSummary> = each_backend!(self, |conn| users::table
            .filter(users::id.one_of(ids))
            .select(UserSummary::as_select())
            .load(conn)
            .map_err(error("User")))?;
        Ok(rows.into_iter().map(|user| (user.id, user)).collect())
    }

    fn hold_users(&mut self, ids: &[UserId]) -> Result<HashSet<UserId>> {
        let mut held = HashSet::new();
        for some in ids.chunks(HELD_AT_ONCE) {
            let rows = users::table.filter(users::id.one_of(some)).order(users::id);
            let rows = rows.select(users::id);
            let found: Vec<UserId> = match &mut self.conn {
                Conn::Postgres(conn) => {
                    rows.for_key_share().load(&mut **conn).map_err(error("User"))?
                }
                // There is one writer.
                Conn::Sqlite(_) => {
                    each_backend!(self, |conn| rows.load(conn).map_err(error("User")))?
                }
            };
            held.extend(found);
        }
        Ok(held)
    }

    fn all_users(&mut self) -> Result<Vec<User>> {
        let query = users::table.order(users::id);
        each_backend!(self, |conn| query
            .select(User::as_select())
            .load(conn)
            .map_err(error("User")))
    }

    fn administrators(&mut self) -> Result<Vec<UserId>> {
        let rule = users::admin.eq(true).and(users::state.eq(State::Active));
        let found = users::table.filter(rule).order(users::id).select(users::id);
        each_backend!(self, |conn| found.load(conn).map_err(error("User")))
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

    fn save_details(&mut self, id: UserId, details: &Details) -> Result<()> {
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
        self.save_account(id, details)
    }

    fn save_password(&mut self, id: UserId, hash: &str, expires_at: Option<Ts>) -> Result<()> {
        let changes = (
            users::password_hash.eq(Some(hash)),
            users::password_expires_at.eq(expires_at),
            users::updated_at.eq(self.now),
        );
        let row = diesel::update(users::table.find(id)).set(changes);
        each_backend!(self, |conn| row.execute(conn).map_err(error("User")))?;
        // Who knew the old password may have been somebody else.
        let signed_in = user_sessions::table.filter(user_sessions::user_id.eq(id));
        each_backend!(self, |conn| diesel::delete(signed_in).execute(conn).map_err(error("User")))?;
        Ok(())
    }

    fn save_confirmed(&mut self, id: UserId, at: Option<Ts>) -> Result<()> {
        let row = diesel::update(users::table.find(id)).set(users::confirmed_at.eq(at));
        each_backend!(self, |conn| row.execute(conn).map_err(error("User")))?;
        Ok(())
    }

    fn save_unconfirmed_address(&mut self, id: UserId, address: Option<&str>) -> Result<()> {
        self.insert_account(id)?;
        let row = diesel::update(user_accounts::table.find(id))
            .set(user_accounts::unconfirmed_email.eq(address));
        each_backend!(self, |conn| row.execute(conn).map_err(error("User")))?;
        Ok(())
    }

    fn move_address(&mut self, user: &User, address: &str) -> Result<()> {
        let kept = |shown: &Option<String>| {
            shown.clone().filter(|shown| !shown.eq_ignore_ascii_case(&user.email))
        };
        let changes = (
            users::email.eq(address),
            users::email_key.eq(address.to_lowercase()),
            users::public_email.eq(kept(&user.public_email)),
            users::commit_email.eq(kept(&user.commit_email)),
            users::updated_at.eq(self.now),
        );
        let row = diesel::update(users::table.find(user.id)).set(changes);
        each_backend!(self, |conn| row.execute(conn).map_err(error("User")))?;
        Ok(())
    }

    fn move_user(&mut self, user: &User, to: State) -> Result<bool> {
        access::lock_access_projection(self)?;
        let row = users::table.find(user.id).filter(users::state.eq(user.state));
        let changes = (users::state.eq(to), users::updated_at.eq(self.now));
        let update = diesel::update(row).set(changes);
        let moved = each_backend!(self, |conn| update.execute(conn).map_err(error("User")))?;
        if moved == 1 {
            seats::set_counted(self, user.id, to == State::Active && !user.bot)?;
        }
        Ok(moved == 1)
    }

    fn record_sign_in(&mut self, user: &User, address: Option<IpAddr>) -> Result<()> {
        let changes = (
            users::last_sign_in_at.eq(user.current_sign_in_at.or(Some(self.now))),
            users::current_sign_in_at.eq(Some(self.now)),
            users::last_activity_at.eq(Some(self.now)),
            users::sign_in_count.eq(users::sign_in_count + 1),
        );
        let update = diesel::update(users::table.find(user.id)).set(changes);
        each_backend!(self, |conn| update.execute(conn).map_err(error("User")))?;
        let before = self.account(user.id)?.current_sign_in_ip;
        let current = address.map(|address| address.to_string());
        let changes = (
            user_accounts::last_sign_in_ip.eq(before.or(current.clone())),
            user_accounts::current_sign_in_ip.eq(current),
        );
        let update = diesel::update(user_accounts::table.find(user.id)).set(changes);
        each_backend!(self, |conn| update.execute(conn).map_err(error("User")))?;
        Ok(())
    }

    fn record_activity(&mut self, user: UserId) -> Result<()> {
        let active = users::last_activity_at.eq(Some(self.now));
        let update = diesel::update(users::table.find(user)).set(active);
        each_backend!(self, |conn| update.execute(conn).map_err(error("User")))?;
        Ok(())
    }

    fn groups_owned_alone(&mut self, user: UserId) -> Result<Vec<NamespaceId>> {
        let others = diesel::alias!(members as others);
        let (owner, now) = (AccessLevel::Owner, self.now);
        each_backend!(self, |conn| {
            let ends = others.field(members::expires_at);
            let bots = users::table
                .filter(users::id.eq(others.field(members::user_id)))
                .filter(users::bot)
                .select(users::id);
            let other_owner = others
                .filter(others.field(members::namespace_id).eq(members::namespace_id))
                .filter(ends.is_null().or(ends.gt(now)))
                .filter(diesel::dsl::not(diesel::dsl::exists(bots)))
                .filter(others.field(members::access_level).eq(owner))
                .filter(others.field(members::user_id).ne(user))
                .select(others.field(members::id));
            members::table
                .inner_join(
                    namespaces::table.on(namespaces::id.nullable().eq(members::namespace_id)),
                )
                .filter(members::user_id.eq(user))
                .filter(members::access_level.eq(owner))
                .filter(living!(members, now))
                .filter(namespaces::deleted_at.is_null())
                .filter(diesel::dsl::not(diesel::dsl::exists(other_owner)))
                .order(namespaces::path_key)
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
