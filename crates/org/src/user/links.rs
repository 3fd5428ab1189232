//! Links in letters: one that proves an address, one that sets a password. The secret of a link is made when its letter
//! is sent, stored only as a digest, and worth something once.

use db::{
    Tx, each_backend, error,
    schema::{user_accounts, users},
};
use diesel::prelude::*;
use kernel::{Error, Result, Ts, ids::UserId};
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::{Job, Queue};

use super::{State, User, account::AccountStore, password::PasswordChoice, store::UserStore};
use crate::{
    access, faults::Faults, member::invitations, settings::store::SettingsStore, token::Secret,
};

/// How long an address can be confirmed by its letter.
const CONFIRM_WITHIN: Duration = Duration::days(1);
/// How long a password can be set by its letter.
const RESET_WITHIN: Duration = Duration::days(2);
/// Whoever asks again and again gets a letter now and then.
const PAUSE: Duration = Duration::minutes(1);

/// The work of writing to an address that is to be confirmed.
#[derive(Debug, Serialize, Deserialize)]
pub struct ConfirmAddress {
    pub user: UserId,
}

impl Job for ConfirmAddress {
    const KIND: &'static str = "org.confirm_address";

    fn unique_key(&self) -> Option<String> {
        Some(self.user.to_string())
    }
}

/// The reason for a password link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// An account was made for them.
    NewAccount,
    /// They asked for it, or an administrator did.
    Reset,
}

/// The work of sending somebody a link by which they set a password.
#[derive(Debug, Serialize, Deserialize)]
pub struct SendPasswordLink {
    pub user: UserId,
    pub reason: Reason,
}

impl Job for SendPasswordLink {
    const KIND: &'static str = "org.password_link";

    fn unique_key(&self) -> Option<String> {
        Some(self.user.to_string())
    }
}

/// A letter that is about to go out.
#[derive(Debug)]
pub struct Link {
    pub user: User,
    /// Where the letter goes.
    pub address: String,
    pub secret: Secret,
}

/// Asks for the letter that confirms somebody's address.
pub fn ask_to_confirm(tx: &mut Tx<'_>, user: UserId) -> Result<()> {
    tx.enqueue(&ConfirmAddress { user })
}

/// Asks for the letter by which somebody sets a password.
pub fn ask_for_password(tx: &mut Tx<'_>, user: UserId, reason: Reason) -> Result<()> {
    tx.enqueue(&SendPasswordLink { user, reason })
}

/// Sends the confirming letter again to whom has this address, if anybody waits for it. The caller learns nothing.
pub fn confirm_again(tx: &mut Tx<'_>, address: &str) -> Result<()> {
    let waiting = match tx.find_user_with_email(address)? {
        Some(user) if user.confirmed_at.is_none() => Some(user.id),
        _ => find_unconfirmed(tx, address)?,
    };
    let Some(user) = waiting else { return Ok(()) };
    let sent = tx.account(user)?.confirmation_sent_at;
    if is_recent(sent, tx.now) { Ok(()) } else { ask_to_confirm(tx, user) }
}

/// Sends a link to whom has this address, if anybody with an account in use has. The caller learns nothing.
pub fn forgot_password(tx: &mut Tx<'_>, address: &str) -> Result<()> {
    let Some(user) = tx.find_user_with_email(address)? else { return Ok(()) };
    let usable = user.is_person() && !user.state.is_blocked();
    if usable && !is_recent(tx.account(user.id)?.reset_sent_at, tx.now) {
        ask_for_password(tx, user.id, Reason::Reset)?;
    }
    Ok(())
}

fn is_recent(sent: Option<Ts>, now: Ts) -> bool {
    sent.is_some_and(|sent| sent.plus(PAUSE) > now)
}

fn find_unconfirmed(tx: &mut Tx<'_>, address: &str) -> Result<Option<UserId>> {
    let query = user_accounts::table
        .filter(user_accounts::unconfirmed_email.eq(address))
        .select(user_accounts::user_id)
        .order(user_accounts::user_id);
    each_backend!(tx, |conn| query.first(conn).optional().map_err(error("User")))
}

/// Makes the secret of a confirming letter; `None` where nothing is left to confirm. Letters before it are worthless.
pub fn begin_confirmation(tx: &mut Tx<'_>, id: UserId) -> Result<Option<Link>> {
    let Some(user) = tx.find_user(id)? else { return Ok(None) };
    let address = match tx.account(id)?.unconfirmed_email {
        Some(address) => address,
        None if user.confirmed_at.is_none() => user.email.clone(),
        None => return Ok(None),
    };
    let secret = Secret::generate("");
    let changes = (
        user_accounts::confirmation_digest.eq(Some(secret.digest())),
        user_accounts::confirmation_sent_at.eq(Some(tx.now)),
    );
    let row = diesel::update(user_accounts::table.find(id)).set(changes);
    each_backend!(tx, |conn| row.execute(conn).map_err(error("User")))?;
    Ok(Some(Link { user, address, secret }))
}

/// Makes the secret of a letter that sets a password.
pub fn begin_password(tx: &mut Tx<'_>, id: UserId) -> Result<Option<Link>> {
    let Some(user) = tx.find_user(id)? else { return Ok(None) };
    let secret = Secret::generate("");
    let changes = (
        user_accounts::reset_digest.eq(Some(secret.digest())),
        user_accounts::reset_sent_at.eq(Some(tx.now)),
    );
    let row = diesel::update(user_accounts::table.find(id)).set(changes);
    each_backend!(tx, |conn| row.execute(conn).map_err(error("User")))?;
    let address = user.email.clone();
    Ok(Some(Link { user, address, secret }))
}

/// Confirms the address that a letter with this secret was sent to.
///
/// # Errors
/// `NotFound` where the link is unknown, too old or used up; `BadRequest` where somebody else has the address by now.
pub fn confirm(tx: &mut Tx<'_>, secret: &Secret) -> Result<User> {
    let query = user_accounts::table
        .filter(user_accounts::confirmation_digest.eq(secret.digest()))
        .select(user_accounts::user_id);
    let found: Option<UserId> =
        each_backend!(tx, |conn| query.first(conn).optional().map_err(error("User")))?;
    let id = found.ok_or_else(Error::missing)?;
    let account = tx.account(id)?;
    ensure_fresh(account.confirmation_sent_at, CONFIRM_WITHIN, tx.now)?;
    access::lock_access_projection(tx)?;
    let user = tx.user(id)?;
    if let Some(address) = &account.unconfirmed_email {
        super::actions::ensure_address_free(tx, address, Some(id))?;
        tx.move_address(&user, address)?;
    }
    let row = diesel::update(users::table.find(id)).set(users::confirmed_at.eq(Some(tx.now)));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("User")))?;
    let none = None::<String>;
    let changes =
        (user_accounts::unconfirmed_email.eq(&none), user_accounts::confirmation_digest.eq(&none));
    let row = diesel::update(user_accounts::table.find(id)).set(changes);
    each_backend!(tx, |conn| row.execute(conn).map_err(error("User")))?;
    let user = tx.user(id)?;
    invitations::accept_for(tx, &user, &user.email)?;
    Ok(user)
}

fn ensure_fresh(sent: Option<Ts>, within: Duration, now: Ts) -> Result<()> {
    match sent {
        Some(sent) if sent.plus(within) > now => Ok(()),
        _ => Err(Error::missing()),
    }
}

/// Whose password a link sets.
///
/// # Errors
/// `NotFound` where the link is unknown, too old or used up.
pub fn whose_password(tx: &mut Tx<'_>, secret: &Secret) -> Result<User> {
    let query = user_accounts::table
        .filter(user_accounts::reset_digest.eq(secret.digest()))
        .select(user_accounts::user_id);
    let found: Option<UserId> =
        each_backend!(tx, |conn| query.first(conn).optional().map_err(error("User")))?;
    let id = found.ok_or_else(Error::missing)?;
    ensure_fresh(tx.account(id)?.reset_sent_at, RESET_WITHIN, tx.now)?;
    tx.user(id)
}

/// Sets a password by a link, which is worth nothing afterwards. Whoever read the letter has the address: it counts
/// as confirmed.
pub fn set_password(tx: &mut Tx<'_>, secret: &Secret, password: &PasswordChoice) -> Result<User> {
    let user = whose_password(tx, secret)?;
    let settings = tx.settings()?;
    let mut faults = Faults::default();
    let identity = super::model::Identity::new(&user.username, &user.name, &user.email);
    faults.add_each("password", password.faults(&identity, &settings));
    faults.into_result()?;
    access::lock_access_projection(tx)?;
    tx.save_password(user.id, password.hash(), None)?;
    let row = diesel::update(user_accounts::table.find(user.id))
        .set(user_accounts::reset_digest.eq(None::<String>));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("User")))?;
    if user.confirmed_at.is_none() {
        let row = diesel::update(users::table.find(user.id)).set(users::confirmed_at.eq(tx.now));
        each_backend!(tx, |conn| row.execute(conn).map_err(error("User")))?;
        invitations::accept_for(tx, &user, &user.email)?;
    }
    // As the next sign-in in a browser would.
    if user.state == State::Deactivated {
        tx.move_user(&user, State::Active)?;
        tx.mention(access::Event::SignIn(user.id));
    }
    tx.user(user.id)
}
