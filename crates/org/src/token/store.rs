//! Finding and keeping tokens.

use db::{
    Tx, each_backend, error,
    schema::{access_tokens, users},
};
use diesel::prelude::*;
use kernel::{Result, ids::TokenId};

use super::{AccessToken, Secret};
use crate::user::User;

pub trait TokenStore {
    /// The token with this clear value, with its user, whatever their state.
    fn find_token(&mut self, secret: &Secret) -> Result<Option<(AccessToken, User)>>;
    fn touch_token(&mut self, id: TokenId) -> Result<()>;
}

impl TokenStore for Tx<'_> {
    fn find_token(&mut self, secret: &Secret) -> Result<Option<(AccessToken, User)>> {
        // The digest is what the index compares, so the time taken tells nothing about the secret.
        let query = access_tokens::table
            .inner_join(users::table)
            .filter(access_tokens::digest.eq(secret.digest()));
        each_backend!(self, |conn| query
            .select((AccessToken::as_select(), User::as_select()))
            .get_result(conn)
            .optional()
            .map_err(error("Token")))
    }

    fn touch_token(&mut self, id: TokenId) -> Result<()> {
        let row = access_tokens::table.find(id);
        let now = self.now;
        each_backend!(self, |conn| diesel::update(row)
            .set(access_tokens::last_used_at.eq(now))
            .execute(conn)
            .map_err(error("Token")))?;
        Ok(())
    }
}
