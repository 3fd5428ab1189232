//! Reassigns the reactions of a removed user.

use std::collections::BTreeSet;

use db::{OneOf as _, Tx, each_backend, error, schema::award_emoji};
use diesel::{prelude::*, sql_query, sql_types::BigInt};
use kernel::{Result, ids::UserId};

use super::{Award, AwardStore, AwardTarget};

/// Makes up to so many reactions of somebody's the heir's. Those that the heir has already go, and without an heir all;
/// thumbs are counted anew. Tells whether there may be more.
pub fn reassign_some(
    tx: &mut Tx<'_>,
    from: UserId,
    heir: Option<UserId>,
    most: i64,
) -> Result<bool> {
    let theirs = award_emoji::table
        .filter(award_emoji::user_id.eq(from))
        .order(award_emoji::id)
        .limit(most)
        .select(award_emoji::id);
    let ids: Vec<i64> = each_backend!(tx, |conn| theirs.load(conn).map_err(error("Award Emoji")))?;
    if let Some(heir) = heir {
        inherit(tx, &ids, heir)?;
    }
    let rest = award_emoji::table
        .filter(award_emoji::id.one_of(&ids))
        .filter(award_emoji::user_id.eq(from));
    let rest: Vec<Award> = each_backend!(tx, |conn| rest
        .select(Award::as_select())
        .load(conn)
        .map_err(error("Award Emoji")))?;
    let gone: Vec<i64> = rest.iter().map(|award| award.id).collect();
    let rows = diesel::delete(award_emoji::table.filter(award_emoji::id.eq_any(gone)));
    each_backend!(tx, |conn| rows.execute(conn).map_err(error("Award Emoji")))?;
    // One order for all: whoever counts what two of these are about waits for the other only once.
    let fewer: BTreeSet<AwardTarget> =
        rest.iter().map(|award| AwardTarget { kind: award.item_kind, id: award.item_id }).collect();
    fewer.into_iter().try_for_each(|of| tx.count_votes(of))?;
    Ok(i64::try_from(ids.len()).is_ok_and(|found| found >= most))
}

fn inherit(tx: &mut Tx<'_>, ids: &[i64], heir: UserId) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let text = format!(
        "UPDATE award_emoji SET user_id = $1 WHERE id IN ({}) AND NOT EXISTS (SELECT 1 FROM award_emoji own \
         WHERE own.user_id = $1 AND own.item_kind = award_emoji.item_kind AND own.item_id = award_emoji.item_id \
         AND own.name = award_emoji.name)",
        ids.join(", ")
    );
    let query = sql_query(text).bind::<BigInt, _>(heir);
    each_backend!(tx, |conn| query.execute(conn).map_err(error("Award Emoji")))?;
    Ok(())
}
