//! Accounts that people make for themselves, where the installation lets them.

use db::Tx;
use kernel::{Error, Result};

use super::{
    State, User,
    actions::{NewUser, ensure_free, faults_of, insert},
    event::Event,
    links,
    password::PasswordChoice,
    registration::first_details,
    rules,
    store::UserStore,
};
use crate::{
    member::invitations,
    namespace::store::NamespaceStore,
    settings::{EmailConfirmation, Settings, store::SettingsStore},
};

const CLOSED: &str = "Sign-up is disabled";
const UNWELCOME: &str = "is not allowed for sign-up. Check with your administrator.";

/// The form of a sign-up.
#[derive(Clone, Debug)]
pub struct SignUp {
    pub username: String,
    pub name: String,
    pub email: String,
    pub password: PasswordChoice,
    /// Whether they agree to the terms of the installation.
    pub agreement: bool,
}

/// Whether people may make accounts for themselves.
///
/// # Errors
/// `Forbidden` where only administrators make accounts.
pub fn ensure_open(settings: &Settings) -> Result<()> {
    match settings.signup_enabled() {
        true => Ok(()),
        false => Err(Error::forbidden().whole(CLOSED)),
    }
}

/// The text that everybody agrees to who makes an account; `None` where there is none.
pub fn terms(settings: &Settings) -> Option<&str> {
    settings.terms().filter(|_| settings.enforce_terms())
}

/// Makes an account for whoever asks. It waits for an administrator's approval where the settings say so, and its
/// address for a confirmation.
///
/// # Errors
/// `Forbidden` where sign-up is closed; `BadRequest` with what speaks against the account.
pub fn sign_up(tx: &mut Tx<'_>, wanted: &SignUp) -> Result<User> {
    let settings = tx.settings()?;
    ensure_open(&settings)?;
    let new = NewUser {
        username: wanted.username.clone(),
        name: wanted.name.clone(),
        email: wanted.email.clone(),
        password_hash: Some(wanted.password.hash().to_owned()),
        ..NewUser::named(&wanted.username)
    };
    let mut details = first_details(&settings, &new);
    let usual = details.clone();
    rules::reconcile_rights(&mut details, &usual, &settings);
    let mut faults = faults_of(tx, &details, None)?;
    faults.add_each("password", wanted.password.faults(&details.identity(), &settings));
    if !settings.welcomes(&wanted.email) {
        faults.add("email", UNWELCOME);
    }
    if terms(&settings).is_some() && !wanted.agreement {
        faults.add("terms", "must be accepted");
    }
    if tx.is_path_taken(&details.username)? {
        faults.add("username", "has already been taken");
    }
    faults.into_result()?;
    ensure_free(tx, &details, None)?;
    let user = insert(tx, &new)?;
    tx.save_details(user.id, &details)?;
    begin(tx, &settings, &user)
}

/// The state in which an account begins, and the letter that proves its address.
fn begin(tx: &mut Tx<'_>, settings: &Settings, user: &User) -> Result<User> {
    let waits = settings.require_admin_approval_after_user_signup();
    if waits {
        tx.move_user(user, State::PendingApproval)?;
    }
    if settings.email_confirmation_setting != EmailConfirmation::Off {
        tx.save_confirmed(user.id, None)?;
        links::ask_to_confirm(tx, user.id)?;
    } else if !waits {
        invitations::accept_for(tx, user, &user.email)?;
    }
    let made = tx.user(user.id)?;
    tx.emit(Event::UserCreate { person: (&made).into() })?;
    Ok(made)
}
