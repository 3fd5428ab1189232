//! Finding and keeping tokens.

use db::{
    CountOf, Tx, columns, each_backend, error, lower,
    schema::{access_tokens, users},
};
use diesel::{prelude::*, sql_types::Integer};
use kernel::{
    Result, Ts,
    ids::{TokenId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{AccessToken, Kind, Secret, TokenFilter, TokenOrder, model::Activity};
use crate::{
    search::containing,
    user::{User, store::UserStore},
};

/// A moment that is not there comes after all others, and first where the order is turned round.
macro_rules! in_order {
    ($query:expr, $order:expr) => {{
        use TokenOrder::*;
        use access_tokens::{expires_at, id, last_used_at, name};
        let query = $query;
        match $order {
            None | Some(CreatedAscending) => query.order_by(id.asc()),
            Some(CreatedDescending) => query.order_by(id.desc()),
            Some(ExpiresAscending) => {
                query.order_by((expires_at.is_null().asc(), expires_at.asc(), id.desc()))
            }
            Some(ExpiresDescending) => {
                query.order_by((expires_at.is_null().desc(), expires_at.desc(), id.desc()))
            }
            Some(LastUsedAscending) => {
                query.order_by((last_used_at.is_null().asc(), last_used_at.asc(), id.desc()))
            }
            Some(LastUsedDescending) => {
                query.order_by((last_used_at.is_null().desc(), last_used_at.desc(), id.desc()))
            }
            Some(NameAscending) => query.order_by((lower(name).asc(), id.desc())),
            Some(NameDescending) => query.order_by((lower(name).desc(), id.desc())),
        }
    }};
}

pub trait TokenStore {
    /// The token with this clear value, with its user, whatever their state.
    fn find_token(&mut self, secret: &Secret) -> Result<Option<(AccessToken, User)>>;
    fn find_token_by_id(&mut self, id: TokenId) -> Result<Option<AccessToken>>;
    /// The OAuth token that this secret renews, with its user.
    fn find_refreshable(&mut self, secret: &Secret) -> Result<Option<(AccessToken, User)>>;
    fn tokens(&mut self, filter: &TokenFilter, page: PageRequest) -> Result<Page<AccessToken>>;
    /// Notes that a token, and with it its user, was active.
    fn touch_token(&mut self, id: TokenId) -> Result<()>;
    fn revoke_token(&mut self, id: TokenId) -> Result<()>;
    /// Revokes every token of a chain of rotations.
    fn revoke_family(&mut self, token: &AccessToken) -> Result<()>;
    /// Revokes the tokens of a chain that came before this one.
    fn revoke_older(&mut self, token: &AccessToken) -> Result<()>;
    /// Revokes the tokens of a chain that came after this one.
    fn revoke_newer(&mut self, token: &AccessToken) -> Result<()>;
}

impl TokenStore for Tx<'_> {
    fn find_token(&mut self, secret: &Secret) -> Result<Option<(AccessToken, User)>> {
        // The digest is what the index compares, so the time taken tells nothing about the secret.
        let query = access_tokens::table
            .inner_join(users::table)
            .filter(access_tokens::digest.eq(secret.digest()));
        each_backend!(self, |conn| query
            .select((columns(AccessToken::as_select()), columns(User::as_select())))
            .get_result(conn)
            .optional()
            .map_err(error("Token")))
    }

    fn find_token_by_id(&mut self, id: TokenId) -> Result<Option<AccessToken>> {
        let query = access_tokens::table.find(id);
        each_backend!(self, |conn| query
            .select(AccessToken::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Token")))
    }

    fn find_refreshable(&mut self, secret: &Secret) -> Result<Option<(AccessToken, User)>> {
        let query = access_tokens::table
            .inner_join(users::table)
            .filter(access_tokens::refresh_digest.eq(secret.digest()))
            .filter(access_tokens::kind.eq(Kind::OAuth));
        each_backend!(self, |conn| query
            .select((columns(AccessToken::as_select()), columns(User::as_select())))
            .get_result(conn)
            .optional()
            .map_err(error("Token")))
    }

    fn tokens(&mut self, filter: &TokenFilter, page: PageRequest) -> Result<Page<AccessToken>> {
        let now = self.now;
        let term = filter.search.as_deref().map(containing);
        each_backend!(self, |conn| {
            let chosen = || {
                let mut query = access_tokens::table
                    .filter(access_tokens::kind.eq_any(&filter.kinds))
                    .into_boxed();
                if let Some(user) = filter.user {
                    query = query.filter(access_tokens::user_id.eq(user));
                }
                if let Some(users) = &filter.users {
                    query = query.filter(access_tokens::user_id.eq_any(users));
                }
                if let Some(revoked) = filter.revoked {
                    query = query.filter(access_tokens::revoked.eq(revoked));
                }
                let expired =
                    access_tokens::expires_at.is_not_null().and(access_tokens::expires_at.le(now));
                query = match filter.activity {
                    Some(Activity::Active) => query
                        .filter(access_tokens::revoked.eq(false))
                        .filter(diesel::dsl::not(expired)),
                    Some(Activity::Inactive) => {
                        query.filter(access_tokens::revoked.eq(true).or(expired))
                    }
                    None => query,
                };
                if let Some(term) = &term {
                    query = query.filter(lower(access_tokens::name).like(term).escape('\\'));
                }
                if let Some(at) = filter.created_after {
                    query = query.filter(access_tokens::created_at.ge(at));
                }
                if let Some(at) = filter.created_before {
                    query = query.filter(access_tokens::created_at.le(at.end_of_shown()));
                }
                if let Some(at) = filter.last_used_after {
                    query = query.filter(access_tokens::last_used_at.ge(at));
                }
                if let Some(at) = filter.last_used_before {
                    query = query.filter(access_tokens::last_used_at.le(at.end_of_shown()));
                }
                if let Some(at) = filter.expires_after {
                    query = query.filter(access_tokens::expires_at.ge(at));
                }
                if let Some(at) = filter.expires_before {
                    query = query.filter(access_tokens::expires_at.lt(at));
                }
                query
            };
            let items: Vec<AccessToken> = in_order!(chosen(), filter.order)
                .select(AccessToken::as_select())
                .limit(page.per_page)
                .offset(page.offset())
                .load(conn)
                .map_err(error("Token"))?;
            let counted = chosen().select(diesel::dsl::sql::<Integer>("1")).limit(COUNT_LIMIT + 1);
            let total: i64 = CountOf(counted).get_result(conn).map_err(error("Token"))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn touch_token(&mut self, id: TokenId) -> Result<()> {
        let row = access_tokens::table.find(id);
        let now = self.now;
        let touched = diesel::update(row)
            .set(access_tokens::last_used_at.eq(now))
            .returning(access_tokens::user_id);
        let user: Option<UserId> = each_backend!(self, |conn| touched
            .get_result(conn)
            .optional()
            .map_err(error("Token")))?;
        let Some(user) = user else { return Ok(()) };
        self.record_activity(user)
    }

    fn revoke_token(&mut self, id: TokenId) -> Result<()> {
        let row = access_tokens::table.find(id);
        each_backend!(self, |conn| diesel::update(row)
            .set(access_tokens::revoked.eq(true))
            .execute(conn)
            .map_err(error("Token")))?;
        Ok(())
    }

    fn revoke_family(&mut self, token: &AccessToken) -> Result<()> {
        let first = token.family();
        let rows = access_tokens::table
            .filter(access_tokens::id.eq(first).or(access_tokens::family_id.eq(first)));
        each_backend!(self, |conn| diesel::update(rows)
            .set(access_tokens::revoked.eq(true))
            .execute(conn)
            .map_err(error("Token")))?;
        Ok(())
    }

    fn revoke_older(&mut self, token: &AccessToken) -> Result<()> {
        let first = token.family();
        let rows = access_tokens::table
            .filter(access_tokens::id.eq(first).or(access_tokens::family_id.eq(first)))
            .filter(access_tokens::id.lt(token.id));
        each_backend!(self, |conn| diesel::update(rows)
            .set(access_tokens::revoked.eq(true))
            .execute(conn)
            .map_err(error("Token")))?;
        Ok(())
    }

    fn revoke_newer(&mut self, token: &AccessToken) -> Result<()> {
        let rows = access_tokens::table
            .filter(access_tokens::family_id.eq(token.family()))
            .filter(access_tokens::id.gt(token.id));
        each_backend!(self, |conn| diesel::update(rows)
            .set(access_tokens::revoked.eq(true))
            .execute(conn)
            .map_err(error("Token")))?;
        Ok(())
    }
}

/// The midnight that begins the day after so many days.
pub(crate) fn midnight_in(now: Ts, days: i64) -> Ts {
    Ts::from_date(now.plus(time::Duration::days(days)).date())
}
