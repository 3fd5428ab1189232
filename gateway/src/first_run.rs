//! First start: creates the administrator with secrets that are printed once.

use db::{Database, Tx};
use kernel::Result;
use org::{
    token::{self, Kind, Scope, Scopes, Secret, actions::NewToken},
    user::{self, actions::NewUser, password, store::UserStore},
};

/// The administrator's first secrets; `None` where the settings gave them and need not be shown.
#[derive(Debug)]
pub struct FirstSecrets {
    pub password: Option<String>,
    pub token: Option<Secret>,
}

/// Makes `root` when there is nobody. Returns what to show.
pub async fn prepare(
    db: &Database,
    password: Option<&str>,
    token: Option<&str>,
) -> Result<Option<FirstSecrets>> {
    if db.peek(|tx| tx.has_users()).await? {
        return Ok(None);
    }
    let generated = Secret::generate("");
    let clear = password.map_or_else(|| generated.reveal().to_owned(), str::to_owned);
    let hash = kernel::task::spawn_blocking(move || password::hash(&clear))
        .await
        .map_err(kernel::Error::internal)??;
    let secret = token.map_or_else(|| Secret::generate("glpat-"), Secret::given);
    let kept = secret.clone();
    let made = db.write(move |tx| make_root(tx, hash, &kept)).await?;
    Ok(made.then(|| FirstSecrets {
        password: password.is_none().then(|| generated.reveal().to_owned()),
        token: token.is_none().then_some(secret),
    }))
}

/// False when another process was faster.
fn make_root(tx: &mut Tx<'_>, password_hash: String, secret: &Secret) -> Result<bool> {
    if tx.has_users()? {
        return Ok(false);
    }
    let root = NewUser {
        name: "Administrator".to_owned(),
        email: "admin@example.com".to_owned(),
        password_hash: Some(password_hash),
        admin: true,
        ..NewUser::named("root")
    };
    let root = user::actions::create(tx, &root)?;
    let scopes = Scopes(vec![Scope::Api, Scope::Sudo, Scope::AdminMode]);
    let name = "first start".to_owned();
    let new = NewToken { user_id: root.id, kind: Kind::Personal, name, scopes, expires_at: None };
    token::actions::create(tx, &new, secret)?;
    Ok(true)
}
