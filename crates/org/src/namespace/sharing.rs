//! Sharing groups with groups: the members of one have a role in the other.

use std::collections::HashMap;

use db::{Tx, each_backend, error, schema::group_group_links};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Error, Grant, Result, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::NamespaceId,
};

use super::{Namespace, event::Event, store::NamespaceStore};
use crate::{
    access::{self, IdOrPath, locate_group},
    expiry::{ended, living},
    faults::Faults,
    hierarchy::known_groups,
    member::{
        rules::{check_end, sentences},
        store::MemberStore,
    },
    policy::{AdminGroup, UseGroup},
};

const ALREADY: &str = "Shared group The group has already been shared with this group";
const ITSELF: &str = "Shared with group can't be the same as the shared group";

/// The maximum role of members of the invited group, and its expiry.
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    pub invited: NamespaceId,
    pub level: AccessLevel,
    pub expires_at: Option<Ts>,
}

/// Shares a group with another one that the caller sees.
///
/// # Errors
/// `NotFound` when the caller may not share the group, or not with this one: what is forbidden is not there.
pub fn share(tx: &mut Tx<'_>, grant: &Grant<UseGroup>, with: Sharing) -> Result<Namespace> {
    access::lock_access_projection(tx)?;
    let (invited, _) = locate_group(tx, grant.actor(), &IdOrPath::Id(with.invited.0))?;
    let (group, invited) = (grant.group(), invited.0.id);
    if grant.also::<AdminGroup>().is_err() || !may_invite(tx, group, invited)? {
        return Err(Error::missing());
    }
    if group == invited {
        return Err(Error::conflict().whole(ITSELF));
    }
    ensure_ahead(tx, with.expires_at)?;
    // One that has ended is none, even while nobody has cleared it away.
    let ended = group_group_links::table
        .filter(group_group_links::namespace_id.eq(group))
        .filter(group_group_links::invited_id.eq(invited))
        .filter(ended!(group_group_links, tx.now));
    each_backend!(tx, |conn| diesel::delete(ended).execute(conn).map_err(error("Group Link")))?;
    let row = (
        group_group_links::namespace_id.eq(group),
        group_group_links::invited_id.eq(invited),
        group_group_links::access_level.eq(with.level),
        group_group_links::expires_at.eq(with.expires_at),
        group_group_links::created_at.eq(tx.now),
        group_group_links::updated_at.eq(tx.now),
    );
    let insert = diesel::insert_into(group_group_links::table).values(row).on_conflict_do_nothing();
    let new = each_backend!(tx, |conn| insert.execute(conn).map_err(error("Group Link")))?;
    if new == 0 {
        return Err(Error::conflict().whole(ALREADY));
    }
    access::refresh_group_share(tx, group, invited)?;
    let user = grant.actor().id;
    tx.emit(Event::GroupShare { group_id: group, invited_id: invited, user })?;
    tx.namespace(group)
}

/// Refuses an end that has come before today.
pub(crate) fn ensure_ahead(tx: &Tx<'_>, end: Option<Ts>) -> Result<()> {
    let mut faults = Faults::default();
    check_end(tx.now, end, &mut faults);
    sentences(faults).map_or(Ok(()), |why| Err(Error::conflict().whole(why)))
}

/// Whether a group, or a project in it, may be shared with another group: some trees keep to themselves.
pub fn may_invite(tx: &mut Tx<'_>, group: NamespaceId, invited: NamespaceId) -> Result<bool> {
    let line = tx.lineage(group)?;
    let Some(root) = line.last() else { return Ok(false) };
    if !root.settings().prevent_sharing_groups_outside_hierarchy {
        return Ok(true);
    }
    Ok(tx.lineage(invited)?.last().is_some_and(|other| other.id == root.id))
}

/// Ends a share.
pub fn unshare(tx: &mut Tx<'_>, grant: &Grant<AdminGroup>, invited: NamespaceId) -> Result<()> {
    access::lock_access_projection(tx)?;
    let group = grant.group();
    let row = group_group_links::table
        .filter(group_group_links::namespace_id.eq(group))
        .filter(group_group_links::invited_id.eq(invited))
        .filter(living!(group_group_links, tx.now));
    let gone =
        each_backend!(tx, |conn| diesel::delete(row).execute(conn).map_err(error("Group Link")))?;
    if gone == 0 {
        return Err(Error::not_found("Group Link"));
    }
    access::refresh_group_share(tx, group, invited)?;
    tx.emit(Event::GroupUnshare { group_id: group, invited_id: invited, user: grant.actor().id })
}

/// A group that another one is shared with.
#[derive(Clone, Debug)]
pub struct GroupLink {
    pub invited: NamespaceId,
    pub name: String,
    pub full_path: String,
    pub access_level: AccessLevel,
    pub expires_at: Option<Ts>,
}

type Row = (NamespaceId, AccessLevel, Option<Ts>);

/// The groups that a group is shared with; only those that the actor may know of.
pub fn links(tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<Vec<GroupLink>> {
    let query = group_group_links::table
        .filter(group_group_links::namespace_id.eq(group))
        .filter(living!(group_group_links, tx.now))
        .order(group_group_links::id)
        .select((
            group_group_links::invited_id,
            group_group_links::access_level,
            group_group_links::expires_at,
        ));
    let rows: Vec<Row> = each_backend!(tx, |conn| query.load(conn).map_err(error("Group Link")))?;
    let groups: Vec<NamespaceId> = rows.iter().map(|row| row.0).collect();
    let known = known_groups(tx, actor, &groups)?;
    let mut known: HashMap<NamespaceId, Namespace> =
        known.into_iter().map(|group| (group.id, group)).collect();
    let shown = rows.into_iter().filter_map(|(invited, access_level, expires_at)| {
        let Namespace { name, full_path, .. } = known.remove(&invited)?;
        Some(GroupLink { invited, name, full_path, access_level, expires_at })
    });
    Ok(shown.collect())
}

/// Writes down that a share has ended by itself.
fn record_end(tx: &mut Tx<'_>, group: NamespaceId, invited: NamespaceId) -> Result<()> {
    let Some(invited) = tx.find_namespace(invited)? else { return Ok(()) };
    let place = AuditPlace::Group(group);
    let removed =
        AuditRecord::removal("group_share_with_group_link_removed", place, "group_access");
    tx.mention(removed.target("Group", invited.id.0, invited.full_path));
    Ok(())
}

/// How many expired shares one transaction removes.
const REMOVED_AT_ONCE: i64 = 200;

/// Removes shares whose end has come; tells whether there may be more.
pub fn remove_expired(tx: &mut Tx<'_>) -> Result<bool> {
    access::lock_access_projection(tx)?;
    let expired = group_group_links::table
        .filter(ended!(group_group_links, tx.now))
        .order(group_group_links::id)
        .limit(REMOVED_AT_ONCE)
        .select((
            group_group_links::id,
            group_group_links::namespace_id,
            group_group_links::invited_id,
        ));
    let expired: Vec<(i64, NamespaceId, NamespaceId)> =
        each_backend!(tx, |conn| expired.load(conn).map_err(error("Group Link")))?;
    for (id, group, invited) in &expired {
        let row = group_group_links::table.find(id);
        each_backend!(tx, |conn| diesel::delete(row).execute(conn).map_err(error("Group Link")))?;
        access::refresh_group_share(tx, *group, *invited)?;
        record_end(tx, *group, *invited)?;
    }
    Ok(i64::try_from(expired.len()).unwrap_or(0) == REMOVED_AT_ONCE)
}
