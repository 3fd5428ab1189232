//! The steps of an account's life, as administrators take them.

use db::Tx;
use kernel::{Error, Grant, Result, access::Administrate, ids::UserId};
use time::Duration;

use super::{
    State, Step, User,
    account::AccountStore,
    dormant::dormant_days,
    event::{AccountChange, Event, record_action},
    removal::{self, Removal},
    state::StateTransition,
    store::UserStore,
};
use crate::{
    access,
    mail::{self, Letter},
    member::invitations,
    namespace::downloads,
    policy::{ApproveUsers, RejectUsers},
    settings::store::SettingsStore,
    token::oauth,
};

/// Locks somebody out. Nothing is said of somebody who is locked out already.
pub fn block(tx: &mut Tx<'_>, grant: &Grant<Administrate>, id: UserId) -> Result<Option<bool>> {
    let user = tx.user(id)?;
    if user.state == State::LdapBlocked {
        return Err(refused("LDAP blocked users cannot be modified by the API"));
    }
    if grant.actor().id == Some(id) {
        return Err(refused("The API initiating user cannot be blocked by the API"));
    }
    if user.internal {
        return Err(denied("An internal user cannot be blocked"));
    }
    match user.state {
        State::Blocked => Ok(None),
        _ => take_step(tx, grant.actor().id, &user, Step::Block).map(Some),
    }
}

pub fn unblock(tx: &mut Tx<'_>, grant: &Grant<Administrate>, id: UserId) -> Result<bool> {
    let user = tx.user(id)?;
    match user.state {
        State::LdapBlocked => Err(refused("LDAP blocked users cannot be unblocked by the API")),
        State::Deactivated => Err(refused("Deactivated users cannot be unblocked by the API")),
        _ => take_step(tx, grant.actor().id, &user, Step::Unblock),
    }
}

/// Puts an account to rest that nobody has used for long. Nothing is said of one that rests already.
pub fn deactivate(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    id: UserId,
) -> Result<Option<bool>> {
    let user = tx.user(id)?;
    if user.state == State::Deactivated {
        return Ok(None);
    }
    if user.state.is_blocked() {
        return Err(refused("A blocked user cannot be deactivated by the API"));
    }
    if user.internal {
        return Err(refused("An internal user cannot be deactivated by the API"));
    }
    let days = dormant_days(&tx.settings()?);
    let last = user.last_activity_at.max(user.current_sign_in_at);
    if last.is_some_and(|last| last.plus(Duration::days(days)) > tx.now) {
        return Err(Error::forbidden().because(format!(
            "The user you are trying to deactivate has been active in the past {days} days and cannot be deactivated"
        )));
    }
    put_to_rest(tx, grant.actor().id, &user).map(Some)
}

/// Deactivates an account that nobody has used for long. `by` is nobody where the server does it by itself.
pub(super) fn put_to_rest(tx: &mut Tx<'_>, by: Option<UserId>, user: &User) -> Result<bool> {
    take_step(tx, by, user, Step::Deactivate)
}

/// Activates the account of somebody who signs in on a page, where it was deactivated and is otherwise in order.
pub fn reactivate(tx: &mut Tx<'_>, user: &User) -> Result<User> {
    if user.state != State::Deactivated {
        return Ok(user.clone());
    }
    let active = User { state: State::Active, ..user.clone() };
    let may = oauth::may_sign_in(tx, &active)?;
    match may && take_step(tx, Some(user.id), user, Step::Activate)? {
        true => Ok(active),
        false => Ok(user.clone()),
    }
}

pub fn activate(tx: &mut Tx<'_>, grant: &Grant<Administrate>, id: UserId) -> Result<bool> {
    let user = tx.user(id)?;
    match user.state {
        State::Active => Ok(true),
        State::Deactivated => take_step(tx, grant.actor().id, &user, Step::Activate),
        _ => Err(refused("A blocked user must be unblocked to be activated")),
    }
}

/// Locks somebody out for what they did.
pub fn ban(tx: &mut Tx<'_>, grant: &Grant<Administrate>, id: UserId) -> Result<bool> {
    let user = tx.user(id)?;
    if user.internal {
        return Err(denied("You cannot ban internal users."));
    }
    match user.state {
        State::Active => take_step(tx, grant.actor().id, &user, Step::Ban),
        other => Err(Error::forbidden().whole(format!("You cannot ban {other} users."))),
    }
}

/// Bans somebody for what they downloaded, as the server does by itself; false where their state does not allow it.
pub(crate) fn ban_for_downloads(tx: &mut Tx<'_>, user: &User) -> Result<bool> {
    take_step(tx, None, user, Step::Ban)
}

pub fn unban(tx: &mut Tx<'_>, grant: &Grant<Administrate>, id: UserId) -> Result<bool> {
    let user = tx.user(id)?;
    match user.state {
        State::Banned => {
            downloads::forget_all(tx, id)?;
            take_step(tx, grant.actor().id, &user, Step::Unban)
        }
        other => Err(Error::forbidden().whole(format!("You cannot unban {other} users."))),
    }
}

/// Lets somebody in who asked for an account, and tells them so.
pub fn approve(tx: &mut Tx<'_>, grant: &Grant<ApproveUsers>, id: UserId) -> Result<()> {
    let user = tx.user(id)?;
    if user.state != State::PendingApproval {
        return Err(conflict("The user you are trying to approve is not pending approval"));
    }
    take_step(tx, grant.actor().id, &user, Step::Approve)?;
    let approved = tx.user(id)?;
    invitations::accept_all(tx, &approved)?;
    tx.emit(Event::UserApprove { person: (&user).into() })?;
    let text = format!(
        "Hello {},\n\nyour account with the user name {} has been approved. You can sign in now.\n",
        user.name, user.username
    );
    mail::send(tx, Letter { to: user.email, subject: "Welcome to Forgeway!".to_owned(), text })
}

/// Turns away somebody who asked for an account: it goes, with everything that came with it.
pub fn reject(tx: &mut Tx<'_>, grant: &Grant<RejectUsers>, id: UserId) -> Result<()> {
    let user = tx.user(id)?;
    if user.state.after(Step::Reject) != Some(StateTransition::Gone) {
        return Err(conflict("User does not have a pending request"));
    }
    let by = grant.actor().id;
    record_action(tx, by, &user, AccountChange::Step(Step::Reject));
    removal::remove_with_everything(tx, &user, Removal::Hard, by)?;
    let text = format!("Hello {},\n\nyour request to join has been rejected.\n", user.name);
    let subject = "Your request to join has been rejected".to_owned();
    mail::send(tx, Letter { to: user.email, subject, text })
}

/// Lets somebody in with the password alone who lost the second factor.
pub fn disable_two_factor(tx: &mut Tx<'_>, grant: &Grant<Administrate>, id: UserId) -> Result<()> {
    let user = tx.user(id)?;
    if user.admin {
        return Err(Error::forbidden());
    }
    if !tx.account(id)?.two_factor {
        let why = "Two-factor authentication is not enabled for this user";
        return Err(Error::bad_request().because(why.to_owned()));
    }
    tx.save_two_factor(id, false)?;
    record_action(tx, grant.actor().id, &user, AccountChange::TwoFactorRemoval);
    Ok(())
}

fn refused(why: &str) -> Error {
    Error::forbidden().because(why.to_owned())
}

fn denied(why: &str) -> Error {
    Error::forbidden().whole(why.to_owned())
}

fn conflict(why: &str) -> Error {
    Error::conflict().whole(why.to_owned())
}

/// Takes a step that somebody asked for; false where the table has none.
fn take_step(tx: &mut Tx<'_>, by: Option<UserId>, user: &User, wanted: Step) -> Result<bool> {
    let taken = step(tx, user, wanted)?;
    if taken {
        record_action(tx, by, user, AccountChange::Step(wanted));
    }
    Ok(taken)
}

/// Takes a step; false where the table has none.
pub(super) fn step(tx: &mut Tx<'_>, user: &User, step: Step) -> Result<bool> {
    match user.state.after(step) {
        Some(StateTransition::State(to)) if tx.move_user(user, to)? => {
            tx.mention(access::Event::SignIn(user.id));
            if step == Step::Deactivate {
                notify_of_deactivation(tx, user)?;
            }
            Ok(true)
        }
        Some(_) => Err(Error::conflict().whole("409 Conflict: Resource lock")),
        None => Ok(false),
    }
}

/// Writes to somebody whose account was put to rest, where the installation wants that.
fn notify_of_deactivation(tx: &mut Tx<'_>, user: &User) -> Result<()> {
    if user.bot || !tx.settings()?.user_deactivation_emails_enabled() {
        return Ok(());
    }
    let text = format!(
        "Hello {},\n\nyour account with the user name {} has been deactivated. Sign in with a browser to use it again, \
         or write to an administrator if you think that this is a mistake.\n",
        user.name, user.username
    );
    let subject = "Your account has been deactivated".to_owned();
    mail::send(tx, Letter { to: user.email.clone(), subject, text })
}
