//! Accounts of the installation itself, with which nobody signs in. Each is made when it is first needed.

use db::{Tx, each_backend, error, schema::users};
use diesel::prelude::*;
use kernel::Result;
use serde::{Deserialize, Serialize};

use super::{
    User,
    account::AccountStore,
    actions::{NewUser, create},
    store::UserStore,
};
use crate::namespace::store::NamespaceStore;

const NOUN: &str = "User";

/// What an account of the installation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InternalKind {
    Ghost,
    AlertBot,
}

impl InternalKind {
    /// Nothing for whoever is not of the installation.
    pub fn of(user: &User) -> Option<Self> {
        let kind = if user.bot { Self::AlertBot } else { Self::Ghost };
        user.internal.then_some(kind)
    }

    /// The account for it, which is made where there is none yet.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn account(self, tx: &mut Tx<'_>) -> Result<User> {
        match self {
            Self::Ghost => ghost(tx),
            Self::AlertBot => alert_bot(tx),
        }
    }
}

/// The account under whose name stays what removed people wrote.
pub fn ghost(tx: &mut Tx<'_>) -> Result<User> {
    let bio = "This is a \"Ghost User\", created to hold what was written by people who have since been removed. \
               It cannot be removed.";
    find_or_make(tx, false, "ghost", "Ghost User", bio)
}

/// The account that opens incidents for alerts.
pub fn alert_bot(tx: &mut Tx<'_>) -> Result<User> {
    find_or_make(tx, true, "alert-bot", "Alert Bot", "Opens incidents for alerts of monitors.")
}

/// The one that is a bot, or the one that is none: there are no others.
fn find_or_make(
    tx: &mut Tx<'_>,
    is_bot: bool,
    username: &str,
    name: &str,
    bio: &str,
) -> Result<User> {
    let query = users::table.filter(users::internal.and(users::bot.eq(is_bot))).order(users::id);
    let found: Option<User> = each_backend!(tx, |conn| query
        .select(User::as_select())
        .first(conn)
        .optional()
        .map_err(error(NOUN)))?;
    if let Some(user) = found {
        return Ok(user);
    }
    let username = free_name(tx, username)?;
    let new = NewUser {
        name: name.to_owned(),
        email: format!("{username}@noreply.localhost"),
        bot: is_bot,
        ..NewUser::named(&username)
    };
    let user = create(tx, &new)?;
    let mut details = super::Details::of(&user, tx.profile(user.id)?, &tx.account(user.id)?);
    details.can_create_group = false;
    details.projects_limit = 0;
    bio.clone_into(&mut details.profile.bio);
    tx.save_details(user.id, &details)?;
    let row = diesel::update(users::table.find(user.id)).set(users::internal.eq(true));
    each_backend!(tx, |conn| row.execute(conn).map_err(error(NOUN)))?;
    tx.user(user.id)
}

fn free_name(tx: &mut Tx<'_>, wanted: &str) -> Result<String> {
    let mut number = 0;
    loop {
        let name = if number == 0 { wanted.to_owned() } else { format!("{wanted}{number}") };
        if tx.find_user_named(&name)?.is_none() && !tx.is_path_taken(&name)? {
            return Ok(name);
        }
        number += 1;
    }
}
