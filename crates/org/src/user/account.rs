//! What is kept of an account beside its row: settings, addresses of sign-ins, accounts elsewhere, and the longer
//! forms of people that are put together from all of it.

use std::collections::{HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{
        namespaces, user_accounts, user_follows, user_identities, user_preferences, user_profiles,
    },
};
use diesel::{dsl::count_star, prelude::*};
use kernel::{
    Result,
    ids::{NamespaceId, UserId},
};

use super::{
    Details, Profile, User, full,
    model::{Account, ExternalIdentity, FullUser},
    store::UserStore,
};

pub trait AccountStore {
    fn insert_account(&mut self, id: UserId) -> Result<()>;
    fn account(&mut self, id: UserId) -> Result<Account>;
    fn save_account(&mut self, id: UserId, details: &Details) -> Result<()>;
    fn save_two_factor(&mut self, id: UserId, two_factor: bool) -> Result<()>;
    /// What the longer forms tell a reader of people, in a fixed number of queries.
    fn full_users(&mut self, users: Vec<User>, reader: Option<UserId>) -> Result<Vec<FullUser>>;
    /// One person by one statement, with who made the account where that is wanted.
    fn full_user(
        &mut self,
        id: UserId,
        reader: Option<UserId>,
        with_creator: bool,
    ) -> Result<FullUser>;
    /// Gives somebody an account elsewhere, in place of another one with the same provider.
    fn save_identity(&mut self, id: UserId, identity: &ExternalIdentity) -> Result<()>;
    /// Whose account elsewhere this is.
    fn find_identity(&mut self, identity: &ExternalIdentity) -> Result<Option<UserId>>;
    /// How many accounts with this provider somebody had.
    fn delete_identity(&mut self, id: UserId, provider: &str) -> Result<usize>;
}

impl AccountStore for Tx<'_> {
    fn insert_account(&mut self, id: UserId) -> Result<()> {
        let row = (
            user_accounts::user_id.eq(id),
            user_accounts::auditor.eq(false),
            user_accounts::two_factor.eq(false),
        );
        let insert = diesel::insert_into(user_accounts::table).values(row);
        each_backend!(self, |conn| insert
            .on_conflict_do_nothing()
            .execute(conn)
            .map_err(error("User")))?;
        Ok(())
    }

    fn account(&mut self, id: UserId) -> Result<Account> {
        let query = user_accounts::table.find(id);
        let found: Option<Account> = each_backend!(self, |conn| query
            .select(Account::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("User")))?;
        Ok(found.unwrap_or_default())
    }

    fn save_account(&mut self, id: UserId, details: &Details) -> Result<()> {
        self.insert_account(id)?;
        let changes = (
            user_accounts::auditor.eq(details.auditor),
            user_accounts::shared_runners_minutes_limit.eq(details.shared_runners_minutes_limit),
            user_accounts::extra_shared_runners_minutes_limit
                .eq(details.extra_shared_runners_minutes_limit),
            user_accounts::provisioned_by_group_id.eq(details.provisioned_by_group_id),
        );
        let row = diesel::update(user_accounts::table.find(id)).set(changes);
        each_backend!(self, |conn| row.execute(conn).map_err(error("User")))?;
        match details.view_diffs_file_by_file {
            Some(one_by_one) => save_view_of_diffs(self, id, one_by_one),
            None => Ok(()),
        }
    }

    fn save_two_factor(&mut self, id: UserId, two_factor: bool) -> Result<()> {
        self.insert_account(id)?;
        let row = diesel::update(user_accounts::table.find(id))
            .set(user_accounts::two_factor.eq(two_factor));
        each_backend!(self, |conn| row.execute(conn).map_err(error("User")))?;
        Ok(())
    }

    fn full_users(&mut self, users: Vec<User>, reader: Option<UserId>) -> Result<Vec<FullUser>> {
        if let [user] = &users[..] {
            return Ok(vec![full::one(self, user.id, reader, true)?]);
        }
        let ids: Vec<UserId> = users.iter().map(|user| user.id).collect();
        let mut profiles = profiles(self, &ids)?;
        let mut accounts = accounts(self, &ids)?;
        let mut identities = identities(self, &ids)?;
        let homes = homes(self, &ids)?;
        let followers = followers(self, &ids)?;
        let following = following(self, &ids)?;
        let followed = followed(self, &ids, reader)?;
        let creators: Vec<UserId> = users.iter().filter_map(|user| user.created_by).collect();
        let creators =
            if creators.is_empty() { HashMap::new() } else { self.users_by_id(&creators)? };
        let full = users.into_iter().map(|user| FullUser {
            profile: profiles.remove(&user.id).unwrap_or_default(),
            namespace_id: homes.get(&Some(user.id)).copied(),
            created_by: user.created_by.and_then(|id| creators.get(&id).cloned()),
            account: accounts.remove(&user.id).unwrap_or_default(),
            identities: identities.remove(&user.id).unwrap_or_default(),
            followers: followers.get(&user.id).copied().unwrap_or_default(),
            following: following.get(&user.id).copied().unwrap_or_default(),
            is_followed: followed.contains(&user.id),
            user,
        });
        Ok(full.collect())
    }

    fn full_user(
        &mut self,
        id: UserId,
        reader: Option<UserId>,
        with_creator: bool,
    ) -> Result<FullUser> {
        full::one(self, id, reader, with_creator)
    }

    fn save_identity(&mut self, id: UserId, identity: &ExternalIdentity) -> Result<()> {
        self.delete_identity(id, &identity.provider)?;
        let row = (
            user_identities::user_id.eq(id),
            user_identities::provider.eq(&identity.provider),
            user_identities::extern_uid.eq(&identity.extern_uid),
            user_identities::saml_provider_id.eq(identity.saml_provider_id),
            user_identities::created_at.eq(self.now),
            user_identities::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(user_identities::table).values(row);
        each_backend!(self, |conn| insert.execute(conn).map_err(error("Identity")))?;
        Ok(())
    }

    fn find_identity(&mut self, identity: &ExternalIdentity) -> Result<Option<UserId>> {
        let query = user_identities::table
            .filter(user_identities::provider.eq(&identity.provider))
            .filter(user_identities::extern_uid.eq(&identity.extern_uid))
            .select((user_identities::user_id, user_identities::saml_provider_id));
        let found: Vec<(UserId, Option<i64>)> =
            each_backend!(self, |conn| query.load(conn).map_err(error("Identity")))?;
        let same = found.into_iter().find(|(_, provider)| *provider == identity.saml_provider_id);
        Ok(same.map(|(user, _)| user))
    }

    fn delete_identity(&mut self, id: UserId, provider: &str) -> Result<usize> {
        let rows = user_identities::table
            .filter(user_identities::user_id.eq(id))
            .filter(user_identities::provider.eq(provider));
        each_backend!(self, |conn| diesel::delete(rows).execute(conn).map_err(error("Identity")))
    }
}

fn save_view_of_diffs(tx: &mut Tx<'_>, id: UserId, one_by_one: bool) -> Result<()> {
    let row = (
        user_preferences::user_id.eq(id),
        user_preferences::view_diffs_file_by_file.eq(one_by_one),
        user_preferences::show_whitespace_in_diffs.eq(true),
    );
    let insert = diesel::insert_into(user_preferences::table).values(row);
    each_backend!(tx, |conn| insert
        .on_conflict(user_preferences::user_id)
        .do_update()
        .set(user_preferences::view_diffs_file_by_file.eq(one_by_one))
        .execute(conn)
        .map_err(error("User")))?;
    Ok(())
}

fn profiles(tx: &mut Tx<'_>, ids: &[UserId]) -> Result<HashMap<UserId, Profile>> {
    let rows: Vec<(UserId, Profile)> = each_backend!(tx, |conn| user_profiles::table
        .filter(user_profiles::user_id.one_of(ids))
        .select((user_profiles::user_id, Profile::as_select()))
        .load(conn)
        .map_err(error("User")))?;
    Ok(rows.into_iter().collect())
}

fn accounts(tx: &mut Tx<'_>, ids: &[UserId]) -> Result<HashMap<UserId, Account>> {
    let rows: Vec<(UserId, Account)> = each_backend!(tx, |conn| user_accounts::table
        .filter(user_accounts::user_id.one_of(ids))
        .select((user_accounts::user_id, Account::as_select()))
        .load(conn)
        .map_err(error("User")))?;
    Ok(rows.into_iter().collect())
}

fn identities(tx: &mut Tx<'_>, ids: &[UserId]) -> Result<HashMap<UserId, Vec<ExternalIdentity>>> {
    let rows: Vec<(UserId, ExternalIdentity)> = each_backend!(tx, |conn| user_identities::table
        .filter(user_identities::user_id.one_of(ids))
        .order(user_identities::id)
        .select((user_identities::user_id, ExternalIdentity::as_select()))
        .load(conn)
        .map_err(error("Identity")))?;
    let mut each: HashMap<UserId, Vec<ExternalIdentity>> = HashMap::new();
    for (user, identity) in rows {
        each.entry(user).or_default().push(identity);
    }
    Ok(each)
}

fn followers(tx: &mut Tx<'_>, ids: &[UserId]) -> Result<HashMap<UserId, i64>> {
    let rows: Vec<(UserId, i64)> = each_backend!(tx, |conn| user_follows::table
        .filter(user_follows::followee_id.one_of(ids))
        .group_by(user_follows::followee_id)
        .select((user_follows::followee_id, count_star()))
        .load(conn)
        .map_err(error("User")))?;
    Ok(rows.into_iter().collect())
}

fn following(tx: &mut Tx<'_>, ids: &[UserId]) -> Result<HashMap<UserId, i64>> {
    let rows: Vec<(UserId, i64)> = each_backend!(tx, |conn| user_follows::table
        .filter(user_follows::follower_id.one_of(ids))
        .group_by(user_follows::follower_id)
        .select((user_follows::follower_id, count_star()))
        .load(conn)
        .map_err(error("User")))?;
    Ok(rows.into_iter().collect())
}

/// Whom of these people somebody follows.
fn followed(tx: &mut Tx<'_>, ids: &[UserId], by: Option<UserId>) -> Result<HashSet<UserId>> {
    let Some(by) = by else { return Ok(HashSet::new()) };
    let rows: Vec<UserId> = each_backend!(tx, |conn| user_follows::table
        .filter(user_follows::follower_id.eq(by))
        .filter(user_follows::followee_id.one_of(ids))
        .select(user_follows::followee_id)
        .load(conn)
        .map_err(error("User")))?;
    Ok(rows.into_iter().collect())
}

fn homes(tx: &mut Tx<'_>, ids: &[UserId]) -> Result<HashMap<Option<UserId>, NamespaceId>> {
    let rows: Vec<(Option<UserId>, NamespaceId)> = each_backend!(tx, |conn| namespaces::table
        .filter(namespaces::owner_id.one_of(ids))
        .select((namespaces::owner_id, namespaces::id))
        .load(conn)
        .map_err(error("Namespace")))?;
    Ok(rows.into_iter().collect())
}
