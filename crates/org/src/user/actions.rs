//! Making people.

use db::{
    Tx, each_backend, error,
    schema::{namespace_access, namespaces, user_profiles, users},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Result, Visibility,
    ids::{NamespaceId, UserId},
};

use super::{State, User};
use crate::namespace::Kind;

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
    insert_personal_namespace(tx, &user)?;
    Ok(user)
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
