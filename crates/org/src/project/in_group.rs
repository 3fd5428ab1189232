//! The projects of a group's list: its own, those of ancestors or subgroups, and shared ones.

use db::{Conn, Tx, stamp::StampedCache};
use kernel::{Actor, Result, ids::NamespaceId, page::COUNT_LIMIT};

use crate::{
    access::changes,
    expiry::living_in,
    listing::{Bind, count, ids, list_of},
    namespace::visible_groups,
};

/// The groups around a group that a list includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupScope {
    pub id: NamespaceId,
    pub full_path: String,
    /// The group's own.
    pub own: bool,
    /// Also those of groups inside it, and inside these.
    pub below: bool,
    /// Also those of the groups that it lies in.
    pub above: bool,
    /// Also those that others shared with it.
    pub shared: bool,
}

/// A condition on `p`, and the texts that it speaks of, each where `{}` stands.
pub(super) struct GroupCondition {
    pub(super) sql: String,
    pub(super) words: Vec<String>,
    /// How many there are, where that had to be found out.
    pub(super) total: Option<i64>,
    /// Whether they are so few that they are put in order, instead of looked for in a walk through all projects.
    pub(super) gathered: bool,
    /// Whether all of them lie in the group.
    pub(super) is_inside: bool,
}

pub(super) fn condition(tx: &mut Tx<'_>, scope: &GroupScope) -> Result<GroupCondition> {
    let groups = if scope.above { ancestors(tx, scope.id)? } else { Vec::new() };
    let shared = if scope.shared { shared_with(tx, scope.id, &groups)? } else { Vec::new() };
    let is_inside = !scope.above && shared.is_empty();
    let mut all = GroupCondition {
        sql: String::new(),
        words: Vec::new(),
        total: None,
        gathered: false,
        is_inside,
    };
    let mut parts = Vec::new();
    if scope.own && scope.below {
        let key = scope.full_path.to_lowercase();
        all.words = vec![format!("{key}/"), format!("{key}0")];
        let alone = groups.is_empty() && shared.is_empty();
        if alone {
            all.total = Some(inside(tx, &all.words)?);
        }
        all.gathered = all.total.is_some_and(|total| total <= COUNT_LIMIT);
        // With the plus, SQLite keeps to the list's order instead of picking out what is inside and sorting it.
        let on_sqlite = matches!(tx.conn, Conn::Sqlite(_));
        let walked = on_sqlite && alone && !all.gathered;
        let column = if walked { "+p.path_key" } else { "p.path_key" };
        parts.push(format!("({column} > {{}} AND {column} < {{}})"));
    } else if scope.own {
        parts.push(format!("p.namespace_id = {}", scope.id));
    }
    if scope.own && !groups.is_empty() {
        parts.push(format!("p.namespace_id IN ({})", list_of(&groups)));
    }
    if !shared.is_empty() {
        parts.push(format!("p.id IN ({})", list_of(&shared)));
    }
    all.sql = match parts.len() {
        0 => "1 = 0".to_owned(),
        _ => format!("({})", parts.join(" OR ")),
    };
    Ok(all)
}

/// How many projects are inside, at most one more than lists tell.
fn inside(tx: &mut Tx<'_>, bounds: &[String]) -> Result<i64> {
    static INSIDE: StampedCache<i64> = StampedCache::new();
    let inside = "projects p WHERE p.deleted_at IS NULL AND p.path_key > $1 AND p.path_key < $2";
    let first = bounds.first().map(String::as_str).unwrap_or_default();
    INSIDE.answer(tx, first, &changes::of_tree(first), |tx| {
        let binds: Vec<Bind> = bounds.iter().cloned().map(Bind::Word).collect();
        count(tx, inside, &binds)
    })
}

/// The groups that a group lies in.
fn ancestors(tx: &mut Tx<'_>, group: NamespaceId) -> Result<Vec<i64>> {
    let sql = "WITH RECURSIVE above (id) AS ( \
               SELECT n.parent_id FROM namespaces n WHERE n.id = $1 AND n.parent_id IS NOT NULL \
               UNION SELECT n.parent_id FROM namespaces n JOIN above ON n.id = above.id \
               WHERE n.parent_id IS NOT NULL) \
               SELECT id FROM above";
    ids(tx, sql, &[Bind::Number(group.0)])
}

/// Projects of others that a group, or one above it, was invited to.
fn shared_with(tx: &mut Tx<'_>, group: NamespaceId, above: &[i64]) -> Result<Vec<i64>> {
    let mut groups = above.to_vec();
    groups.push(group.0);
    let living = living_in("l", tx.now);
    let sql = format!(
        "SELECT DISTINCT l.project_id AS id FROM project_group_links l WHERE l.namespace_id IN ({}) AND {living}",
        list_of(&groups)
    );
    ids(tx, &sql, &[])
}

/// Whether the caller sees every project of the list: whoever has a role in a group has it in all that is inside. What
/// is above it, and what others shared with it, is another matter: each project decides about its own shares.
pub(super) fn is_all_visible(
    tx: &mut Tx<'_>,
    actor: Actor,
    group: NamespaceId,
    within: &GroupCondition,
) -> Result<bool> {
    match actor.id {
        Some(user) if within.is_inside => {
            visible_groups::belongs(tx, user, "$2", Bind::Number(group.0))
        }
        _ => Ok(false),
    }
}
