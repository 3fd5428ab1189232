//! Reassigns what a removed user did to the ghost user.

use db::{Tx, each_backend, error};
use diesel::{
    RunQueryDsl, sql_query,
    sql_types::{BigInt, Nullable},
};
use kernel::{Result, ids::UserId};

/// So many rows of a kind change in one transaction, where it is not the last.
pub const AT_ONCE: i64 = 500;

/// Makes up to so many pipelines and as many jobs of somebody's the heir's; without an heir nobody began them. Tells
/// whether there may be more.
pub fn reassign_some(
    tx: &mut Tx<'_>,
    from: UserId,
    heir: Option<UserId>,
    most: i64,
) -> Result<bool> {
    let mut is_more = false;
    for table in ["pipelines", "jobs"] {
        let text = format!(
            "UPDATE {table} SET user_id = $1 WHERE id IN \
             (SELECT id FROM {table} WHERE user_id = $2 LIMIT $3)"
        );
        let query = sql_query(text)
            .bind::<Nullable<BigInt>, _>(heir)
            .bind::<BigInt, _>(from)
            .bind::<BigInt, _>(most);
        let changed = each_backend!(tx, |conn| query.execute(conn).map_err(error("Pipeline")))?;
        is_more |= i64::try_from(changed).is_ok_and(|changed| changed >= most);
    }
    Ok(is_more)
}

/// Makes all pipelines and jobs of somebody's the heir's.
pub fn reassign(tx: &mut Tx<'_>, from: UserId, heir: Option<UserId>) -> Result<()> {
    reassign_some(tx, from, heir, i64::MAX).map(drop)
}
