//! Notice that tokens of projects and groups end soon: a week before, and once more on the last day.

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{access_tokens, members},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId, TokenId},
};
use time::Duration;

use super::{AccessToken, Kind, store::midnight_in};
use crate::member::Source;

/// How long before its end a token is told of, and once more.
const FIRST_NOTICE: Duration = Duration::days(7);
const LAST_NOTICE: Duration = Duration::days(1);
/// So many tokens in one transaction.
const AT_ONCE: i64 = 200;

/// Tokens of projects and groups that stop working soon, mentioned in the transaction that notes it.
#[derive(Clone, Debug)]
pub struct ExpiringTokens(pub Vec<(AccessToken, Source)>);

impl kernel::event::Event for ExpiringTokens {
    fn kind(&self) -> &'static str {
        "access_token.expiring"
    }

    fn project(&self) -> Option<ProjectId> {
        None
    }

    /// It is only mentioned: nobody hears it after the commit.
    fn payload(&self) -> String {
        String::new()
    }
}

/// Tells which tokens stop working soon, each of them once a week and once a day before; whether there may be more.
pub(crate) fn announce_expiring(tx: &mut Tx<'_>) -> Result<bool> {
    let due = due_tokens(tx)?;
    if due.is_empty() {
        return Ok(false);
    }
    let now = tx.now;
    let ids: Vec<TokenId> = due.iter().map(|(token, _)| token.id).collect();
    let rows = access_tokens::table.filter(access_tokens::id.one_of(&ids));
    let told = diesel::update(rows).set(access_tokens::expiry_announced_at.eq(Some(now)));
    each_backend!(tx, |conn| told.execute(conn).map_err(error("Token")))?;
    tx.mention(ExpiringTokens(due));
    Ok(true)
}

/// Tokens to tell of now, with the project or group of each. There is no index for it: it is asked once a day.
fn due_tokens(tx: &mut Tx<'_>) -> Result<Vec<(AccessToken, Source)>> {
    type Row = (AccessToken, Option<ProjectId>, Option<NamespaceId>);
    let now = tx.now;
    let is_new = access_tokens::expiry_announced_at.is_null();
    let is_last = access_tokens::expires_at
        .le(now.plus(LAST_NOTICE))
        .and(access_tokens::expiry_announced_at.lt(midnight_in(now, 0)));
    let due = access_tokens::table
        .inner_join(members::table.on(members::user_id.eq(access_tokens::user_id)))
        .filter(access_tokens::kind.eq(Kind::Resource))
        .filter(access_tokens::revoked.eq(false))
        .filter(access_tokens::expires_at.gt(now))
        .filter(access_tokens::expires_at.le(now.plus(FIRST_NOTICE)))
        .filter(is_new.or(is_last))
        .order((access_tokens::id, members::id))
        .limit(AT_ONCE);
    let mut rows: Vec<Row> = each_backend!(tx, |conn| due
        .select((AccessToken::as_select(), members::project_id, members::namespace_id))
        .load(conn)
        .map_err(error("Token")))?;
    // A bot that was made a member elsewhere as well began where its token is from.
    rows.dedup_by_key(|(token, _, _)| token.id);
    let with_source = |(token, project, group)| (token, Source::of(project, group));
    Ok(rows.into_iter().map(with_source).collect())
}
