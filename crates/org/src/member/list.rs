//! Lists of members: of those who were added to a source, and of everybody with a role there.
//!
//! Both choose a page of ids by one query and load what belongs to these by as many queries, however long the list is.
//! Who has a role is read from the projection of access; where the projection says more than the reader may know, or has
//! not noticed an end yet, the causes themselves are read.

use std::collections::{BTreeMap, HashMap};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{members, namespace_access, namespaces, users},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Error, Result, Visibility,
    ids::{MemberId, NamespaceId, ProjectId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{
    Member, MemberFilter, Membership, Source, State,
    member_source::Lineage,
    membership_sources::{self, MembershipSources},
    store::MemberStore,
};
use crate::{
    listing::{Bind, ids, value},
    search::containing,
    user::{User, store::UserStore},
};

/// Members that were added here.
pub fn direct(
    tx: &mut Tx<'_>,
    source: Source,
    filter: &MemberFilter,
    page: PageRequest,
) -> Result<Page<Membership>> {
    let living = living(tx);
    let rows = format!(
        "members m WHERE {} AND {living} AND (m.access_level > 5 OR m.awaiting_level > 5)",
        membership_sources::given_in(source)
    );
    let found = chosen(tx, &rows, "m.id", filter, page)?;
    let ids: Vec<MemberId> = found.items.iter().copied().map(MemberId).collect();
    let query = members::table.inner_join(users::table).filter(members::id.eq_any(ids));
    let mut rows: Vec<(Member, User)> = each_backend!(tx, |conn| query
        .select((Member::as_select(), User::as_select()))
        .load(conn)
        .map_err(error("Member")))?;
    rows.sort_by_key(|(member, _)| member.id);
    let creators = givers(tx, rows.iter().filter_map(|(member, _)| member.created_by))?;
    let items = rows.into_iter().map(|(member, user)| {
        let creator = member.created_by.and_then(|id| creators.get(&id).cloned());
        shown(&member, user, creator)
    });
    Ok(Page { items: items.collect(), total: found.total })
}

/// Somebody who was added here, as the answer to a change shows them: whatever they are given, and until when.
pub fn given(tx: &mut Tx<'_>, source: Source, user: UserId) -> Result<Membership> {
    let member = tx.find_member_row(source, user)?.ok_or_else(Error::missing)?;
    let creator = match member.created_by {
        Some(id) => tx.find_user(id)?,
        None => None,
    };
    Ok(shown(&member, tx.user(user)?, creator))
}

pub(super) fn shown(member: &Member, user: User, created_by: Option<User>) -> Membership {
    Membership {
        id: member.id,
        source: member.source(),
        user,
        access_level: member.level(),
        state: member.state(),
        expires_at: member.expires_at,
        created_at: member.created_at,
        updated_at: member.updated_at,
        created_by,
    }
}

/// Everybody with a role here, wherever it comes from, once, with the highest one. Of the members of a group that was
/// invited only those are told whom the reader may know of.
pub fn all(
    tx: &mut Tx<'_>,
    actor: Actor,
    source: Source,
    filter: &MemberFilter,
    page: PageRequest,
) -> Result<Page<Membership>> {
    let lineage = Lineage::of(tx, source)?;
    let membership_sources = MembershipSources::of(tx, actor, source, &lineage)?;
    let rows = people(tx, source, &membership_sources, filter.state)?;
    let found = chosen(tx, &rows, "m.user_id", filter, page)?;
    let ids: Vec<UserId> = found.items.iter().copied().map(UserId).collect();
    let mut people = tx.users_by_id(&ids)?;
    let given = highest(tx, &membership_sources, &ids, filter.state)?;
    let creators = givers(tx, given.values().filter_map(|(_, member)| member.created_by))?;
    let secret =
        secret_groups(tx, actor, given.values().filter_map(|(_, member)| member.namespace_id))?;
    let items = ids.into_iter().filter_map(|id| {
        let (level, member) = given.get(&id)?;
        let told = member.namespace_id.is_none_or(|group| !secret.contains(&group));
        let creator = member.created_by.filter(|_| told).and_then(|id| creators.get(&id).cloned());
        let membership = shown(member, people.remove(&id)?, creator);
        Some(Membership { access_level: *level, ..membership })
    });
    Ok(Page { items: items.collect(), total: found.total })
}

/// Of whom in a project the reader may know, as a condition on their id in `column`; nothing where that is everybody.
pub(crate) fn known_here(
    tx: &mut Tx<'_>,
    actor: Actor,
    project: ProjectId,
    column: &str,
) -> Result<Option<String>> {
    if actor.admin || !membership_sources::hides_somebody(tx, actor, project)? {
        return Ok(None);
    }
    let source = Source::Project(project);
    let lineage = Lineage::of(tx, source)?;
    let membership_sources = MembershipSources::of(tx, actor, source, &lineage)?;
    let (given, living) = (membership_sources.given_in(Some(State::Active)), living(tx));
    Ok(Some(format!(
        "{column} IN (SELECT m.user_id FROM members m WHERE {given} AND {living} AND m.access_level > 5)"
    )))
}

pub(super) fn living(tx: &Tx<'_>) -> String {
    format!("(m.expires_at IS NULL OR m.expires_at > {})", tx.now.0)
}

/// The rows of which a list is made, each with a `user_id`: from the projection where that is enough.
fn people(
    tx: &mut Tx<'_>,
    source: Source,
    membership_sources: &MembershipSources,
    state: Option<State>,
) -> Result<String> {
    let counts = match state {
        Some(State::Awaiting) => "m.awaiting_level > 5",
        Some(_) => "m.access_level > 5",
        None => "(m.access_level > 5 OR m.awaiting_level > 5)",
    };
    let waits = state != Some(State::Active) && membership_sources.has_awaiting(tx)?;
    if state != Some(State::Awaiting)
        && !waits
        && membership_sources.shows_everybody()
        && !membership_sources::has_lapsed(tx, source)?
    {
        let table = match source {
            Source::Project(id) => format!("project_access m WHERE m.project_id = {}", value(id)),
            Source::Group(id) => format!("namespace_access m WHERE m.namespace_id = {}", value(id)),
        };
        return Ok(format!("{table} AND m.access_level > 5"));
    }
    let living = living(tx);
    Ok(format!(
        "(SELECT DISTINCT m.user_id FROM members m WHERE {} AND {living} AND {counts}) m WHERE 1 = 1",
        membership_sources.given_in(state)
    ))
}

/// A page of the values of `key` in `rows`, narrowed to what the filter asks for.
pub(super) fn chosen(
    tx: &mut Tx<'_>,
    rows: &str,
    key: &str,
    filter: &MemberFilter,
    page: PageRequest,
) -> Result<Page<i64>> {
    let query = filter.query.as_deref().filter(|query| !query.is_empty());
    let term = query.map(containing).unwrap_or_default();
    let email = query.map(str::to_lowercase).unwrap_or_default();
    let mut rows = rows.to_owned();
    if let Some(only) = &filter.only {
        rows += &format!(" AND m.user_id IN ({})", listed(only));
    }
    if !filter.skip.is_empty() {
        rows += &format!(" AND m.user_id NOT IN ({})", listed(&filter.skip));
    }
    // Both values are always named, so that both databases know their types.
    rows += &match query {
        None => " AND $1 = $2".to_owned(),
        Some(_) => {
            let (name, shown) = (tx.folded("u.name"), tx.folded("u.public_email"));
            let address = match filter.any_email {
                true => format!("u.email_key = $2 OR {shown} = $2"),
                false => format!("{shown} = $2"),
            };
            format!(
                " AND EXISTS (SELECT 1 FROM users u WHERE u.id = m.user_id AND ({name} LIKE $1 ESCAPE '\\' \
                 OR u.username_key LIKE $1 ESCAPE '\\' OR {address}))"
            )
        }
    };
    let (limit, offset) = (page.per_page, page.offset());
    let one =
        format!("SELECT {key} AS id FROM {rows} ORDER BY {key} LIMIT {limit} OFFSET {offset}");
    let count = format!(
        "SELECT count(*) AS id FROM (SELECT 1 FROM {rows} LIMIT {}) AS counted",
        COUNT_LIMIT + 1
    );
    let binds = [Bind::Word(term), Bind::Word(email)];
    let items = ids(tx, &one, &binds)?;
    let total = ids(tx, &count, &binds)?.first().copied().unwrap_or_default();
    Ok(Page { items, total: Total::Counted(total) })
}

fn listed(ids: &[UserId]) -> String {
    match ids.is_empty() {
        true => "0".to_owned(),
        false => ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// For each of these people the membership that counts, with what it gives here.
pub(super) fn highest(
    tx: &mut Tx<'_>,
    membership_sources: &MembershipSources,
    people: &[UserId],
    state: Option<State>,
) -> Result<BTreeMap<UserId, (AccessLevel, Member)>> {
    let now = tx.now;
    let rows = members::table
        .filter(members::user_id.one_of(people))
        .filter(members::expires_at.is_null().or(members::expires_at.gt(now)))
        .filter(
            members::namespace_id
                .eq_any(membership_sources.groups())
                .or(members::project_id.eq_any(membership_sources.project)),
        )
        .order_by(members::id.asc());
    let rows: Vec<Member> = each_backend!(tx, |conn| rows
        .select(Member::as_select())
        .load(conn)
        .map_err(error("Member")))?;
    let mut best: BTreeMap<UserId, (AccessLevel, Member)> = BTreeMap::new();
    for member in
        rows.into_iter().filter(|member| state.is_none_or(|state| member.state() == state))
    {
        let Some(level) = membership_sources.level_of(&member) else { continue };
        if best.get(&member.user_id).is_none_or(|(highest, _)| *highest < level) {
            best.insert(member.user_id, (level, member));
        }
    }
    Ok(best)
}

pub(super) fn givers(
    tx: &mut Tx<'_>,
    ids: impl Iterator<Item = UserId>,
) -> Result<HashMap<UserId, User>> {
    let mut ids: Vec<UserId> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() { Ok(HashMap::new()) } else { tx.users_by_id(&ids) }
}

/// Which of these groups are private and not the actor's.
pub(super) fn secret_groups(
    tx: &mut Tx<'_>,
    actor: Actor,
    groups: impl Iterator<Item = NamespaceId>,
) -> Result<Vec<NamespaceId>> {
    let mut ids: Vec<NamespaceId> = groups.collect();
    ids.sort_unstable();
    ids.dedup();
    if actor.admin || ids.is_empty() {
        return Ok(Vec::new());
    }
    let theirs = namespace_access::table
        .filter(namespace_access::user_id.eq(actor.id.unwrap_or(UserId(0))))
        .filter(namespace_access::access_level.gt(AccessLevel::NoAccess))
        .select(namespace_access::namespace_id);
    let query = namespaces::table
        .filter(namespaces::id.eq_any(ids))
        .filter(namespaces::visibility.eq(Visibility::Private))
        .filter(namespaces::id.ne_all(theirs))
        .select(namespaces::id);
    each_backend!(tx, |conn| query.load(conn).map_err(error("Group")))
}
