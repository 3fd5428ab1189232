//! Lists of groups: which ones, in which order, one page at a time.

use db::{
    Conn, Tx,
    keyset::{ListOrder, ListWindow, RowPosition, WHOLE},
};
use kernel::{
    AccessLevel, Result,
    ids::{NamespaceId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest},
};

use super::{
    GroupFilter, Namespace,
    model::{GroupOrder, GroupSelection, TreeLevel},
    networks, search, visible_groups,
};
use crate::{
    custom_attribute::filter,
    listing::{
        Bind, Conditions, Selection, count, count_up_to, ids, is_walked, list_of, page_of_ids,
        value,
    },
    project::{home::HomeStore, search::likeness},
};

pub trait GroupLists {
    fn groups(&mut self, filter: &GroupFilter, page: PageRequest) -> Result<Page<Namespace>> {
        self.groups_in(filter, &WHOLE, page)
    }
    /// As [`groups`](Self::groups), of a part of the list. A list by likeness has no parts.
    fn groups_in(
        &mut self,
        filter: &GroupFilter,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<Namespace>>;
    /// The page behind `filter.after`, uncounted.
    fn groups_after(&mut self, filter: &GroupFilter, most: i64) -> Result<Page<Namespace>>;
}

/// Ordering by likeness looks at so many matches.
const COMPARED: i64 = 1000;
/// So many memberships are gathered; of more, each group is asked for.
const GATHERED: i64 = 1000;
/// On pages that so many groups come before, they are gathered all the same.
const SKIPPED: i64 = 500;

impl GroupLists for Tx<'_> {
    fn groups_in(
        &mut self,
        filter: &GroupFilter,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<Namespace>> {
        let mut query = query(self, filter, page.offset())?;
        if let (GroupOrder::Similarity, Some(term)) = (filter.order, &filter.search) {
            return by_likeness(self, &query, term, page);
        }
        let order = order(self, filter);
        order.narrow(&mut query.conditions, window);
        query.shortened |= *window != WHOLE;
        let selection = query.in_order(order.sql(window));
        let found = page_of_ids(self, &selection, page, |tx| query.count(tx, filter))?;
        let items = in_order(self, &found.items)?;
        Ok(Page { items, total: found.total })
    }

    fn groups_after(&mut self, filter: &GroupFilter, most: i64) -> Result<Page<Namespace>> {
        let query = query(self, filter, 0)?;
        let page = PageRequest { page: 1, per_page: most };
        let order = order(self, filter).sql(&WHOLE);
        let found = query.in_order(order).ids(self, page.probe(), 0)?;
        let found = page.uncounted(found);
        let items = in_order(self, &found.items)?;
        Ok(Page { items, total: found.total })
    }
}

/// Which groups are meant, in the words of the database.
struct GroupListQuery {
    conditions: Conditions,
    /// Whether some are left out that no network of the caller's reaches, or a part of the list is read.
    shortened: bool,
    /// Where membership decides: whose, in which role at least, and how many groups more there are.
    member: Option<(UserId, AccessLevel, usize)>,
}

impl GroupListQuery {
    fn from(&self) -> String {
        format!("namespaces g WHERE {}", self.conditions.text())
    }

    fn in_order(&self, order: String) -> Selection {
        Selection { id: "g.id", from: self.from(), binds: self.conditions.binds.clone(), order }
    }

    /// How many groups somebody is a member of is read from the projection, without looking at any.
    fn count(&self, tx: &mut Tx<'_>, filter: &GroupFilter) -> Result<i64> {
        let narrowed = filter.search.is_some()
            || filter.place != TreeLevel::Anywhere
            || !filter.skip.is_empty()
            || filter.ids.is_some()
            || !filter.attributes.is_empty()
            || filter.elsewhere
            || self.shortened;
        match &self.member {
            Some((user, level, above)) if !narrowed => {
                let reached = visible_groups::reached(tx.now, *level);
                let mine = format!("namespace_access a WHERE a.user_id = $1 AND {reached}");
                let binds = [Bind::Number(user.0)];
                let all = count_up_to(tx, &mine, &binds, COUNT_LIMIT + 2)?;
                let personal = format!(
                    "namespaces n WHERE n.owner_id = $1 AND EXISTS \
                     (SELECT 1 FROM namespace_access a WHERE a.namespace_id = n.id AND a.user_id = $1 AND {reached})"
                );
                let personal = count(tx, &personal, &binds)?;
                Ok(all - personal + i64::try_from(*above).unwrap_or(0))
            }
            _ => count(tx, &self.from(), &self.conditions.binds),
        }
    }
}

fn query(tx: &mut Tx<'_>, filter: &GroupFilter, skipped: i64) -> Result<GroupListQuery> {
    let mut all = Conditions::default();
    // In these words, for which there are indexes.
    all.plain("g.kind = 'group' AND g.deleted_at IS NULL");
    let member = match is_all_visible(tx, filter)? {
        true => None,
        // Matches of a search are brought to the list, which is not walked.
        false => {
            let walked = filter.search.is_none().then_some(skipped);
            within_reach(tx, &mut all, filter.reach, walked)?
        }
    };
    let shortened = within_network(tx, &mut all, filter)?;
    place(tx, &mut all, &filter.place)?;
    if !filter.skip.is_empty() {
        let skipped: Vec<i64> = filter.skip.iter().map(|id| id.0).collect();
        all.plain(format!("g.id NOT IN ({})", list_of(&skipped)));
    }
    if let Some(ids) = &filter.ids {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        all.plain(format!("g.id IN ({})", list_of(&ids)));
    }
    filter::having(&mut all, "g.id", "namespace_id", &filter.attributes);
    if let Some(term) = &filter.search {
        let columns = match filter.place {
            TreeLevel::Anywhere | TreeLevel::TopLevel => ["full_path", "full_name"],
            TreeLevel::Under(_) | TreeLevel::Below(_) => ["path", "name"],
        };
        search::matching(tx, &mut all, "g", columns, term)?;
    }
    if filter.elsewhere {
        all.plain("1 = 0");
    }
    if let Some((name, id)) = &filter.after {
        let (name, id) = (all.bind(Bind::Word(name.clone())), all.bind(Bind::Number(id.0)));
        let (own, last) = (tx.folded("g.name"), tx.folded(&name));
        all.plain(format!("({own}, g.name, g.id) > ({last}, {name}, {id})"));
    }
    Ok(GroupListQuery { conditions: all, shortened, member })
}

/// Leaves out what the caller's network does not reach, unless they own it; whether there is anything like that.
fn within_network(tx: &mut Tx<'_>, all: &mut Conditions, filter: &GroupFilter) -> Result<bool> {
    let closed = networks::closed_to(tx, filter.actor)?;
    let owned = format!(
        "EXISTS (SELECT 1 FROM namespace_access a WHERE a.user_id = {} AND a.namespace_id = g.id AND {})",
        filter.actor.id.map_or(0, |user| user.0),
        visible_groups::reached(tx.now, AccessLevel::Owner)
    );
    for ranges in &closed {
        let condition = format!("(g.ip_ranges IS NULL OR g.ip_ranges <> {{}} OR {owned})");
        all.word(&condition, ranges.clone());
    }
    Ok(!closed.is_empty())
}

/// Adds what the caller may see.
fn within_reach(
    tx: &mut Tx<'_>,
    all: &mut Conditions,
    reach: GroupSelection,
    walked: Option<i64>,
) -> Result<Option<(UserId, AccessLevel, usize)>> {
    match reach {
        GroupSelection::All => {}
        GroupSelection::Open { user: None, .. } => all.plain("g.visibility = 'public'"),
        GroupSelection::Open { user: Some(user), internal } => {
            let open = match internal {
                true => "g.visibility <> 'private'",
                false => "g.visibility = 'public'",
            };
            let above = visible_groups::above(tx, user)?;
            let reached = visible_groups::reached(tx.now, AccessLevel::Minimal);
            let mine = format!(
                "EXISTS (SELECT 1 FROM namespace_access a WHERE a.user_id = {{}} AND a.namespace_id = g.id AND {reached})"
            );
            all.number(&format!("({open} OR {mine} OR g.id IN ({}))", list_of(&above)), user.0);
        }
        GroupSelection::Member { user } => {
            let above = visible_groups::above(tx, user)?;
            member(tx, all, user, AccessLevel::Minimal, &above, walked)?;
            return Ok(Some((user, AccessLevel::Minimal, above.len())));
        }
        GroupSelection::AtLeast { user, level } => {
            member(tx, all, user, level, &[], walked)?;
            return Ok(Some((user, level, 0)));
        }
        GroupSelection::Owned { user } => {
            let now = tx.now.0;
            all.number(
                &format!(
                    "g.id IN (SELECT m.namespace_id FROM members m WHERE m.user_id = {{}} AND m.namespace_id IS NOT NULL \
                     AND m.access_level = 50 AND (m.expires_at IS NULL OR m.expires_at > {now}) \
                     AND EXISTS (SELECT 1 FROM namespace_access a WHERE a.user_id = m.user_id \
                     AND a.namespace_id = m.namespace_id))"
                ),
                user.0,
            );
        }
    }
    Ok(None)
}

/// Whether the caller sees every group of the list: whoever has a role in a group has it in all that is inside.
fn is_all_visible(tx: &mut Tx<'_>, filter: &GroupFilter) -> Result<bool> {
    let (GroupSelection::Open { user: Some(user), .. } | GroupSelection::Member { user }) =
        filter.reach
    else {
        return Ok(false);
    };
    match &filter.place {
        TreeLevel::Under(parent) => visible_groups::belongs(tx, user, "$2", Bind::Number(parent.0)),
        TreeLevel::Below(path) => {
            let top = "(SELECT g.id FROM namespaces g WHERE g.path_key = $2)";
            visible_groups::belongs(tx, user, top, Bind::Word(path.to_lowercase()))
        }
        TreeLevel::Anywhere | TreeLevel::TopLevel => Ok(false),
    }
}

/// Groups that somebody has a role in, and these others.
fn member(
    tx: &mut Tx<'_>,
    all: &mut Conditions,
    user: UserId,
    level: AccessLevel,
    others: &[i64],
    walked: Option<i64>,
) -> Result<()> {
    let reached = visible_groups::reached(tx.now, level);
    let many = format!(
        "SELECT a.namespace_id AS id FROM namespace_access a WHERE a.user_id = $1 LIMIT 1 OFFSET {GATHERED}"
    );
    let many = !ids(tx, &many, &[Bind::Number(user.0)])?.is_empty();
    let mine = format!("namespace_access a WHERE a.user_id = {{}} AND {reached}");
    let condition = match (many, &tx.conn) {
        // The plus keeps SQLite to the order of the list, and the set is a small one to look into.
        (true, Conn::Sqlite(_)) if walked.is_some_and(|walked| walked > SKIPPED) => {
            format!("+g.id IN (SELECT a.namespace_id FROM {mine})")
        }
        // With the offset, PostgreSQL asks for each of the few groups, and does not gather what somebody has first.
        (true, Conn::Postgres(_)) if walked.is_some_and(|walked| walked <= SKIPPED) => {
            format!("EXISTS (SELECT 1 FROM {mine} AND a.namespace_id = g.id LIMIT 1 OFFSET 0)")
        }
        (true, _) => format!("EXISTS (SELECT 1 FROM {mine} AND a.namespace_id = g.id)"),
        (false, _) => format!("g.id IN (SELECT a.namespace_id FROM {mine})"),
    };
    if others.is_empty() {
        all.number(&condition, user.0);
    } else {
        all.number(&format!("({condition} OR g.id IN ({}))", list_of(others)), user.0);
    }
    Ok(())
}

fn place(tx: &mut Tx<'_>, all: &mut Conditions, place: &TreeLevel) -> Result<()> {
    match place {
        TreeLevel::Anywhere => {}
        TreeLevel::TopLevel => all.plain("g.parent_id IS NULL"),
        TreeLevel::Under(parent) => all.plain(format!("g.parent_id = {}", value(parent))),
        TreeLevel::Below(path) => {
            let key = path.to_lowercase();
            let (first, last) = (format!("{key}/"), format!("{key}0"));
            let range = "namespaces g WHERE g.kind = 'group' AND g.deleted_at IS NULL AND g.path_key > $1 AND g.path_key < $2";
            let bounds = [Bind::Word(first.clone()), Bind::Word(last.clone())];
            // With the plus, SQLite keeps to the order; PostgreSQL knows by itself.
            let walked =
                matches!(tx.conn, Conn::Sqlite(_)) && is_walked(tx, "namespaces", range, &bounds)?;
            let column = if walked { "+g.path_key" } else { "g.path_key" };
            all.word(&format!("{column} > {{}}"), first);
            all.word(&format!("{column} < {{}}"), last);
        }
    }
    Ok(())
}

fn order(tx: &Tx<'_>, filter: &GroupFilter) -> ListOrder {
    let by = |name| ListOrder::of_name(tx, name, filter.descending, "g.id").with_ids(false);
    match filter.order {
        GroupOrder::Id => ListOrder::of_ids("g.id", filter.descending),
        GroupOrder::Path => by("g.path"),
        // Without a search nothing is like anything.
        GroupOrder::Name | GroupOrder::Similarity => by("g.name"),
    }
}

impl GroupFilter {
    /// The place of a group in such a list.
    pub fn position(&self, row: &Namespace) -> RowPosition {
        match self.order {
            GroupOrder::Id => RowPosition::of_id(row.id.0),
            GroupOrder::Path => RowPosition::of_text(&row.path, row.id.0),
            GroupOrder::Name | GroupOrder::Similarity => RowPosition::of_text(&row.name, row.id.0),
        }
    }
}

/// The same measure on both databases, so it is taken here.
fn by_likeness(
    tx: &mut Tx<'_>,
    query: &GroupListQuery,
    term: &str,
    page: PageRequest,
) -> Result<Page<Namespace>> {
    let found = query.in_order("g.id ASC".to_owned()).ids(tx, COMPARED, 0)?;
    let mut rows = in_order(tx, &found)?;
    rows.sort_by_cached_key(|group| {
        let alike = likeness(&group.path, term) * 10 + likeness(&group.name, term) * 7;
        let parent = group.parent_id.unwrap_or(NamespaceId(i64::MAX));
        (std::cmp::Reverse((alike, parent)), group.id)
    });
    Ok(page.slice(rows))
}

/// Rows in the order of their ids here; what is gone is left out.
pub(super) fn in_order(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<Namespace>> {
    let ids: Vec<NamespaceId> = ids.iter().copied().map(NamespaceId).collect();
    let mut rows = tx.namespaces_by_id(&ids)?;
    Ok(ids.iter().filter_map(|id| rows.remove(id)).collect())
}
