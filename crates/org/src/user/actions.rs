//! Writing people down, and changing them.

use std::net::IpAddr;

use db::{
    Tx, each_backend, error,
    schema::{namespace_access, namespaces, user_profiles, users},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Error, Grant, Result, Visibility,
    access::Administrate,
    ids::{NamespaceId, UserId},
};

use super::{
    Details, State, User,
    account::AccountStore,
    event::{AccountAction, AccountChange, Event, Person, record_action},
    links::{self, Reason},
    model::ExternalIdentity,
    password::PasswordChoice,
    rules,
    store::UserStore,
    value_change::{ValueChange, value_changes},
};
use crate::{
    access,
    email::store::EmailStore,
    faults::Faults,
    mail::{self, Letter},
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

/// Writes a person down whose address is known to be theirs, with a profile and a personal namespace.
pub fn create(tx: &mut Tx<'_>, new: &NewUser) -> Result<User> {
    let user = insert(tx, new)?;
    if !new.bot {
        invitations::accept_for(tx, &user, &user.email)?;
    }
    Ok(user)
}

pub(super) fn insert(tx: &mut Tx<'_>, new: &NewUser) -> Result<User> {
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
        users::projects_limit.eq(if new.external || new.bot { 0 } else { 100_000 }),
        users::can_create_group.eq(!new.external && !new.bot),
        users::private_profile.eq(false),
        users::internal.eq(false),
    );
    let insert = diesel::insert_into(users::table).values(row);
    let user: User = each_backend!(tx, |conn| insert
        .returning(User::as_returning())
        .get_result(conn)
        .map_err(error("User")))?;
    insert_profile(tx, user.id)?;
    tx.insert_account(user.id)?;
    insert_personal_namespace(tx, &user)?;
    Ok(user)
}

/// Further changes of an account.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub password: Option<PasswordChoice>,
    /// Whether the person is sent a link by which they set another one.
    pub by_mail: bool,
    /// Whether a new address is taken to be the person's.
    pub confirmed: bool,
    pub identity: Option<ExternalIdentity>,
}

/// Changes an account; a new user name moves everything below the personal namespace. A new address waits until it is
/// confirmed, and a password that somebody else set must be changed before anything else.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    id: UserId,
    changes: &Changes,
    change: impl FnOnce(&mut Details),
) -> Result<User> {
    access::lock_access_projection(tx)?;
    let user = tx.user(id)?;
    let before = Details::of(&user, tx.profile(id)?, &tx.account(id)?);
    let mut details = before.clone();
    change(&mut details);
    if details.external != before.external {
        let settings = tx.settings()?;
        rules::reconcile_rights(&mut details, &before, &settings);
    }
    ensure_group_exists(tx, &details)?;
    ensure_free(tx, &details, Some(id))?;
    let mut faults = faults_of(tx, &details, Some(id))?;
    if let Some(password) = &changes.password {
        let settings = tx.settings()?;
        faults.add_each("password", password.faults(&details.identity(), &settings));
    }
    identity_faults(tx, changes.identity.as_ref(), Some(id), &mut faults)?;
    if user.internal && details.username != user.username {
        faults.add("username", "cannot be changed");
    }
    faults.into_result()?;
    // The address that was asked for counts, also while it waits to be confirmed.
    let provider = changes.identity.as_ref().map(|identity| identity.provider.as_str());
    let told = value_changes(&before, &details, changes.password.is_some(), provider);
    take_address(tx, &user, &before, &mut details, changes.confirmed)?;
    rename(tx, grant, &user, &details)?;
    tx.save_details(id, &details)?;
    if let Some(password) = &changes.password {
        let foreign = grant.actor().id != Some(id);
        tx.save_password(id, password.hash(), foreign.then_some(tx.now))?;
    }
    if changes.by_mail {
        links::ask_for_password(tx, id, Reason::Reset)?;
    }
    if let Some(identity) = &changes.identity {
        tx.save_identity(id, identity)?;
    }
    let user = tx.user(id)?;
    if !told.is_empty() {
        record_action(tx, grant.actor().id, &user, AccountChange::Values(told));
    }
    if details.email != before.email {
        invitations::accept_for(tx, &user, &details.email)?;
    }
    Ok(user)
}

fn take_address(
    tx: &mut Tx<'_>,
    user: &User,
    before: &Details,
    details: &mut Details,
    confirmed: bool,
) -> Result<()> {
    if details.email == before.email {
        return Ok(());
    }
    if confirmed {
        tx.save_confirmed(user.id, Some(tx.now))?;
        return tx.save_unconfirmed_address(user.id, None);
    }
    let wanted = std::mem::replace(&mut details.email, before.email.clone());
    tx.save_unconfirmed_address(user.id, Some(&wanted))?;
    links::ask_to_confirm(tx, user.id)
}

fn rename(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    user: &User,
    details: &Details,
) -> Result<()> {
    let renamed = details.username != user.username;
    if !renamed && details.name == user.name {
        return Ok(());
    }
    if let Some(home) = tx.personal_namespace(user.id)? {
        namespace::actions::rename(tx, &home, &details.name, &details.username, "username")?;
    }
    if renamed {
        let person = Person { username: details.username.clone(), ..user.into() };
        let old_username = user.username.clone();
        let change = AccountChange::Rename { old_username: old_username.clone() };
        tx.mention(AccountAction { person: person.clone(), by: grant.actor().id, change });
        tx.emit(Event::UserRename { person, old_username })?;
    }
    Ok(())
}

pub(super) fn faults_of(tx: &mut Tx<'_>, details: &Details, id: Option<UserId>) -> Result<Faults> {
    let mut faults = Faults::default();
    rules::identity_faults(&details.identity(), &mut faults);
    rules::detail_faults(details, &mut faults);
    let mut own = vec![details.email.to_lowercase()];
    if let Some(id) = id {
        own = vec![tx.user(id)?.email.to_lowercase()];
        own.extend(tx.confirmed_addresses(&[id])?.into_iter().map(|(_, address)| address));
    }
    rules::address_faults(details, &own, &mut faults);
    Ok(faults)
}

pub(super) fn identity_faults(
    tx: &mut Tx<'_>,
    identity: Option<&ExternalIdentity>,
    own: Option<UserId>,
    faults: &mut Faults,
) -> Result<()> {
    let Some(identity) = identity else { return Ok(()) };
    for (name, text) in [("provider", &identity.provider), ("extern_uid", &identity.extern_uid)] {
        let field = format!("identities.{name}");
        if text.trim().is_empty() {
            faults.add(&field, "can't be blank");
        }
        faults.at_most(&field, Some(text), 255);
    }
    let holder = tx.find_identity(identity)?;
    if holder.is_some() && holder != own {
        faults.add("identities.extern_uid", "has already been taken");
    }
    Ok(())
}

pub(super) fn ensure_group_exists(tx: &mut Tx<'_>, details: &Details) -> Result<()> {
    let Some(id) = details.provisioned_by_group_id else { return Ok(()) };
    let found = tx.find_namespace(NamespaceId(id))?;
    match found.is_some_and(|group| group.kind == Kind::Group) {
        true => Ok(()),
        false => Err(Error::not_found("Group")),
    }
}

/// Whether nobody else has the address and the user name.
pub(super) fn ensure_free(tx: &mut Tx<'_>, details: &Details, own: Option<UserId>) -> Result<()> {
    ensure_address_free(tx, &details.email, own)?;
    let found = tx.find_user_named(&details.username)?;
    if found.is_some_and(|other| Some(other.id) != own) {
        return Err(Error::conflict().whole("Username has already been taken"));
    }
    Ok(())
}

pub(super) fn ensure_address_free(
    tx: &mut Tx<'_>,
    address: &str,
    own: Option<UserId>,
) -> Result<()> {
    if tx.find_holder(address)?.is_some_and(|holder| Some(holder) != own) {
        return Err(Error::conflict().whole("Email has already been taken"));
    }
    Ok(())
}

/// Takes away how somebody signs in elsewhere.
pub fn remove_identity(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    id: UserId,
    provider: &str,
) -> Result<()> {
    let user = tx.user(id)?;
    if tx.delete_identity(id, provider)? == 0 {
        return Err(Error::not_found("Identity"));
    }
    let gone = ValueChange { name: "identity", from: Some(provider.to_owned()), to: None };
    record_action(tx, grant.actor().id, &user, AccountChange::Values(vec![gone]));
    Ok(())
}

/// Shows somebody by this picture, or by none.
pub fn set_avatar(tx: &mut Tx<'_>, id: UserId, file: Option<&str>) -> Result<User> {
    let row = diesel::update(users::table.find(id)).set(users::avatar.eq(file));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("User")))?;
    tx.user(id)
}

/// Notes that somebody showed the password, and tells them where they did so from elsewhere than before.
pub fn record_sign_in(tx: &mut Tx<'_>, user: &User, address: Option<IpAddr>) -> Result<()> {
    if let Some(address) = address {
        notify_of_unknown_sign_in(tx, user, address)?;
    }
    tx.record_sign_in(user, address)
}

/// Writes to somebody who signs in from another address than the last two times, where the installation wants that. The first
/// time there is nothing to compare with.
fn notify_of_unknown_sign_in(tx: &mut Tx<'_>, user: &User, address: IpAddr) -> Result<()> {
    let account = tx.account(user.id)?;
    let known = [account.current_sign_in_ip, account.last_sign_in_ip].into_iter().flatten();
    let known: Vec<String> = known.collect();
    let is_known = known.is_empty() || known.contains(&address.to_string());
    if is_known || !tx.settings()?.notify_on_unknown_sign_in() {
        return Ok(());
    }
    let text = format!(
        "Hello {},\n\nsomebody signed in to your account ({}) with its password, from an address from which you did not sign in \
         lately.\n\n  Address: {address}\n  Time: {}\n\nIf it was not you, set a new password at once.\n",
        user.name,
        user.username,
        tx.now.iso()
    );
    let subject = "Sign-in from a new address".to_owned();
    mail::send(tx, Letter { to: user.email.clone(), subject, text })
}

/// Notes that somebody who is locked out showed the password.
pub fn record_refused_sign_in(tx: &mut Tx<'_>, user: &User) -> Result<()> {
    tx.emit(Event::UserFailedLogin { person: user.into(), state: user.state })
}

/// Writes down that somebody gave another password than an account has. Nobody knows who: they proved nothing.
pub fn record_wrong_password(tx: &mut Tx<'_>, user: &User) {
    record_action(tx, None, user, AccountChange::WrongPassword);
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
