//! Lists of members by how they relate to a project or group, in an order of the reader's choice.

use std::cmp::Ordering;

use db::Tx;
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest},
};

use super::{
    MemberFilter, Membership, Relations, Source,
    list::{chosen, givers, highest, living, secret_groups, shown},
    member_source::Lineage,
    reach::Reach,
};
use crate::{hierarchy, user::store::UserStore};

/// What a list is ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemberOrder {
    #[default]
    UserId,
    AccessLevel,
    UserName,
    CreatedAt,
    UpdatedAt,
}

/// Which members a list shows, and in which order.
#[derive(Clone, Debug, Default)]
pub struct RelatedMembers {
    pub relations: Relations,
    pub filter: MemberFilter,
    /// Only these roles, where there are any.
    pub levels: Vec<AccessLevel>,
    pub order: MemberOrder,
    pub descending: bool,
}

/// So many people are looked up by one statement.
const BATCH: usize = 5_000;

/// A page of members, each person once with the highest of their roles. A list with an order or a choice of roles ends after
/// [`COUNT_LIMIT`] people.
pub fn list(
    tx: &mut Tx<'_>,
    actor: Actor,
    source: Source,
    wanted: &RelatedMembers,
    page: PageRequest,
) -> Result<Page<Membership>> {
    let lineage = Lineage::of(tx, source)?;
    let below = match wanted.relations.descendants {
        true => below(tx, actor, &lineage)?,
        false => Vec::new(),
    };
    let reach = Reach::related(tx, actor, &lineage, wanted.relations, below)?;
    let (given, living) = (reach.given_in(wanted.filter.state), living(tx));
    let rows = format!(
        "(SELECT DISTINCT m.user_id FROM members m WHERE {given} AND {living} \
         AND (m.access_level > 5 OR m.awaiting_level > 5)) m WHERE 1 = 1"
    );
    if wanted.order == MemberOrder::UserId && !wanted.descending && wanted.levels.is_empty() {
        let found = chosen(tx, &rows, "m.user_id", &wanted.filter, page)?;
        return found.try_map_all(|ids| memberships(tx, actor, &reach, &wanted.filter, &ids));
    }
    let everybody = PageRequest { page: 1, per_page: COUNT_LIMIT };
    let found = chosen(tx, &rows, "m.user_id", &wanted.filter, everybody)?;
    let mut all = memberships(tx, actor, &reach, &wanted.filter, &found.items)?;
    if !wanted.levels.is_empty() {
        all.retain(|member| wanted.levels.contains(&member.access_level));
    }
    all.sort_by(|one, other| match wanted.descending {
        false => compare(wanted.order, one, other),
        true => compare(wanted.order, other, one),
    });
    Ok(page.slice(all))
}

fn compare(order: MemberOrder, one: &Membership, other: &Membership) -> Ordering {
    let by_order = match order {
        MemberOrder::UserId => Ordering::Equal,
        MemberOrder::AccessLevel => one.access_level.cmp(&other.access_level),
        MemberOrder::UserName => one.user.name.to_lowercase().cmp(&other.user.name.to_lowercase()),
        MemberOrder::CreatedAt => one.created_at.cmp(&other.created_at),
        MemberOrder::UpdatedAt => one.updated_at.cmp(&other.updated_at),
    };
    by_order.then(one.user.id.cmp(&other.user.id))
}

/// The groups inside a group, or inside the group of a project, that the reader may know of.
fn below(tx: &mut Tx<'_>, actor: Actor, lineage: &Lineage) -> Result<Vec<NamespaceId>> {
    match lineage.home() {
        Some(home) => hierarchy::below_group(tx, actor, home.id),
        None => Ok(Vec::new()),
    }
}

/// The memberships of these people that count, in the order of the ids.
fn memberships(
    tx: &mut Tx<'_>,
    actor: Actor,
    reach: &Reach,
    filter: &MemberFilter,
    ids: &[i64],
) -> Result<Vec<Membership>> {
    let mut all = Vec::with_capacity(ids.len());
    for batch in ids.chunks(BATCH) {
        let ids: Vec<UserId> = batch.iter().copied().map(UserId).collect();
        let mut people = tx.users_by_id(&ids)?;
        let given = highest(tx, reach, &ids, filter.state)?;
        let creators = givers(tx, given.values().filter_map(|(_, member)| member.created_by))?;
        let groups = given.values().filter_map(|(_, member)| member.namespace_id);
        let secret = secret_groups(tx, actor, groups)?;
        all.extend(ids.into_iter().filter_map(|id| {
            let (level, member) = given.get(&id)?;
            let is_known = member.namespace_id.is_none_or(|group| !secret.contains(&group));
            let creator = member.created_by.filter(|_| is_known);
            let creator = creator.and_then(|id| creators.get(&id).cloned());
            let membership = shown(member, people.remove(&id)?, creator);
            Some(Membership { access_level: *level, ..membership })
        }));
    }
    Ok(all)
}
