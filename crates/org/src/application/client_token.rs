//! Tokens that applications have for themselves, by `client_credentials`: they stand for nobody.

use db::{Tx, each_backend, error, schema::oauth_client_tokens as tokens};
use diesel::prelude::*;
use kernel::{Result, Ts, ids::ApplicationId};
use time::Duration;

use super::Application;
use crate::token::{Scopes, Secret, oauth::LIFETIME};

const NOUN: &str = "Token";
/// How long one that has expired is still known as such.
const MEMORY: Duration = Duration::days(1);

/// A token of an application, of which nobody but the application itself is behind it.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::oauth_client_tokens, check_for_backend(db::AnyBackend))]
pub struct ClientToken {
    pub id: i64,
    pub application_id: ApplicationId,
    #[diesel(column_name = scopes)]
    pub scope_words: String,
    pub created_at: Ts,
    pub expires_at: Ts,
    pub revoked: bool,
}

impl ClientToken {
    pub fn scopes(&self) -> Scopes {
        Scopes::parse(&self.scope_words)
    }

    pub fn is_expired(&self, now: Ts) -> bool {
        self.expires_at <= now
    }
}

/// A new token, with its secret for the one answer that shows it. Nothing renews it.
///
/// # Errors
/// When the database cannot be written.
pub fn issue(
    tx: &mut Tx<'_>,
    client: &Application,
    scopes: &Scopes,
) -> Result<(ClientToken, Secret)> {
    let now = tx.now;
    let old = diesel::delete(tokens::table.filter(tokens::expires_at.lt(now.plus(-MEMORY))));
    each_backend!(tx, |conn| old.execute(conn).map_err(error(NOUN)))?;
    let secret = Secret::generate_hex();
    let row = (
        tokens::digest.eq(secret.digest()),
        tokens::application_id.eq(client.id),
        tokens::scopes.eq(scopes.to_string()),
        tokens::created_at.eq(now),
        tokens::expires_at.eq(now.plus(LIFETIME)),
        tokens::revoked.eq(false),
    );
    let insert = diesel::insert_into(tokens::table).values(row);
    let token = each_backend!(tx, |conn| insert
        .returning(ClientToken::as_returning())
        .get_result(conn)
        .map_err(error(NOUN)))?;
    Ok((token, secret))
}

/// The one with this secret, also when it does not work any more.
///
/// # Errors
/// When the database cannot be read.
pub fn find(tx: &mut Tx<'_>, secret: &Secret) -> Result<Option<ClientToken>> {
    // The digest is what the index compares, so the time taken tells nothing about the secret.
    let row = tokens::table.filter(tokens::digest.eq(secret.digest()));
    each_backend!(tx, |conn| row
        .select(ClientToken::as_select())
        .get_result(conn)
        .optional()
        .map_err(error(NOUN)))
}

/// Ends one.
pub(super) fn revoke(tx: &mut Tx<'_>, token: &ClientToken) -> Result<()> {
    let update = diesel::update(tokens::table.find(token.id)).set(tokens::revoked.eq(true));
    each_backend!(tx, |conn| update.execute(conn).map_err(error(NOUN)))?;
    Ok(())
}
