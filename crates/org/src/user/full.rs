//! The longer form of one person by one statement: nearly every client begins by asking who it is.

use db::{
    Tx, each_backend, error,
    schema::{namespaces, user_accounts, user_follows, user_identities, user_profiles, users},
};
use diesel::{dsl::exists, prelude::*};
use kernel::{
    Result,
    ids::{NamespaceId, UserId},
};

use super::{
    Profile, User,
    model::{Account, ExternalIdentity, FullUser},
    store::UserStore,
};

/// Stands for readers without an id: nobody has this one.
const NOBODY: UserId = UserId(0);

/// Columns kept beside a user's row.
#[derive(Queryable)]
struct Row {
    user: User,
    profile: Option<Profile>,
    account: Option<Account>,
    namespace_id: Option<NamespaceId>,
    followers: Option<i64>,
    following: Option<i64>,
    is_followed: bool,
    has_identities: bool,
}

/// A person as `reader` sees them. Who made the account takes a further question, and few are told.
pub(super) fn one(
    tx: &mut Tx<'_>,
    id: UserId,
    reader: Option<UserId>,
    with_creator: bool,
) -> Result<FullUser> {
    let row = row(tx, id, reader.unwrap_or(NOBODY))?;
    Ok(FullUser {
        profile: row.profile.unwrap_or_default(),
        namespace_id: row.namespace_id,
        created_by: match row.user.created_by.filter(|_| with_creator) {
            Some(creator) => tx.find_user(creator)?,
            None => None,
        },
        account: row.account.unwrap_or_default(),
        identities: match row.has_identities {
            true => identities(tx, id)?,
            false => Vec::new(),
        },
        followers: row.followers.unwrap_or_default(),
        following: row.following.unwrap_or_default(),
        is_followed: row.is_followed,
        user: row.user,
    })
}

fn row(tx: &mut Tx<'_>, id: UserId, reader: UserId) -> Result<Row> {
    let followers = user_follows::table.filter(user_follows::followee_id.eq(id)).count();
    let following = user_follows::table.filter(user_follows::follower_id.eq(id)).count();
    let followed = user_follows::table
        .filter(user_follows::follower_id.eq(reader))
        .filter(user_follows::followee_id.eq(id));
    let identities = user_identities::table.filter(user_identities::user_id.eq(id));
    let query = users::table
        .left_join(user_profiles::table.on(user_profiles::user_id.eq(users::id)))
        .left_join(user_accounts::table.on(user_accounts::user_id.eq(users::id)))
        .left_join(namespaces::table.on(namespaces::owner_id.eq(users::id.nullable())))
        .filter(users::id.eq(id));
    each_backend!(tx, |conn| query
        .select((
            User::as_select(),
            Option::<Profile>::as_select(),
            Option::<Account>::as_select(),
            namespaces::id.nullable(),
            followers.single_value(),
            following.single_value(),
            exists(followed),
            exists(identities),
        ))
        .first(conn)
        .map_err(error("User")))
}

fn identities(tx: &mut Tx<'_>, id: UserId) -> Result<Vec<ExternalIdentity>> {
    let query =
        user_identities::table.filter(user_identities::user_id.eq(id)).order(user_identities::id);
    each_backend!(tx, |conn| query
        .select(ExternalIdentity::as_select())
        .load(conn)
        .map_err(error("Identity")))
}
