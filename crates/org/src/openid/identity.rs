//! The claims about a user.

use db::{
    Tx, each_backend, error,
    schema::{members, namespaces},
};
use diesel::prelude::*;
use kernel::{Result, ids::UserId};

use crate::{
    email::store::EmailStore as _,
    token::{Scope, Scopes},
    user::{User, store::UserStore as _},
};

/// Groups that are named at most.
const MOST_GROUPS: i64 = 1_000;

/// Somebody, as far as the scopes of a token let an application know them.
#[derive(Clone, Debug)]
pub struct Identity {
    pub user: User,
    /// The primary address for those who may know it, else the public one, with whether it was confirmed.
    pub email: Option<(String, bool)>,
    pub website: Option<String>,
    /// Full paths of the groups that they are a direct member of, in alphabetical order.
    pub groups: Vec<String>,
}

impl Identity {
    /// # Errors
    /// When the database cannot be read.
    pub fn load(tx: &mut Tx<'_>, user: UserId, scopes: &Scopes) -> Result<Self> {
        let user = tx.user(user)?;
        let is_known = scopes.has(Scope::Email);
        let email = match (is_known, &user.public_email) {
            (true, _) => Some((user.email.clone(), user.confirmed_at.is_some())),
            (false, Some(public)) if !public.is_empty() => {
                let holder = tx.find_confirmed_holder(public)?;
                Some((public.clone(), holder == Some(user.id)))
            }
            (false, _) => None,
        };
        let website = tx.profile(user.id)?.website_url;
        let groups = groups_of(tx, user.id)?;
        Ok(Self { website: Some(website).filter(|url| !url.is_empty()), email, groups, user })
    }
}

fn groups_of(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<String>> {
    let now = tx.now;
    let paths = members::table
        .inner_join(namespaces::table.on(members::namespace_id.eq(namespaces::id.nullable())))
        .filter(members::user_id.eq(user))
        .filter(members::awaiting_level.is_null())
        .filter(members::expires_at.is_null().or(members::expires_at.gt(now).assume_not_null()))
        .order(namespaces::path_key)
        .limit(MOST_GROUPS)
        .select(namespaces::full_path);
    each_backend!(tx, |conn| paths.load(conn).map_err(error("Group")))
}
