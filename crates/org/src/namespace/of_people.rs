//! The groups that several people have a role in, a page of each person's by one statement.

use std::collections::HashMap;

use db::{Tx, listing};
use diesel::{QueryableByName, sql_types::BigInt};
use kernel::{
    AccessLevel, Result,
    ids::{NamespaceId, UserId},
    page::{Page, PageRequest, Total},
};

use super::{search, visible_groups};
use crate::listing::{Conditions, list_of};

/// Which groups are wanted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupsOfPeople {
    /// The least role that counts.
    pub level: AccessLevel,
    pub search: Option<String>,
    /// How many of each person's, by name.
    pub most: i64,
}

#[derive(QueryableByName)]
struct GroupRow {
    #[diesel(sql_type = BigInt)]
    user_id: i64,
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    total: i64,
}

/// The first groups of each of these people, with how many they have in all.
pub fn first_groups(
    tx: &mut Tx<'_>,
    people: &[UserId],
    wanted: &GroupsOfPeople,
) -> Result<HashMap<UserId, Page<NamespaceId>>> {
    let mut all = Conditions::default();
    let ids: Vec<i64> = people.iter().map(|user| user.0).collect();
    all.plain(format!("a.user_id IN ({})", list_of(&ids)));
    all.plain(visible_groups::reached(tx.now, wanted.level));
    all.plain("g.kind = 'group' AND g.deleted_at IS NULL");
    if let Some(term) = &wanted.search {
        search::matching(tx, &mut all, "g", ["full_path", "full_name"], term)?;
    }
    let order = tx.reading_order("g.name", "ASC");
    let sql = format!(
        "SELECT ranked.user_id AS user_id, ranked.id AS id, ranked.total AS total FROM \
         (SELECT a.user_id AS user_id, g.id AS id, COUNT(*) OVER (PARTITION BY a.user_id) AS total, \
         ROW_NUMBER() OVER (PARTITION BY a.user_id ORDER BY {order}, g.id) AS place \
         FROM namespace_access a JOIN namespaces g ON g.id = a.namespace_id WHERE {}) AS ranked \
         WHERE ranked.place <= {} ORDER BY ranked.user_id, ranked.place",
        all.text(),
        wanted.most
    );
    let mut found: HashMap<UserId, Page<NamespaceId>> = HashMap::new();
    for row in listing::rows::<GroupRow>(tx, &sql, &all.binds)? {
        let page = found.entry(UserId(row.user_id));
        let page =
            page.or_insert_with(|| Page { items: Vec::new(), total: Total::Counted(row.total) });
        page.items.push(NamespaceId(row.id));
    }
    for user in people {
        let nothing = || PageRequest { page: 1, per_page: wanted.most.max(1) }.slice(Vec::new());
        found.entry(*user).or_insert_with(nothing);
    }
    Ok(found)
}
