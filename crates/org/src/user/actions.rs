//! Making, changing and removing people.

use db::{
    Tx, each_backend, error,
    schema::{namespace_access, namespaces, user_profiles, users},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Error, Grant, Result, Ts, Visibility,
    access::Administrate,
    ids::{NamespaceId, UserId},
};
use time::Duration;

use super::{Details, Profile, State, Step, User, password::Chosen, rules, store::UserStore};
use crate::{
    email::store::EmailStore,
    faults::Faults,
    member::invitations,
    namespace::{self, Kind, store::NamespaceStore},
    settings::store::SettingsStore,
};

/// A person as it is first written down.
#[derive(Clone, Debug)]
pub struct NewUser {
    pub username: String,
    pub name: String,
    pub email: String,
    /// As [`password::hash`](super::password::hash) gave it.
    pub password_hash: Option<String>,
    pub admin: bool,
    pub external: bool,
    pub bot: bool,
    pub created_by: Option<UserId>,
}

impl NewUser {
    /// An ordinary person named like their user name.
    pub fn named(username: &str) -> Self {
        Self {
            username: username.to_owned(),
            name: username.to_owned(),
            email: format!("{username}@example.com"),
            password_hash: None,
            admin: false,
            external: false,
            bot: false,
            created_by: None,
        }
    }
}

/// Writes a person down, with a profile and a personal namespace.
pub fn create(tx: &mut Tx<'_>, new: &NewUser) -> Result<User> {
    let now = tx.now;
    let row = (
        (
            users::username.eq(&new.username),
            users::username_key.eq(new.username.to_lowercase()),
            users::name.eq(&new.name),
            users::email.eq(&new.email),
            users::email_key.eq(new.email.to_lowercase()),
            users::password_hash.eq(&new.password_hash),
            users::state.eq(State::Active),
            users::admin.eq(new.admin),
            users::external.eq(new.external),
            users::bot.eq(new.bot),
        ),
        users::created_at.eq(now),
        users::updated_at.eq(now),
        users::created_by.eq(new.created_by),
        users::confirmed_at.eq(Some(now)),
        users::sign_in_count.eq(0),
        users::projects_limit.eq(100_000),
        users::can_create_group.eq(!new.external),
        users::private_profile.eq(false),
    );
    let insert = diesel::insert_into(users::table).values(row);
    let user: User = each_backend!(tx, |conn| insert
        .returning(User::as_returning())
        .get_result(conn)
        .map_err(error("User")))?;
    insert_profile(tx, user.id)?;
    if !new.bot {
        insert_personal_namespace(tx, &user)?;
        if user.confirmed_at.is_some() {
            invitations::accept_for(tx, &user, &user.email)?;
        }
    }
    Ok(user)
}

/// Makes an account as an administrator describes it.
pub fn register(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    new: &NewUser,
    password: Option<&Chosen>,
    change: impl FnOnce(&mut Details),
) -> Result<User> {
    let settings = tx.settings()?;
    let mut details = Details {
        username: new.username.clone(),
        name: new.name.clone(),
        email: new.email.clone(),
        public_email: None,
        commit_email: None,
        admin: new.admin,
        external: new.external,
        projects_limit: settings.default_projects_limit,
        can_create_group: settings.can_create_group && !new.external,
        private_profile: false,
        note: None,
        profile: Profile::default(),
    };
    change(&mut details);
    ensure_free(tx, &details, None)?;
    let mut faults = faults_of(&details);
    if let Some(password) = password {
        let least = settings.minimum_password_length;
        faults.add_each("password", password.faults(&details.identity(), least));
    }
    if tx.is_path_taken(&details.username)? {
        faults.add("username", "has already been taken");
    }
    faults.into_result()?;
    let new = NewUser {
        password_hash: password.map(|chosen| chosen.hash().to_owned()),
        created_by: grant.actor().id,
        ..new.clone()
    };
    let user = create(tx, &new)?;
    tx.keep_details(user.id, &details)?;
    tx.user(user.id)
}

/// Changes an account; a new user name moves everything below the personal namespace.
pub fn update(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    id: UserId,
    password: Option<&Chosen>,
    change: impl FnOnce(&mut Details),
) -> Result<User> {
    let user = tx.user(id)?;
    let profile = tx.profile(id)?;
    let mut details = Details::of(&user, profile);
    change(&mut details);
    ensure_free(tx, &details, Some(id))?;
    let mut faults = faults_of(&details);
    if let Some(password) = password {
        let least = tx.settings()?.minimum_password_length;
        faults.add_each("password", password.faults(&details.identity(), least));
    }
    faults.into_result()?;
    if let Some(home) = tx.personal_namespace(id)? {
        let named = details.username != user.username || details.name != user.name;
        if named {
            namespace::actions::rename(tx, &home, &details.name, &details.username, "username")?;
        }
    }
    tx.keep_details(id, &details)?;
    if let Some(password) = password {
        tx.keep_password(id, password.hash())?;
    }
    tx.user(id)
}

fn faults_of(details: &Details) -> Faults {
    let mut faults = Faults::default();
    rules::identity_faults(&details.identity(), &mut faults);
    rules::detail_faults(details, &mut faults);
    faults
}

/// Whether nobody else has the address and the user name.
fn ensure_free(tx: &mut Tx<'_>, details: &Details, own: Option<UserId>) -> Result<()> {
    let taken = |found: Option<User>| found.is_some_and(|other| Some(other.id) != own);
    if tx.find_holder(&details.email)?.is_some_and(|holder| Some(holder) != own) {
        return Err(Error::Conflict("Email has already been taken".to_owned()));
    }
    if taken(tx.find_user_named(&details.username)?) {
        return Err(Error::Conflict("Username has already been taken".to_owned()));
    }
    Ok(())
}

/// What becomes of the groups that only the removed person owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// They stand in the way.
    Soft,
    /// They go too.
    Hard,
}

/// Removes an account with its tokens, memberships and personal projects.
pub fn remove(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    id: UserId,
    removal: Removal,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let user = tx.user(id)?;
    user.updated_at.ensure_unchanged_since(unless_newer)?;
    let alone = tx.groups_owned_alone(id)?;
    if !alone.is_empty() && removal == Removal::Soft {
        return Err(Error::Conflict(
            "User cannot be removed while is the sole-owner of a group".to_owned(),
        ));
    }
    for group in alone {
        namespace::actions::remove_tree(tx, group)?;
    }
    if let Some(home) = tx.personal_namespace(id)? {
        namespace::actions::remove_tree(tx, home.id)?;
    }
    tx.delete_user(id)
}

/// Locks somebody out. Somebody who is locked out already stays so.
pub fn block(tx: &mut Tx<'_>, grant: &Grant<Administrate>, id: UserId) -> Result<bool> {
    let user = tx.user(id)?;
    if grant.actor().id == Some(id) {
        return Err(refused("The API initiating user cannot be blocked by the API"));
    }
    match user.state {
        State::LdapBlocked => Err(refused("LDAP blocked users cannot be modified by the API")),
        State::Blocked => Ok(true),
        _ => step(tx, &user, Step::Block),
    }
}

pub fn unblock(tx: &mut Tx<'_>, _: &Grant<Administrate>, id: UserId) -> Result<bool> {
    let user = tx.user(id)?;
    match user.state {
        State::LdapBlocked => Err(refused("LDAP blocked users cannot be unblocked by the API")),
        State::Deactivated => Err(refused("Deactivated users cannot be unblocked by the API")),
        _ => step(tx, &user, Step::Unblock),
    }
}

/// Puts an account to rest that nobody has used for long.
pub fn deactivate(tx: &mut Tx<'_>, _: &Grant<Administrate>, id: UserId) -> Result<bool> {
    let user = tx.user(id)?;
    if user.state == State::Deactivated {
        return Ok(true);
    }
    if matches!(user.state, State::Blocked | State::LdapBlocked | State::Banned) {
        return Err(refused("A blocked user cannot be deactivated by the API"));
    }
    if user.bot {
        return Err(refused("An internal user cannot be deactivated by the API"));
    }
    let days = tx.settings()?.deactivate_dormant_users_period;
    let last = user.last_activity_at.max(user.current_sign_in_at);
    if last.is_some_and(|last| last.plus(Duration::days(days)) > tx.now) {
        return Err(Error::Refused(format!(
            "The user you are trying to deactivate has been active in the past {days} days and cannot be deactivated"
        )));
    }
    step(tx, &user, Step::Deactivate)
}

pub fn activate(tx: &mut Tx<'_>, _: &Grant<Administrate>, id: UserId) -> Result<bool> {
    let user = tx.user(id)?;
    match user.state {
        State::Active => Ok(true),
        State::Deactivated => step(tx, &user, Step::Activate),
        _ => Err(refused("A blocked user must be unblocked to be activated")),
    }
}

fn refused(why: &str) -> Error {
    Error::Refused(why.to_owned())
}

/// Takes a step; false where the table has none.
fn step(tx: &mut Tx<'_>, user: &User, step: Step) -> Result<bool> {
    match user.state.after(step) {
        Some(to) if tx.move_user(user, to)? => Ok(true),
        Some(_) => Err(Error::Conflict("409 Conflict: Resource lock".to_owned())),
        None => Ok(false),
    }
}

/// Notes that somebody showed the password.
pub fn note_sign_in(tx: &mut Tx<'_>, user: &User) -> Result<()> {
    tx.note_sign_in(user)
}

fn insert_profile(tx: &mut Tx<'_>, user: UserId) -> Result<()> {
    let row = (
        user_profiles::user_id.eq(user),
        user_profiles::bio.eq(""),
        user_profiles::skype.eq(""),
        user_profiles::linkedin.eq(""),
        user_profiles::twitter.eq(""),
        user_profiles::website_url.eq(""),
        user_profiles::organization.eq(""),
        user_profiles::job_title.eq(""),
        user_profiles::theme_id.eq(1),
        user_profiles::color_scheme_id.eq(1),
    );
    let insert = diesel::insert_into(user_profiles::table).values(row);
    each_backend!(tx, |conn| insert.execute(conn).map_err(error("User")))?;
    Ok(())
}

fn insert_personal_namespace(tx: &mut Tx<'_>, user: &User) -> Result<()> {
    let row = (
        namespaces::kind.eq(Kind::User),
        namespaces::name.eq(&user.name),
        namespaces::path.eq(&user.username),
        namespaces::full_path.eq(&user.username),
        namespaces::path_key.eq(user.username.to_lowercase()),
        namespaces::full_name.eq(&user.name),
        namespaces::owner_id.eq(Some(user.id)),
        namespaces::visibility.eq(Visibility::Public),
        namespaces::project_creation_level.eq("developer"),
        namespaces::subgroup_creation_level.eq("maintainer"),
        namespaces::created_at.eq(tx.now),
        namespaces::updated_at.eq(tx.now),
    );
    let insert = diesel::insert_into(namespaces::table).values(row).returning(namespaces::id);
    let id: NamespaceId =
        each_backend!(tx, |conn| insert.get_result(conn).map_err(error("Namespace")))?;
    let access = (
        namespace_access::user_id.eq(user.id),
        namespace_access::namespace_id.eq(id),
        namespace_access::access_level.eq(AccessLevel::Owner),
    );
    let insert = diesel::insert_into(namespace_access::table).values(access);
    each_backend!(tx, |conn| insert.execute(conn).map_err(error("Namespace")))?;
    Ok(())
}
