//! Groups and personal namespaces together: everywhere a project can live.

use std::collections::HashMap;

use db::Tx;
use diesel::{prelude::*, sql_types::BigInt};
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, UserId},
    page::{Page, PageRequest},
};

use super::{
    Kind, Namespace, list::in_order, model::keeps_to_itself, networks, search, visible_groups,
};
use crate::{
    expiry::living_in,
    listing::{Bind, Conditions, Selection, count, ids, list_of, page_of_ids, rows},
};

/// Which namespaces are wanted.
#[derive(Clone, Debug)]
pub struct NamespaceFilter {
    /// Who asks.
    pub actor: Actor,
    /// Only this person's: their own, and groups that they have a role in.
    pub of: Option<UserId>,
    pub owned: bool,
    pub search: Option<String>,
}

pub trait NamespaceLists {
    fn namespaces(
        &mut self,
        filter: &NamespaceFilter,
        page: PageRequest,
    ) -> Result<Page<Namespace>>;
    /// What those are told of these namespaces who look after them.
    fn cared_for(
        &mut self,
        actor: Actor,
        among: &[Namespace],
    ) -> Result<HashMap<NamespaceId, HeadCounts>>;
}

/// The number of members of a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeadCounts {
    /// Members of the group, or of one below it.
    pub members: i64,
    /// People who take a seat: with a role in the group or in anything below it, however they came by it.
    pub seats: i64,
}

#[derive(QueryableByName)]
struct HeadCountRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    people: i64,
}

impl NamespaceLists for Tx<'_> {
    fn namespaces(
        &mut self,
        filter: &NamespaceFilter,
        page: PageRequest,
    ) -> Result<Page<Namespace>> {
        let mut all = Conditions::default();
        let closed = networks::closed_to(self, filter.actor)?;
        let search = filter.search.as_deref().filter(|term| !term.trim().is_empty());
        let (id, tables) = match filter.of {
            None => {
                all.plain("n.deleted_at IS NULL");
                ("n.id", "namespaces n")
            }
            // The projection gives somebody's namespaces in their order.
            Some(user) => {
                let level = if filter.owned { AccessLevel::Owner } else { AccessLevel::Minimal };
                let reached = visible_groups::reached(self.now, level);
                all.number(&format!("a.user_id = {{}} AND {reached}"), user.0);
                // Few are deleted and not yet purged, so that they are sooner left out than the others looked at.
                all.plain(
                    "a.namespace_id NOT IN (SELECT d.id FROM namespaces d WHERE d.deleted_at IS NOT NULL)",
                );
                if search.is_none() && closed.is_empty() {
                    ("a.namespace_id", "namespace_access a")
                } else {
                    all.plain("n.id = a.namespace_id");
                    ("a.namespace_id", "namespace_access a CROSS JOIN namespaces n")
                }
            }
        };
        // Owners reach their groups from anywhere.
        let owner = visible_groups::reached(self.now, AccessLevel::Owner);
        for ranges in closed {
            let owned = format!(
                "EXISTS (SELECT 1 FROM namespace_access a WHERE a.user_id = {} AND a.namespace_id = n.id AND {owner})",
                filter.actor.id.map_or(0, |user| user.0)
            );
            all.word(&format!("(n.ip_ranges IS NULL OR n.ip_ranges <> {{}} OR {owned})"), ranges);
        }
        if let Some(term) = search {
            search::matching(self, &mut all, "n", ["path", "name"], term)?;
        }
        let from = format!("{tables} WHERE {}", all.text());
        let order = format!("{id} ASC");
        let selection = Selection { id, from, binds: all.binds, order };
        let (from, binds) = (selection.from.clone(), selection.binds.clone());
        let found = page_of_ids(self, &selection, page, |tx| count(tx, &from, &binds))?;
        let items = in_order(self, &found.items)?;
        Ok(Page { items, total: found.total })
    }

    fn cared_for(
        &mut self,
        actor: Actor,
        among: &[Namespace],
    ) -> Result<HashMap<NamespaceId, HeadCounts>> {
        let Some(user) = actor.id else { return Ok(HashMap::new()) };
        let all: Vec<i64> = among.iter().map(|namespace| namespace.id.0).collect();
        let cared = if actor.admin { all } else { owned_among(self, user, &all)? };
        let is_cared_for = |namespace: &&Namespace| cared.contains(&namespace.id.0);
        let (groups, homes): (Vec<&Namespace>, Vec<&Namespace>) =
            among.iter().filter(is_cared_for).partition(|place| place.kind == Kind::Group);
        let groups: Vec<i64> = groups.iter().map(|group| group.id.0).collect();
        let (members, seats) = (members_inside(self, &groups)?, seats_inside(self, &groups)?);
        let of = |counts: &HashMap<i64, i64>, id: &i64| counts.get(id).copied().unwrap_or_default();
        let mut found: HashMap<NamespaceId, HeadCounts> = groups
            .iter()
            .map(|id| {
                (NamespaceId(*id), HeadCounts { members: of(&members, id), seats: of(&seats, id) })
            })
            .collect();
        // Somebody's own place has one seat: theirs.
        found.extend(homes.iter().map(|home| (home.id, HeadCounts { members: 0, seats: 1 })));
        Ok(found)
    }
}

/// In which of these somebody is an owner.
fn owned_among(tx: &mut Tx<'_>, user: UserId, among: &[i64]) -> Result<Vec<i64>> {
    let reached = visible_groups::reached(tx.now, AccessLevel::Owner);
    let sql = format!(
        "SELECT a.namespace_id AS id FROM namespace_access a \
         WHERE a.user_id = $1 AND {reached} AND a.namespace_id IN ({})",
        list_of(among)
    );
    ids(tx, &sql, &[Bind::Number(user.0)])
}

/// Each of these groups as `top`, beside itself and every group below it.
fn inside(groups: &[i64]) -> String {
    format!(
        "inside (top, id) AS ( \
             SELECT n.id, n.id FROM namespaces n WHERE n.id IN ({}) \
             UNION SELECT inside.top, n.id FROM inside JOIN namespaces n ON n.parent_id = inside.id \
             WHERE n.deleted_at IS NULL)",
        list_of(groups)
    )
}

/// How many people are members of each group, or of one below it.
fn members_inside(tx: &mut Tx<'_>, groups: &[i64]) -> Result<HashMap<i64, i64>> {
    let living = living_in("m", tx.now);
    counted(
        tx,
        groups,
        &format!(
            "SELECT inside.top AS id, COUNT(DISTINCT m.user_id) AS people \
             FROM inside CROSS JOIN members m WHERE m.namespace_id = inside.id AND m.access_level > 0 \
             AND {living} GROUP BY inside.top"
        ),
        "",
    )
}

/// How many seats each group takes, with all below it.
fn seats_inside(tx: &mut Tx<'_>, groups: &[i64]) -> Result<HashMap<i64, i64>> {
    let member = format!("m.access_level >= 10 AND {}", living_in("m", tx.now));
    let link = format!("l.access_level >= 10 AND {}", living_in("l", tx.now));
    let reached = visible_groups::reached(tx.now, AccessLevel::Guest);
    // In this order and no other: from the groups to what hangs on them.
    let projects = "inside CROSS JOIN projects p";
    let home = "p.namespace_id = inside.id AND p.deleted_at IS NULL";
    let locked = keeps_to_itself("o.settings");
    let people = format!(
        ", people (top, user_id) AS ( \
             SELECT inside.top, m.user_id FROM inside CROSS JOIN members m WHERE m.namespace_id = inside.id AND {member} \
             UNION SELECT inside.top, m.user_id FROM {projects} CROSS JOIN members m \
             WHERE {home} AND m.project_id = p.id AND {member} \
             UNION SELECT inside.top, a.user_id FROM {projects} CROSS JOIN project_group_links l \
             CROSS JOIN namespaces o CROSS JOIN namespace_access a WHERE {home} AND l.project_id = p.id AND {link} \
             AND o.id = p.namespace_id AND NOT {locked} AND a.namespace_id = l.namespace_id AND {reached} \
             UNION SELECT inside.top, m.user_id FROM inside CROSS JOIN group_group_links l CROSS JOIN members m \
             WHERE l.namespace_id = inside.id AND {link} AND m.namespace_id = l.invited_id AND {member})"
    );
    counted(
        tx,
        groups,
        "SELECT people.top AS id, COUNT(*) AS people FROM people CROSS JOIN users u \
         WHERE u.id = people.user_id AND u.state = 'active' AND NOT u.bot GROUP BY people.top",
        &people,
    )
}

fn counted(
    tx: &mut Tx<'_>,
    groups: &[i64],
    select: &str,
    further: &str,
) -> Result<HashMap<i64, i64>> {
    if groups.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = format!("WITH RECURSIVE {}{further} {select}", inside(groups));
    let rows: Vec<HeadCountRow> = rows(tx, &sql, &[])?;
    Ok(rows.into_iter().map(|row| (row.id, row.people)).collect())
}
