//! Making tokens.

use db::{Tx, each_backend, error, schema::access_tokens};
use diesel::prelude::*;
use kernel::{Result, Ts, ids::UserId};

use super::{AccessToken, Kind, Scopes, Secret};

/// A token as it is first written down.
#[derive(Clone, Debug)]
pub struct NewToken {
    pub user_id: UserId,
    pub kind: Kind,
    pub name: String,
    pub scopes: Scopes,
    pub expires_at: Option<Ts>,
}

/// Keeps the digest of `secret`; the caller shows the clear value once.
pub fn create(tx: &mut Tx<'_>, new: &NewToken, secret: &Secret) -> Result<AccessToken> {
    let row = (
        access_tokens::user_id.eq(new.user_id),
        access_tokens::kind.eq(new.kind),
        access_tokens::name.eq(&new.name),
        access_tokens::digest.eq(secret.digest()),
        access_tokens::scopes.eq(new.scopes.to_string()),
        access_tokens::created_at.eq(tx.now),
        access_tokens::expires_at.eq(new.expires_at),
        access_tokens::revoked.eq(false),
    );
    let insert = diesel::insert_into(access_tokens::table).values(row);
    each_backend!(tx, |conn| insert
        .returning(AccessToken::as_returning())
        .get_result(conn)
        .map_err(error("Token")))
}
