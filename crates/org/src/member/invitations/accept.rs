//! From an invitation to a membership.

use db::Tx;
use kernel::{Result, ids::InvitationId};

use super::{Invitation, store};
use crate::{
    access,
    email::store::EmailStore,
    member::{
        NewMember, Source, State, Step, letters,
        member_source::Lineage,
        steps::{ensure_step, insert},
        store::MemberStore,
    },
    token::Secret,
    user::{self, User, store::UserStore},
};

/// Who is known by this address, and has shown that it is theirs.
pub fn known_as(tx: &mut Tx<'_>, email: &str) -> Result<Option<User>> {
    match tx.find_confirmed_holder(email)? {
        Some(holder) => tx.find_user(holder),
        None => Ok(None),
    }
}

/// Lets somebody in wherever this address was invited to. To be called when it has been shown that the address is
/// theirs. Whoever waits to be approved comes in with that.
pub fn accept_for(tx: &mut Tx<'_>, user: &User, email: &str) -> Result<()> {
    if user.state == user::State::PendingApproval {
        return Ok(());
    }
    for invitation in store::to_addresses(tx, &[email.to_lowercase()])? {
        accept(tx, user, &invitation)?;
    }
    Ok(())
}

/// Lets somebody in wherever an address was invited to that is known to be theirs.
pub fn accept_all(tx: &mut Tx<'_>, user: &User) -> Result<()> {
    for (_, email) in tx.confirmed_addresses(&[user.id])? {
        accept_for(tx, user, &email)?;
    }
    Ok(())
}

/// Lets somebody in who holds an invitation. A role that they have already is never made less.
pub fn accept(tx: &mut Tx<'_>, user: &User, invitation: &Invitation) -> Result<()> {
    access::lock_access_projection(tx)?;
    store::delete(tx, invitation.id)?;
    let source = invitation.source();
    if invitation.has_ended(tx.now) || tx.find_member(source, user.id)?.is_some() {
        return Ok(());
    }
    ensure_step(State::Invited, Step::Accept)?;
    let new = NewMember {
        source,
        user_id: user.id,
        access_level: invitation.access_level,
        expires_at: invitation.expires_at,
        created_by: invitation.created_by,
    };
    insert(tx, &new)?;
    let host = match invitation.created_by {
        Some(host) => tx.find_user(host)?,
        None => None,
    };
    let lineage = Lineage::of(tx, source)?;
    host.map_or(Ok(()), |host| letters::accepted(tx, &lineage, &host, user))
}

/// Takes back what somebody was invited to here who has become a member; whether there was anything.
pub(in crate::member) fn end_those_of(
    tx: &mut Tx<'_>,
    source: Source,
    user: &User,
) -> Result<bool> {
    access::lock_access_projection(tx)?;
    let mut ended = false;
    let addresses = tx.confirmed_addresses(&[user.id])?;
    let keys: Vec<String> =
        addresses.into_iter().map(|(_, address)| address.to_lowercase()).collect();
    for invitation in store::to_addresses(tx, &keys)? {
        if invitation.source() == source {
            store::delete(tx, invitation.id)?;
            ended = true;
        }
    }
    Ok(ended)
}

/// The invitation whose letter had this secret.
pub fn find_by_secret(tx: &mut Tx<'_>, secret: &Secret) -> Result<Option<Invitation>> {
    let now = tx.now;
    let found = store::find_by_digest(tx, &secret.digest())?;
    Ok(found.filter(|invitation| !invitation.has_ended(now)))
}

/// Gives an invitation a new secret, for the letter that is being written.
pub(in crate::member) fn rotate_secret(
    tx: &mut Tx<'_>,
    id: InvitationId,
) -> Result<Option<(Invitation, Secret)>> {
    let Some(invitation) = store::find_by_id(tx, id)? else { return Ok(None) };
    let secret = Secret::generate("");
    store::save_digest(tx, id, &secret.digest())?;
    Ok(Some((invitation, secret)))
}

/// Removes invitations to memberships that would have ended.
pub fn remove_expired(tx: &mut Tx<'_>) -> Result<()> {
    store::delete_expired(tx)
}
