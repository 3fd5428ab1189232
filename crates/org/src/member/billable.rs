//! Everybody who counts in a top-level group: with at least the guest's role anywhere below it, or by way of a group that
//! was invited there. Machines and people who are kept out do not count.

mod memberships;

use db::Tx;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Integer},
};
use kernel::{
    AccessLevel, Error, Result,
    ids::UserId,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

pub use memberships::{Seat, direct, indirect};

use super::{
    Member, MemberSource,
    member_source::Lineage,
    rules::ensure_another_owner,
    steps::{drop_member, refresh},
    tree::{self, TreeRefusal, plain},
};
use crate::{
    access::{
        self,
        seats::{self, counted},
        tree::Tree,
    },
    listing::{Bind, ids, rows as rows_of, value},
    search::containing,
    user::{User, store::UserStore},
};

kernel::text_enum! { pub enum Sort {
    AccessLevelAsc = "access_level_asc", AccessLevelDesc = "access_level_desc", LastJoined = "last_joined",
    NameAsc = "name_asc", NameDesc = "name_desc", OldestJoined = "oldest_joined",
    OldestSignIn = "oldest_sign_in", RecentSignIn = "recent_sign_in",
    LastActivityOnAsc = "last_activity_on_asc", LastActivityOnDesc = "last_activity_on_desc",
} }

kernel::text_enum! { pub enum Kind {
    GroupMember = "group_member", ProjectMember = "project_member", GroupInvite = "group_invite",
    ProjectInvite = "project_invite",
} }

impl Kind {
    /// Those who are members themselves can be taken out.
    pub fn is_removable(self) -> bool {
        matches!(self, Self::GroupMember | Self::ProjectMember)
    }
}

/// Somebody who counts.
#[derive(Clone, Debug)]
pub struct BillableMember {
    pub user: User,
    pub kind: Kind,
    pub is_last_owner: bool,
}

/// Which of them a list shows, and in which order.
#[derive(Clone, Debug, Default)]
pub struct BillableFilter {
    /// Part of a name or user name, or a whole public address.
    pub search: Option<String>,
    pub sort: Option<Sort>,
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    user_id: i64,
    #[diesel(sql_type = Integer)]
    kind: i32,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    n: i64,
}

fn order(tx: &Tx<'_>, sort: Option<Sort>) -> String {
    let order = match sort {
        None => "s.user_id",
        Some(Sort::AccessLevelAsc) => "s.access_level, s.user_id",
        Some(Sort::AccessLevelDesc) => "s.access_level DESC, s.user_id",
        Some(Sort::LastJoined) => "s.since DESC, s.user_id DESC",
        Some(Sort::OldestJoined) => "s.since, s.user_id",
        Some(Sort::NameAsc) => return format!("{}, u.id", tx.reading_order("u.name", "ASC")),
        Some(Sort::NameDesc) => {
            return format!("{}, u.id DESC", tx.reading_order("u.name", "DESC"));
        }
        Some(Sort::OldestSignIn) => "u.current_sign_in_at IS NULL, u.current_sign_in_at, u.id",
        Some(Sort::RecentSignIn) => "u.current_sign_in_at IS NULL, u.current_sign_in_at DESC, u.id",
        Some(Sort::LastActivityOnAsc) => "u.last_activity_at IS NOT NULL, u.last_activity_at, u.id",
        Some(Sort::LastActivityOnDesc) => {
            "u.last_activity_at IS NULL, u.last_activity_at DESC, u.id"
        }
    };
    order.to_owned()
}

/// Everybody who counts, once; nothing where that is to be worked out first, by [`work_out`].
pub fn list(
    tx: &mut Tx<'_>,
    place: MemberSource,
    filter: &BillableFilter,
    page: PageRequest,
) -> Result<Option<Page<BillableMember>>> {
    let tree = tree::owned(tx, &place, plain)?;
    if !seats::holds(tx, tree.top)? {
        return Ok(None);
    }
    let search = filter.search.as_deref().filter(|search| !search.is_empty());
    let (order, limit, offset) = (order(tx, filter.sort), page.per_page, page.offset());
    let top = value(tree.top);
    let seats = format!("FROM seats s WHERE s.namespace_id = {top} AND s.is_counted");
    // In this order and no other: very many people are active.
    let people = format!(
        "FROM seats s CROSS JOIN users u WHERE u.id = s.user_id AND s.namespace_id = {top} AND s.is_counted"
    );
    let (listed, counted, binds) = match search {
        None if order.contains("u.") => (people, seats, Vec::new()),
        None => (seats.clone(), seats, Vec::new()),
        Some(search) => {
            let (name, address) = (tx.folded("u.name"), tx.folded("u.public_email"));
            let found = format!(
                "{people} AND ({name} LIKE $1 ESCAPE '\\' OR u.username_key LIKE $1 ESCAPE '\\' OR {address} = $2)"
            );
            let words = [containing(search), search.to_lowercase()];
            (found.clone(), found, words.map(Bind::Word).to_vec())
        }
    };
    let text = format!(
        "SELECT s.user_id AS user_id, s.kind AS kind {listed} ORDER BY {order} LIMIT {limit} OFFSET {offset}"
    );
    let found: Vec<Row> = rows_of(tx, &text, &binds)?;
    let most = COUNT_LIMIT + 1;
    let text = format!("SELECT count(*) AS id FROM (SELECT 1 {counted} LIMIT {most}) AS counted");
    let total = ids(tx, &text, &binds)?.first().copied().unwrap_or_default();
    let people: Vec<UserId> = found.iter().map(|row| UserId(row.user_id)).collect();
    let mut people = tx.users_by_id(&people)?;
    let owner = only_owner(tx, &tree)?;
    let items = found.into_iter().filter_map(|row| {
        let id = UserId(row.user_id);
        Some(BillableMember {
            user: people.remove(&id)?,
            kind: kind(row.kind),
            is_last_owner: owner == Some(id),
        })
    });
    Ok(Some(Page { items: items.collect(), total: Total::Counted(total) }))
}

/// Works out who counts, so that it can be listed.
pub fn work_out(tx: &mut Tx<'_>, place: MemberSource) -> Result<()> {
    let tree = tree::owned(tx, &place, plain)?;
    match seats::holds(tx, tree.top)? {
        true => Ok(()),
        false => seats::rebuild(tx, &tree),
    }
}

fn kind(number: i32) -> Kind {
    match number {
        1 => Kind::GroupMember,
        2 => Kind::ProjectMember,
        3 => Kind::GroupInvite,
        _ => Kind::ProjectInvite,
    }
}

/// Who alone owns the group.
fn only_owner(tx: &mut Tx<'_>, tree: &Tree) -> Result<Option<UserId>> {
    let (top, now) = (value(tree.top), value(tx.now.0));
    let text = format!(
        "SELECT m.user_id AS n FROM members m JOIN users u ON u.id = m.user_id WHERE m.namespace_id = {top} \
         AND m.access_level = 50 AND NOT u.bot AND (m.expires_at IS NULL OR m.expires_at > {now}) LIMIT 2"
    );
    let owners: Vec<Count> = rows_of(tx, &text, &[])?;
    Ok(match owners.as_slice() {
        [alone] => Some(UserId(alone.n)),
        _ => None,
    })
}

/// Whether somebody counts.
fn counts(tx: &mut Tx<'_>, tree: &Tree, user: UserId) -> Result<bool> {
    let seats = counted(tree, tx.now.0, Some(user));
    let text = format!(
        "{seats} SELECT s.user_id AS n FROM seat s JOIN users u ON u.id = s.user_id \
         WHERE u.state = 'active' AND NOT u.bot"
    );
    Ok(!tree.load::<Count>(tx, &text)?.is_empty())
}

/// Takes somebody out of the group and of everything below it.
pub fn remove(tx: &mut Tx<'_>, place: MemberSource, user: UserId) -> Result<()> {
    access::lock_access_projection(tx)?;
    let tree = tree::owned(tx, &place, |why| {
        Error::bad_request().because(
            match why {
                TreeRefusal::Nested => "Invalid group provided, must be top-level",
                TreeRefusal::NotOwner => "User unauthorized to remove member",
            }
            .to_owned(),
        )
    })?;
    let theirs: Vec<Member> = match tx.find_user(user)? {
        Some(user) if !user.bot => tree::members_of(tx, &tree, user.id)?,
        _ => Vec::new(),
    };
    if theirs.is_empty() {
        return Err(Error::bad_request().because("No member found for the given user_id"));
    }
    let person = tx.user(user)?;
    if theirs.iter().any(|one| one.source() == place.source && one.level() == AccessLevel::Owner) {
        let lineage = Lineage::of(tx, place.source)?;
        let last = |_| Error::bad_request().because("The last owner cannot be removed");
        ensure_another_owner(tx, &lineage, place.source, &person).map_err(last)?;
    }
    for member in &theirs {
        drop_member(tx, place, member, false)?;
    }
    refresh(tx, place.source, user)
}
