//! Which groups somebody knows of by membership: those with a role in, and those above them and above projects with a
//! role in, whose names are part of the way there. Pages of groups and lists of them ask here, so that they agree.

use std::sync::Arc;

use db::{Tx, stamp::StampedCache};
use kernel::{
    AccessLevel, Actor, Result, Ts,
    ids::{NamespaceId, UserId},
};

use crate::{
    access::changes,
    listing::{Bind, ids, value},
};

/// Roles end at midnight, so the minute is as good as the moment, and the same question is asked for a whole minute.
const MINUTE: i64 = 60_000_000;

/// The condition on a row `a` of the access projection, of groups or of projects, that it gives at least this role now.
pub(crate) fn reached(now: Ts, level: AccessLevel) -> String {
    let minute = now.0 - now.0.rem_euclid(MINUTE);
    format!("a.access_level >= {} AND a.until > {}", level.number(), value(minute))
}

/// Whether somebody has a role in a group, and so in all that is inside. `group` is SQL for its id, about the value `$2`.
pub(crate) fn belongs(tx: &mut Tx<'_>, user: UserId, group: &str, value: Bind) -> Result<bool> {
    let reached = reached(tx.now, AccessLevel::Guest);
    let sql = format!(
        "SELECT a.namespace_id AS id FROM namespace_access a \
         WHERE a.user_id = $1 AND a.namespace_id = {group} AND {reached}"
    );
    Ok(!ids(tx, &sql, &[Bind::Number(user.0), value])?.is_empty())
}

/// The groups above somebody's groups and projects in which they have no role themselves.
pub(crate) fn above(tx: &mut Tx<'_>, user: UserId) -> Result<Arc<[i64]>> {
    static ABOVE: StampedCache<Arc<[i64]>> = StampedCache::new();
    let reached = reached(tx.now, AccessLevel::Minimal);
    // Roles end with a minute, too.
    let question = format!("{user}, who {reached}");
    ABOVE.answer(tx, &question, &changes::of_person(user), |tx| {
        let all = format!("{} SELECT above.id AS id FROM above", rows_above(&reached));
        Ok(ids(tx, &all, &[Bind::Number(user.0)])?.into())
    })
}

/// Whether a group is one of those [`above`] what somebody has a role in: they must know of it to get there. Nothing is
/// remembered of it, so that what is hidden takes as long as what is not there.
pub(crate) fn is_way(tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<bool> {
    let Some(user) = actor.id else { return Ok(false) };
    let reached = reached(tx.now, AccessLevel::Minimal);
    let one =
        format!("{} SELECT above.id AS id FROM above WHERE above.id = $2", rows_above(&reached));
    Ok(!ids(tx, &one, &[Bind::Number(user.0), Bind::Number(group.0)])?.is_empty())
}

/// `above`, those groups as rows of a statement, whose first value is the person.
fn rows_above(reached: &str) -> String {
    // Where somebody was let in, by membership or by a share, is where a role begins: everything below follows from it.
    // In the order of these words and no other: that begins with the few, and asks for the rest one by one.
    format!(
        "WITH RECURSIVE entered (id) AS ( \
             SELECT m.namespace_id FROM members m WHERE m.user_id = $1 AND m.namespace_id IS NOT NULL \
             UNION SELECT l.namespace_id FROM namespace_access a CROSS JOIN group_group_links l \
             WHERE a.user_id = $1 AND {reached} AND l.invited_id = a.namespace_id), \
         joined (id) AS ( \
             SELECT m.project_id FROM members m WHERE m.user_id = $1 AND m.project_id IS NOT NULL \
             UNION SELECT l.project_id FROM namespace_access a CROSS JOIN project_group_links l \
             WHERE a.user_id = $1 AND {reached} AND l.namespace_id = a.namespace_id), \
         passed (id) AS ( \
             SELECT n.parent_id FROM entered e CROSS JOIN namespaces n \
             WHERE n.id = e.id AND n.parent_id IS NOT NULL AND n.deleted_at IS NULL \
             AND EXISTS (SELECT 1 FROM namespace_access a \
                 WHERE a.user_id = $1 AND a.namespace_id = e.id AND {reached} LIMIT 1 OFFSET 0) \
             UNION SELECT p.namespace_id FROM joined j CROSS JOIN projects p CROSS JOIN namespaces n \
             WHERE p.id = j.id AND p.deleted_at IS NULL AND n.id = p.namespace_id AND n.kind = 'group' \
             AND EXISTS (SELECT 1 FROM project_access a \
                 WHERE a.user_id = $1 AND a.project_id = j.id AND {reached} LIMIT 1 OFFSET 0) \
             UNION SELECT n.parent_id FROM passed CROSS JOIN namespaces n \
             WHERE n.id = passed.id AND n.parent_id IS NOT NULL), \
         above (id) AS (SELECT passed.id FROM passed WHERE NOT EXISTS \
             (SELECT 1 FROM namespace_access a WHERE a.user_id = $1 AND a.namespace_id = passed.id AND {reached}))"
    )
}
