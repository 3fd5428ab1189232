//! The first start: an administrator, with secrets that are shown once.

use db::Tx;
use kernel::{Result, page::PageRequest};

use super::{
    User, UserFilter,
    actions::{NewUser, create},
    password::Chosen,
    store::UserStore,
};
use crate::{
    settings::store::SettingsStore,
    token::{self, Kind, Scope, Scopes, Secret, actions::NewToken},
};

/// The administrator that every installation begins with.
pub const USERNAME: &str = "root";

/// What the first administrator signs in with. A generated password and token are as good as given ones.
#[derive(Clone, Debug)]
pub struct FirstSecrets {
    pub password: Chosen,
    pub token: Option<Secret>,
}

/// Makes the administrator `root` where nobody has an account yet, and tells the token that was made.
pub fn first_administrator(
    tx: &mut Tx<'_>,
    secrets: &FirstSecrets,
) -> Result<Option<(User, Secret)>> {
    let one = PageRequest { page: 1, per_page: 1 };
    if !tx.users(&UserFilter::default(), one)?.items.is_empty() {
        return Ok(None);
    }
    let new = NewUser {
        name: "Administrator".to_owned(),
        email: "admin@example.com".to_owned(),
        password_hash: Some(secrets.password.hash().to_owned()),
        admin: true,
        ..NewUser::named(USERNAME)
    };
    let user = create(tx, &new)?;
    let prefix = tx.settings()?.personal_access_token_prefix;
    let secret = secrets.token.clone().unwrap_or_else(|| Secret::generate(&prefix));
    let scopes = [
        Scope::Api,
        Scope::ReadUser,
        Scope::ReadRepository,
        Scope::WriteRepository,
        Scope::Sudo,
        Scope::AdminMode,
    ];
    let token = NewToken {
        user_id: user.id,
        kind: Kind::Personal,
        name: "first start".to_owned(),
        scopes: Scopes(scopes.to_vec()),
        expires_at: None,
    };
    token::actions::create(tx, &token, &secret)?;
    Ok(Some((user, secret)))
}
