//! `forgeway user` and `forgeway token`: for administrators with access to the machine, also while the server runs.

use anyhow::{Context, bail};
use clap::Subcommand;
use db::Tx;
use kernel::{TextEnum, Ts, error::Message};
use org::{
    faults::Faults,
    token::{self, Kind, Scope, Scopes, Secret, actions::NewToken, store::TokenStore},
    user::{
        self, State, User, actions::NewUser, model::Identity, password, rules, store::UserStore,
    },
};

use super::output::print;
use crate::{config::Config, server};

#[derive(Debug, Subcommand)]
pub(super) enum UserCommand {
    /// Make an account; the password is shown once
    #[command(
        after_help = "Example:\n  forgeway user create ada --email ada@example.com --name 'Ada Lovelace' --admin"
    )]
    Create {
        username: String,
        #[arg(long)]
        email: String,
        /// [default: the user name]
        #[arg(long)]
        name: Option<String>,
        #[arg(long)]
        admin: bool,
    },
    /// List all accounts
    #[command(after_help = "Example:\n  forgeway user list")]
    List,
    /// Give somebody a new password, shown once
    #[command(after_help = "Example:\n  forgeway user password root")]
    Password { username: String },
    /// Keep somebody out: from the next request on, with every credential
    #[command(after_help = "Example:\n  forgeway user block ada")]
    Block { username: String },
    /// Let somebody in again
    #[command(after_help = "Example:\n  forgeway user unblock ada")]
    Unblock { username: String },
}

#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Make an access token; it is shown once
    #[command(
        after_help = "Example:\n  forgeway token create root --name backup --scope read_api --scope read_repository --days 90"
    )]
    Create {
        username: String,
        #[arg(long, default_value = "command line")]
        name: String,
        /// May be given several times
        #[arg(long = "scope", default_value = "api")]
        scopes: Vec<String>,
        /// How long it works [default: for ever]
        #[arg(long)]
        days: Option<u16>,
    },
    /// Make a token useless at once
    #[command(after_help = "Example:\n  forgeway token revoke - < token.txt")]
    Revoke {
        /// The token itself; `-` reads it from standard input, where other people do not see it
        token: String,
    },
}

/// An error with the fields it is about.
fn told(error: kernel::Error) -> anyhow::Error {
    match &error.message {
        Message::Fields(fields) => {
            let texts = fields
                .iter()
                .flat_map(|(field, texts)| texts.iter().map(move |text| format!("{field} {text}")));
            anyhow::anyhow!(texts.collect::<Vec<_>>().join(", "))
        }
        _ => error.into(),
    }
}

async fn hashed(clear: String) -> anyhow::Result<String> {
    Ok(kernel::task::spawn_blocking(move || password::hash(&clear)).await??)
}

pub(super) async fn run_user(config: &Config, command: UserCommand) -> anyhow::Result<()> {
    let app = server::open_shared(config).await?;
    match command {
        UserCommand::Create { username, email, name, admin } => {
            let secret = Secret::generate("");
            let hash = hashed(secret.reveal().to_owned()).await?;
            let name = name.unwrap_or_else(|| username.clone());
            let new = NewUser {
                name,
                email,
                admin,
                password_hash: Some(hash),
                ..NewUser::named(&username)
            };
            let made = app.db.write(move |tx| create(tx, &new)).await;
            let made = made.map_err(told).with_context(|| format!("{username} cannot be made"))?;
            print(&format!(
                "made {} (id {}) with the password {}\n",
                made.username,
                made.id,
                secret.reveal()
            ));
        }
        UserCommand::List => print(&app.db.read(list).await?),
        UserCommand::Password { username } => {
            let secret = Secret::generate("");
            let hash = hashed(secret.reveal().to_owned()).await?;
            let named = username.clone();
            app.db.write(move |tx| change(tx, &named, Change::Password(hash))).await?;
            print(&format!("the new password of {username} is {}\n", secret.reveal()));
        }
        UserCommand::Block { username } => set_state(config, username, State::Blocked).await?,
        UserCommand::Unblock { username } => set_state(config, username, State::Active).await?,
    }
    Ok(())
}

fn create(tx: &mut Tx<'_>, new: &NewUser) -> kernel::Result<User> {
    let mut faults = Faults::default();
    let identity = Identity::new(&new.username, &new.name, &new.email);
    rules::identity_faults(&identity, &mut faults);
    faults.into_result()?;
    user::actions::create(tx, new)
}

async fn set_state(config: &Config, username: String, state: State) -> anyhow::Result<()> {
    let app = server::open_shared(config).await?;
    let named = username.clone();
    app.db.write(move |tx| change(tx, &named, Change::State(state))).await?;
    print(&format!("{username} is now {state}\n"));
    Ok(())
}

fn list(tx: &mut Tx<'_>) -> kernel::Result<String> {
    let all = tx.all_users()?;
    let line = |user: &User| {
        let role = if user.admin { "administrator" } else { "" };
        format!(
            "{:<6} {:<24} {:<12} {:<14} {}\n",
            user.id, user.username, user.state, role, user.email
        )
    };
    Ok(all.iter().map(line).collect())
}

enum Change {
    Password(String),
    State(State),
}

fn change(tx: &mut Tx<'_>, username: &str, change: Change) -> kernel::Result<()> {
    let user = tx.find_user_named(username)?.ok_or_else(|| kernel::Error::not_found("User"))?;
    match change {
        Change::Password(hash) => tx.save_password(user.id, &hash, None)?,
        Change::State(state) => {
            tx.move_user(&user, state)?;
        }
    }
    Ok(())
}

pub(super) async fn run_token(config: &Config, command: TokenCommand) -> anyhow::Result<()> {
    let app = server::open_shared(config).await?;
    match command {
        TokenCommand::Create { username, name, scopes, days } => {
            let scopes = known(&scopes)?;
            let today = Ts::from_date(app.db.clock().now().date());
            let expires_at = days.map(|days| today.plus(time::Duration::days(days.into())));
            let secret = Secret::generate("glpat-");
            let kept = secret.clone();
            let made = app.db.write(move |tx| {
                let user = tx
                    .find_user_named(&username)?
                    .ok_or_else(|| kernel::Error::not_found("User"))?;
                let new =
                    NewToken { user_id: user.id, kind: Kind::Personal, name, scopes, expires_at };
                token::actions::create(tx, &new, &kept)
            });
            made.await?;
            print(&format!("{}\n", secret.reveal()));
        }
        TokenCommand::Revoke { token } => {
            let given = match token.as_str() {
                "-" => std::io::read_to_string(std::io::stdin())?,
                _ => token,
            };
            let secret = Secret::given(given.trim());
            app.db.write(move |tx| revoke(tx, &secret)).await?;
            print("revoked\n");
        }
    }
    Ok(())
}

fn known(words: &[String]) -> anyhow::Result<Scopes> {
    let mut scopes = Vec::new();
    for word in words {
        match Scope::find(word) {
            Some(scope) => scopes.push(scope),
            None => {
                let all: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
                bail!("there is no scope {word}; known are {}", all.join(", "));
            }
        }
    }
    Ok(Scopes(scopes))
}

fn revoke(tx: &mut Tx<'_>, secret: &Secret) -> kernel::Result<()> {
    let (token, _) = tx.find_token(secret)?.ok_or_else(|| kernel::Error::not_found("Token"))?;
    tx.revoke_token(token.id)
}
