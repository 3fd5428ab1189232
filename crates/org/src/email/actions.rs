//! Adding, confirming and removing further addresses.

use db::{Tx, each_backend, error, schema::users};
use diesel::prelude::*;
use kernel::{
    Error, Result, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::{EmailId, UserId},
    values::is_email,
};
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::{Job, Queue};

use super::{Email, store::EmailStore};
use crate::{
    access,
    faults::Faults,
    member::invitations,
    token::Secret,
    user::{User, store::UserStore},
};

/// How long the link in a letter works.
const LINK_WORKS: Duration = Duration::days(3);

/// The proof that an address belongs to its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Somebody opens a link that is sent there.
    Letter,
    /// An administrator says so.
    Administrator,
}

/// The work of writing to an address that is to be confirmed.
#[derive(Debug, Serialize, Deserialize)]
pub struct SendConfirmation {
    pub email: EmailId,
}

impl Job for SendConfirmation {
    const KIND: &'static str = "org.send_confirmation";
}

/// Gives somebody a further address. No two accounts share one, whatever its letter case.
pub fn add(tx: &mut Tx<'_>, user: UserId, address: &str, proof: Proof) -> Result<Email> {
    tx.user(user)?;
    let address = address.trim();
    let mut faults = Faults::default();
    if address.is_empty() {
        faults.add("email", "can't be blank");
    } else if !is_email(address) {
        faults.add("email", "is invalid");
    } else if tx.find_holder(address)?.is_some() {
        faults.add("email", "has already been taken");
    }
    faults.into_result()?;
    let confirmed = (proof == Proof::Administrator).then_some(tx.now);
    let email = tx.insert_email(user, address, confirmed)?;
    let added = AuditRecord::addition("email_created", AuditPlace::User(user), "email");
    tx.mention(added.target("Email", email.id.0, &email.email));
    if confirmed.is_none() {
        tx.enqueue(&SendConfirmation { email: email.id })?;
    } else {
        let user = tx.user(user)?;
        invitations::accept_for(tx, &user, address)?;
    }
    Ok(email)
}

/// Makes the secret of a link; `None` where there is nothing to confirm any more. A link that was sent before is
/// worth nothing from now on.
pub fn begin_confirmation(tx: &mut Tx<'_>, id: EmailId) -> Result<Option<(Email, User, Secret)>> {
    let Some(email) = tx.find_email(id)?.filter(|email| email.confirmed_at.is_none()) else {
        return Ok(None);
    };
    let user = tx.user(email.user_id)?;
    let secret = Secret::generate("");
    tx.save_confirmation(id, &secret)?;
    Ok(Some((email, user, secret)))
}

/// Confirms the address that a link with this secret was sent to.
///
/// # Errors
/// `NotFound` where the link is unknown, too old, or was used before.
pub fn confirm(tx: &mut Tx<'_>, secret: &Secret) -> Result<Email> {
    let email = tx.find_email_to_confirm(secret)?.ok_or_else(Error::missing)?;
    let until = email.confirmation_sent_at.map(|sent| sent.plus(LINK_WORKS));
    if until.is_none_or(|until| until <= tx.now) {
        return Err(Error::missing());
    }
    access::lock_access_projection(tx)?;
    tx.confirm_email(email.id)?;
    let user = tx.user(email.user_id)?;
    invitations::accept_for(tx, &user, &email.email)?;
    Ok(email)
}

/// Takes an address away, also from where its user shows it.
pub fn remove(tx: &mut Tx<'_>, user: UserId, id: EmailId, unless_newer: Option<Ts>) -> Result<()> {
    tx.user(user)?;
    let email = tx.email(user, id)?;
    email.updated_at.ensure_unchanged_since(unless_newer)?;
    tx.delete_email(id)?;
    let removed = AuditRecord::removal("email_destroyed", AuditPlace::User(user), "email");
    tx.mention(removed.target("Email", id.0, &email.email));
    hide(tx, user, &email.email)
}

fn hide(tx: &mut Tx<'_>, user: UserId, address: &str) -> Result<()> {
    let row = users::table.find(user);
    let none = None::<String>;
    let public = diesel::update(row.filter(users::public_email.eq(Some(address))))
        .set(users::public_email.eq(&none));
    each_backend!(tx, |conn| public.execute(conn).map_err(error("User")))?;
    let commits = diesel::update(row.filter(users::commit_email.eq(Some(address))))
        .set(users::commit_email.eq(&none));
    each_backend!(tx, |conn| commits.execute(conn).map_err(error("User")))?;
    Ok(())
}
