//! Groups and personal namespaces together: everywhere a project can live.

use std::collections::HashMap;

use db::{Tx, each_backend, error};
use diesel::{prelude::*, sql_query, sql_types::BigInt};
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, UserId},
    page::{Page, PageRequest},
};

use super::{Kind, Namespace, list::in_order, search, seen};
use crate::listing::{Bind, Conditions, Selection, count, ids, list_of, page_of_ids};

/// Which namespaces are wanted.
#[derive(Clone, Debug, Default)]
pub struct NamespaceFilter {
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
    ) -> Result<HashMap<NamespaceId, Care>>;
}

/// How many people a namespace has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Care {
    /// Members of the group, or of one below it.
    pub members: i64,
    /// People who take a seat: with a role in the group or in anything below it, however they came by it.
    pub seats: i64,
}

/// So many memberships are gathered; of more, each namespace is asked for.
const GATHERED: i64 = 1000;

#[derive(QueryableByName)]
struct Counted {
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
        all.plain("n.deleted_at IS NULL");
        if let Some(user) = filter.of {
            reached(self, &mut all, user, filter.owned)?;
        }
        if let Some(term) = filter.search.as_deref().filter(|term| !term.trim().is_empty()) {
            search::matching(self, &mut all, "n", ["path", "name"], term)?;
        }
        let from = format!("namespaces n WHERE {}", all.text());
        let selection =
            Selection { id: "n.id", from, binds: all.binds, order: "n.id ASC".to_owned() };
        let (from, binds) = (selection.from.clone(), selection.binds.clone());
        let found = page_of_ids(self, &selection, page, |tx| count(tx, &from, &binds))?;
        let items = in_order(self, &found.items)?;
        Ok(Page { items, total: found.total })
    }

    fn cared_for(
        &mut self,
        actor: Actor,
        among: &[Namespace],
    ) -> Result<HashMap<NamespaceId, Care>> {
        let Some(user) = actor.id else { return Ok(HashMap::new()) };
        let all: Vec<i64> = among.iter().map(|namespace| namespace.id.0).collect();
        let cared = if actor.admin { all } else { owned_among(self, user, &all)? };
        let is_cared_for = |namespace: &&Namespace| cared.contains(&namespace.id.0);
        let (groups, homes): (Vec<&Namespace>, Vec<&Namespace>) =
            among.iter().filter(is_cared_for).partition(|place| place.kind == Kind::Group);
        let groups: Vec<i64> = groups.iter().map(|group| group.id.0).collect();
        let (members, seats) = (members_inside(self, &groups)?, seats_inside(self, &groups)?);
        let of = |counts: &HashMap<i64, i64>, id: &i64| counts.get(id).copied().unwrap_or_default();
        let mut found: HashMap<NamespaceId, Care> = groups
            .iter()
            .map(|id| (NamespaceId(*id), Care { members: of(&members, id), seats: of(&seats, id) }))
            .collect();
        // Somebody's own place has one seat: theirs.
        found.extend(homes.iter().map(|home| (home.id, Care { members: 0, seats: 1 })));
        Ok(found)
    }
}

/// In which of these somebody is an owner.
fn owned_among(tx: &mut Tx<'_>, user: UserId, among: &[i64]) -> Result<Vec<i64>> {
    let reached = seen::reached(tx.now, AccessLevel::Owner);
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
    let now = tx.now.0;
    counted(
        tx,
        groups,
        &format!(
            "SELECT inside.top AS id, COUNT(DISTINCT m.user_id) AS people \
             FROM inside JOIN members m ON m.namespace_id = inside.id \
             WHERE m.expires_at IS NULL OR m.expires_at > {now} GROUP BY inside.top"
        ),
        "",
    )
}

/// How many seats each group takes, with all below it.
fn seats_inside(tx: &mut Tx<'_>, groups: &[i64]) -> Result<HashMap<i64, i64>> {
    let now = tx.now.0;
    let member = format!("m.access_level >= 10 AND (m.expires_at IS NULL OR m.expires_at > {now})");
    let link = format!("(l.expires_at IS NULL OR l.expires_at > {now})");
    let reached = seen::reached(tx.now, AccessLevel::Guest);
    let projects = "JOIN projects p ON p.namespace_id = inside.id AND p.deleted_at IS NULL";
    let people = format!(
        ", people (top, user_id) AS ( \
             SELECT inside.top, m.user_id FROM inside JOIN members m ON m.namespace_id = inside.id WHERE {member} \
             UNION SELECT inside.top, m.user_id FROM inside {projects} JOIN members m ON m.project_id = p.id WHERE {member} \
             UNION SELECT inside.top, a.user_id FROM inside {projects} \
             JOIN project_group_links l ON l.project_id = p.id AND {link} \
             JOIN namespace_access a ON a.namespace_id = l.namespace_id AND {reached} \
             UNION SELECT inside.top, a.user_id FROM inside JOIN group_group_links l ON l.namespace_id = inside.id AND {link} \
             JOIN namespace_access a ON a.namespace_id = l.invited_id AND {reached})"
    );
    counted(
        tx,
        groups,
        "SELECT people.top AS id, COUNT(*) AS people FROM people JOIN users u ON u.id = people.user_id \
         WHERE u.state = 'active' AND NOT u.bot GROUP BY people.top",
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
    let rows: Vec<Counted> =
        each_backend!(tx, |conn| sql_query(sql).load(conn).map_err(error("Member")))?;
    Ok(rows.into_iter().map(|row| (row.id, row.people)).collect())
}

fn reached(tx: &mut Tx<'_>, all: &mut Conditions, user: UserId, owned: bool) -> Result<()> {
    let level = if owned { AccessLevel::Owner } else { AccessLevel::Minimal };
    let reached = seen::reached(tx.now, level);
    let many = format!(
        "SELECT a.namespace_id AS id FROM namespace_access a WHERE a.user_id = $1 LIMIT 1 OFFSET {GATHERED}"
    );
    let many = !ids(tx, &many, &[Bind::Number(user.0)])?.is_empty();
    let mine = format!("namespace_access a WHERE a.user_id = {{}} AND {reached}");
    let condition = match many {
        true => format!("EXISTS (SELECT 1 FROM {mine} AND a.namespace_id = n.id)"),
        false => format!("n.id IN (SELECT a.namespace_id FROM {mine})"),
    };
    all.number(&condition, user.0);
    Ok(())
}
