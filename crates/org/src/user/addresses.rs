//! The owners of e-mail addresses, with whom the authors of commits are compared.

use std::collections::{HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{user_emails, users},
};
use diesel::prelude::*;
use kernel::{Result, ids::UserId};

use super::{
    private_address::{private_address, private_id},
    store::UserStore,
};

/// An address of a person, and whether they have shown that it is theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub email: String,
    pub confirmed: bool,
}

/// Which of these addresses, all in small letters, belong to somebody.
pub fn known(tx: &mut Tx<'_>, emails: &[String], host: &str) -> Result<HashSet<String>> {
    let primary = users::table.filter(users::email_key.one_of(emails)).select(users::email_key);
    let found: Vec<String> = each_backend!(tx, |conn| primary.load(conn).map_err(error("User")))?;
    let mut known: HashSet<String> = found.into_iter().collect();
    let further = user_emails::table
        .filter(user_emails::email_key.one_of(emails))
        .select(user_emails::email_key);
    let found: Vec<String> = each_backend!(tx, |conn| further.load(conn).map_err(error("Email")))?;
    known.extend(found);
    let private: Vec<(UserId, &String)> =
        emails.iter().filter_map(|email| Some((private_id(email, host)?, email))).collect();
    if !private.is_empty() {
        let ids: Vec<UserId> = private.iter().map(|(id, _)| *id).collect();
        let people = tx.users_by_id(&ids)?;
        let theirs = private.into_iter().filter(|(id, _)| people.contains_key(id));
        known.extend(theirs.map(|(_, email)| email.clone()));
    }
    Ok(known)
}

/// Whose these addresses are, all in small letters, where somebody has shown that one is theirs.
pub fn holders(tx: &mut Tx<'_>, emails: &[String], host: &str) -> Result<HashMap<String, UserId>> {
    let primary = users::table
        .filter(users::email_key.one_of(emails).and(users::confirmed_at.is_not_null()))
        .select((users::email_key, users::id));
    let mut all: Vec<(String, UserId)> =
        each_backend!(tx, |conn| primary.load(conn).map_err(error("User")))?;
    let further = user_emails::table
        .filter(user_emails::email_key.one_of(emails).and(user_emails::confirmed_at.is_not_null()))
        .select((user_emails::email_key, user_emails::user_id));
    let further: Vec<(String, UserId)> =
        each_backend!(tx, |conn| further.load(conn).map_err(error("Email")))?;
    all.extend(further);
    let private = emails.iter().filter_map(|email| Some((email.clone(), private_id(email, host)?)));
    all.extend(private);
    Ok(all.into_iter().collect())
}

/// Every address of a person.
pub fn of(tx: &mut Tx<'_>, user: UserId, host: &str) -> Result<Vec<Address>> {
    let user = tx.user(user)?;
    let private = private_address(user.id, &user.username, host);
    let further = user_emails::table
        .filter(user_emails::user_id.eq(user.id))
        .select((user_emails::email, user_emails::confirmed_at.is_not_null()));
    let further: Vec<(String, bool)> =
        each_backend!(tx, |conn| further.load(conn).map_err(error("Email")))?;
    let mut addresses = vec![
        Address { confirmed: user.confirmed_at.is_some(), email: user.email },
        Address { confirmed: true, email: private },
    ];
    addresses.extend(further.into_iter().map(|(email, confirmed)| Address { email, confirmed }));
    Ok(addresses)
}
