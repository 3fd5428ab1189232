//! People by what they are called, many at once.

use std::collections::HashMap;

use db::{OneOf as _, Tx, each_backend, error, schema::users};
use diesel::prelude::*;
use kernel::{Result, ids::UserId};

use super::{User, store::UserStore as _};

/// The people of these names, by the names as they were given; letter case does not matter.
pub fn ids_of(tx: &mut Tx<'_>, names: &[String]) -> Result<HashMap<String, UserId>> {
    let keys: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let rows = users::table
        .filter(users::username_key.one_of(&keys))
        .select((users::username_key, users::id));
    let rows: Vec<(String, UserId)> =
        each_backend!(tx, |conn| rows.load(conn).map_err(error("User")))?;
    let by_key: HashMap<String, UserId> = rows.into_iter().collect();
    let found = names.iter().zip(&keys);
    Ok(found.filter_map(|(name, key)| Some((name.clone(), *by_key.get(key)?))).collect())
}

/// The id of nobody, for filters that name somebody who is not there.
const NOBODY: UserId = UserId(0);

/// The person of this name.
pub fn person(tx: &mut Tx<'_>, name: &str) -> Result<Option<UserId>> {
    Ok(ids_of(tx, &[name.to_owned()])?.into_values().next())
}

pub fn person_or_nobody(tx: &mut Tx<'_>, name: &str) -> Result<UserId> {
    Ok(person(tx, name)?.unwrap_or(NOBODY))
}

/// Each of these people; who is unknown is nobody.
pub fn all_people(tx: &mut Tx<'_>, given: &[String]) -> Result<Vec<UserId>> {
    let found = ids_of(tx, given)?;
    Ok(given.iter().map(|name| found.get(name).copied().unwrap_or(NOBODY)).collect())
}

/// Those of these people who are there.
pub fn known_people(tx: &mut Tx<'_>, given: &[String]) -> Result<Vec<UserId>> {
    Ok(ids_of(tx, given)?.into_values().collect())
}

/// The people with these ids, without bots and the installation's own accounts. Imports find people by names and addresses
/// that somebody else gives: as a member or author a bot would open to its token what is another person's.
pub fn people_by_id(tx: &mut Tx<'_>, ids: &[UserId]) -> Result<HashMap<UserId, User>> {
    let mut users = tx.users_by_id(ids)?;
    users.retain(|_, user| user.is_person());
    Ok(users)
}

/// What people are called.
pub fn names_of(tx: &mut Tx<'_>, people: &[UserId]) -> Result<HashMap<UserId, String>> {
    let rows = users::table.filter(users::id.one_of(people)).select((users::id, users::username));
    let rows: Vec<(UserId, String)> =
        each_backend!(tx, |conn| rows.load(conn).map_err(error("User")))?;
    Ok(rows.into_iter().collect())
}
