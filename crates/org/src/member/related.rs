//! Lists of members by how they relate to a project or group, in an order of the reader's choice.

use std::cmp::Ordering;

use db::{
    Tx,
    keyset::{ListWindow, RowPosition, WHOLE},
    listing::value,
};
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest},
};

use super::{
    MemberFilter, Membership, Relations, Source,
    list::{chosen, givers, highest, living, secret_groups, shown},
    member_source::Lineage,
    membership_sources::MembershipSources,
};
use crate::{hierarchy, user::store::UserStore};

/// The sort order of a member list.
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
    list_in(tx, actor, source, wanted, &WHOLE, page)
}

/// As [`list`], of a part of the list.
pub fn list_in(
    tx: &mut Tx<'_>,
    actor: Actor,
    source: Source,
    wanted: &RelatedMembers,
    window: &ListWindow,
    page: PageRequest,
) -> Result<Page<Membership>> {
    let lineage = Lineage::of(tx, source)?;
    let below = match wanted.relations.descendants {
        true => below(tx, actor, &lineage)?,
        false => Vec::new(),
    };
    let membership_sources =
        MembershipSources::related(tx, actor, &lineage, wanted.relations, below)?;
    let (given, living) = (membership_sources.given_in(wanted.filter.state), living(tx));
    let rows = format!(
        "(SELECT DISTINCT m.user_id FROM members m WHERE {given} AND {living} \
         AND (m.access_level > 5 OR m.awaiting_level > 5)) m WHERE 1 = 1"
    );
    let is_plain =
        wanted.order == MemberOrder::UserId && !wanted.descending && wanted.levels.is_empty();
    if is_plain && !window.reversed {
        let rows = format!("{rows}{}", between(window));
        let found = chosen(tx, &rows, "m.user_id", &wanted.filter, page)?;
        return found
            .try_map_all(|ids| memberships(tx, actor, &membership_sources, &wanted.filter, &ids));
    }
    let everybody = PageRequest { page: 1, per_page: COUNT_LIMIT };
    let found = chosen(tx, &rows, "m.user_id", &wanted.filter, everybody)?;
    let mut all = memberships(tx, actor, &membership_sources, &wanted.filter, &found.items)?;
    if !wanted.levels.is_empty() {
        all.retain(|member| wanted.levels.contains(&member.access_level));
    }
    let behind = |one: &RowPosition, other: &RowPosition| match wanted.descending {
        false => compare(one, other),
        true => compare(other, one),
    };
    let mut placed: Vec<(RowPosition, Membership)> =
        all.into_iter().map(|member| (wanted.position(&member), member)).collect();
    placed.retain(|(at, _)| {
        let (after, before) = (window.after.as_ref(), window.before.as_ref());
        after.is_none_or(|edge| behind(at, edge).is_gt())
            && before.is_none_or(|edge| behind(at, edge).is_lt())
    });
    placed.sort_by(|(one, _), (other, _)| behind(one, other));
    if window.reversed {
        placed.reverse();
    }
    Ok(page.slice(placed.into_iter().map(|(_, member)| member).collect()))
}

/// The condition on the people of a list in the order of their ids.
fn between(window: &ListWindow) -> String {
    let after = window.after.as_ref().map(|edge| format!(" AND m.user_id > {}", value(edge.id)));
    let before = window.before.as_ref().map(|edge| format!(" AND m.user_id < {}", value(edge.id)));
    after.into_iter().chain(before).collect()
}

impl RelatedMembers {
    /// The place of a member in such a list.
    pub fn position(&self, member: &Membership) -> RowPosition {
        let id = member.user.id.0;
        match self.order {
            MemberOrder::UserId => RowPosition::of_id(id),
            MemberOrder::AccessLevel => {
                RowPosition::of_number(i64::from(member.access_level.number()), id)
            }
            MemberOrder::UserName => RowPosition::of_text(member.user.name.to_lowercase(), id),
            MemberOrder::CreatedAt => RowPosition::of_number(member.created_at.0, id),
            MemberOrder::UpdatedAt => RowPosition::of_number(member.updated_at.0, id),
        }
    }
}

fn compare(one: &RowPosition, other: &RowPosition) -> Ordering {
    one.value.cmp(&other.value).then(one.id.cmp(&other.id))
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
    membership_sources: &MembershipSources,
    filter: &MemberFilter,
    ids: &[i64],
) -> Result<Vec<Membership>> {
    let mut all = Vec::with_capacity(ids.len());
    for batch in ids.chunks(BATCH) {
        let ids: Vec<UserId> = batch.iter().copied().map(UserId).collect();
        let mut people = tx.users_by_id(&ids)?;
        let given = highest(tx, membership_sources, &ids, filter.state)?;
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
