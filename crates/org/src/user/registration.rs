//! Accounts that an administrator makes.

use db::Tx;
use kernel::{Error, Grant, Result, access::Administrate};
use regex::Regex;

use super::{
    Details, Profile, User,
    account::AccountStore,
    actions::{NewUser, ensure_free, ensure_group_exists, faults_of, identity_faults, insert},
    event::Event,
    links::{self, Reason},
    model::ExternalIdentity,
    password::PasswordChoice,
    rules,
    store::UserStore,
};
use crate::{
    mail::{self, Letter},
    member::invitations,
    namespace::store::NamespaceStore,
    settings::{Settings, store::SettingsStore},
};

/// The initial state of an account.
#[derive(Clone, Debug)]
pub struct AccountStart {
    pub password: PasswordChoice,
    /// Whether a link is sent by which the person sets a password of their own.
    pub by_mail: bool,
    /// Whether the address is taken to be the person's.
    pub confirmed: bool,
    pub identity: Option<ExternalIdentity>,
}

/// Makes an account as an administrator describes it.
pub fn register(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    new: &NewUser,
    beginning: &AccountStart,
    change: impl FnOnce(&mut Details),
) -> Result<User> {
    let settings = tx.settings()?;
    let mut details = first_details(&settings, new);
    let usual = details.clone();
    change(&mut details);
    rules::reconcile_rights(&mut details, &usual, &settings);
    ensure_group_exists(tx, &details)?;
    if beginning.password.is_empty() {
        return Err(Error::invalid("password", "can't be blank"));
    }
    ensure_free(tx, &details, None)?;
    let mut faults = faults_of(tx, &details, None)?;
    faults.add_each("password", beginning.password.faults(&details.identity(), &settings));
    if tx.is_path_taken(&details.username)? {
        faults.add("username", "has already been taken");
    }
    identity_faults(tx, beginning.identity.as_ref(), None, &mut faults)?;
    faults.into_result()?;
    let new = NewUser {
        password_hash: Some(beginning.password.hash().to_owned()),
        created_by: grant.actor().id,
        ..new.clone()
    };
    let user = insert(tx, &new)?;
    tx.save_details(user.id, &details)?;
    if let Some(identity) = &beginning.identity {
        tx.save_identity(user.id, identity)?;
    }
    if beginning.confirmed {
        invitations::accept_for(tx, &user, &details.email)?;
    } else {
        tx.save_confirmed(user.id, None)?;
        links::ask_to_confirm(tx, user.id)?;
    }
    let user = tx.user(user.id)?;
    tx.emit(Event::UserCreate { person: (&user).into() })?;
    greet(tx, &user, beginning)?;
    Ok(user)
}

/// What an account is like at first, where nobody says anything else.
pub(super) fn first_details(settings: &Settings, new: &NewUser) -> Details {
    Details {
        username: new.username.clone(),
        name: new.name.clone(),
        email: new.email.clone(),
        public_email: None,
        commit_email: None,
        admin: new.admin,
        external: new.external || is_external_by_default(settings, &new.email),
        projects_limit: settings.default_projects_limit,
        can_create_group: settings.can_create_group,
        private_profile: settings.user_defaults_to_private_profile(),
        note: None,
        profile: Profile::default(),
        auditor: false,
        shared_runners_minutes_limit: None,
        extra_shared_runners_minutes_limit: None,
        provisioned_by_group_id: None,
        view_diffs_file_by_file: None,
    }
}

/// Whether a new account belongs to somebody from outside, unless its address is one of those from inside.
fn is_external_by_default(settings: &Settings, email: &str) -> bool {
    let inside = settings.user_default_internal_regex().and_then(|text| Regex::new(text).ok());
    settings.user_default_external() && !inside.is_some_and(|inside| inside.is_match(email))
}

fn greet(tx: &mut Tx<'_>, user: &User, beginning: &AccountStart) -> Result<()> {
    if beginning.by_mail {
        return links::ask_for_password(tx, user.id, Reason::NewAccount);
    }
    let text = format!(
        "Hello {},\n\nan account was made for you. Your user name is {}; the administrator who made the account \
         tells you how to sign in.\n{}",
        user.name,
        user.username,
        tx.settings()?.after_sign_up_text().map_or_else(String::new, |more| format!("\n{more}\n"))
    );
    let subject = "Account was created for you".to_owned();
    mail::send(tx, Letter { to: user.email.clone(), subject, text })
}
