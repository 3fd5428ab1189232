//! The effect of a ban from a group on roles there and below.

use db::{Tx, each_backend, error, schema::namespace_bans};
use diesel::{dsl::exists, prelude::*, sql_query};
use kernel::{
    Result,
    ids::{NamespaceId, UserId},
};

use super::access_scope::AffectedUsers;
use crate::listing::{ids, list_of, value};

fn are_there(tx: &mut Tx<'_>) -> Result<bool> {
    each_backend!(tx, |conn| diesel::select(exists(
        namespace_bans::table.select(namespace_bans::user_id)
    ))
    .get_result(conn)
    .map_err(error("Ban")))
}

/// Takes out of the projection what people who are locked out would have in groups.
pub(super) fn leave_out_of_groups(tx: &mut Tx<'_>, whom: AffectedUsers) -> Result<()> {
    const ROWS: &str =
        "namespace_access WHERE (user_id, namespace_id) IN (SELECT s.user_id, s.id FROM shut s)";
    leave_out(tx, whom, ROWS)
}

/// As [`leave_out_of_groups`], in projects.
pub(super) fn leave_out_of_projects(tx: &mut Tx<'_>, whom: AffectedUsers) -> Result<()> {
    const ROWS: &str = "project_access WHERE (user_id, project_id) IN \
        (SELECT s.user_id, p.id FROM shut s JOIN projects p ON p.namespace_id = s.id)";
    leave_out(tx, whom, ROWS)
}

fn leave_out(tx: &mut Tx<'_>, whom: AffectedUsers, rows: &str) -> Result<()> {
    if !are_there(tx)? {
        return Ok(());
    }
    let only = match whom {
        AffectedUsers::One(user) => format!("WHERE b.user_id = {user}"),
        AffectedUsers::Everybody | AffectedUsers::MembersOf(_) | AffectedUsers::PeopleIn(_) => {
            String::new()
        }
    };
    let text = format!(
        "WITH RECURSIVE shut(user_id, id) AS (SELECT b.user_id, b.namespace_id FROM namespace_bans b {only} \
         UNION SELECT s.user_id, n.id FROM shut s JOIN namespaces n ON n.parent_id = s.id) DELETE FROM {rows}"
    );
    each_backend!(tx, |conn| sql_query(&text).execute(conn).map_err(error("Ban")))?;
    Ok(())
}

/// Of which of these namespaces somebody is locked out, there or above.
pub(super) fn hold(
    tx: &mut Tx<'_>,
    user: UserId,
    namespaces: &[NamespaceId],
) -> Result<Vec<NamespaceId>> {
    let all: Vec<i64> = namespaces.iter().map(|id| id.0).collect();
    let text = format!(
        "WITH RECURSIVE line(id, above) AS (SELECT n.id, n.id FROM namespaces n WHERE n.id IN ({}) \
         UNION SELECT l.id, n.parent_id FROM line l JOIN namespaces n ON n.id = l.above WHERE n.parent_id IS NOT NULL) \
         SELECT DISTINCT l.id AS id FROM line l JOIN namespace_bans b ON b.namespace_id = l.above WHERE b.user_id = {}",
        list_of(&all),
        value(user)
    );
    Ok(ids(tx, &text, &[])?.into_iter().map(NamespaceId).collect())
}
