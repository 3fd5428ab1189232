//! Single steps by which memberships come and go, each with the event that tells of it.

use db::Tx;
use kernel::{
    AccessLevel, Error, Result, Ts,
    ids::{ProjectId, UserId},
};

use super::{
    Event, Member, MemberSource, NewMember, Source, State, Step, event::Fact, store::MemberStore,
};
use crate::access;

/// Adds a member; effective access follows in the same transaction.
pub fn insert(tx: &mut Tx<'_>, new: &NewMember) -> Result<()> {
    add(tx, new, false)
}

/// As [`insert`], for a member whom an archive brings along, since a moment.
pub fn insert_archived(tx: &mut Tx<'_>, new: &NewMember, since: Option<Ts>) -> Result<()> {
    add(tx, new, true)?;
    match since.filter(|since| *since <= tx.now) {
        Some(since) => tx.save_membership_start(new.source, new.user_id, since),
        None => Ok(()),
    }
}

fn add(tx: &mut Tx<'_>, new: &NewMember, is_archived: bool) -> Result<()> {
    tx.insert_member(new)?;
    refresh(tx, new.source, new.user_id)?;
    let fact = Fact::new(new.source, new.user_id, new.access_level, new.expires_at, new.created_by);
    tx.emit(Event::Added(Fact { is_archived, ..fact }))
}

/// Whoever a personal namespace belongs to owns the projects in it, as members, too. Effective access is refreshed by
/// who put the project there.
pub fn ensure_owner(tx: &mut Tx<'_>, project: ProjectId, owner: Option<UserId>) -> Result<()> {
    let Some(owner) = owner else { return Ok(()) };
    tx.insert_member(&NewMember {
        source: Source::Project(project),
        user_id: owner,
        access_level: AccessLevel::Owner,
        expires_at: None,
        created_by: Some(owner),
    })
}

pub(super) fn refresh(tx: &mut Tx<'_>, source: Source, user: UserId) -> Result<()> {
    match source {
        Source::Project(id) => access::refresh_project_member(tx, id, user),
        Source::Group(id) => access::refresh_group_member(tx, id, user),
    }
}

/// The table of states is asked, never bypassed.
pub(super) fn ensure_step(from: State, step: Step) -> Result<State> {
    from.after(step).ok_or_else(|| Error::conflict().whole("409 Conflict: Resource lock"))
}

/// Takes a membership away; the caller has effective access worked out anew.
pub(super) fn drop_member(
    tx: &mut Tx<'_>,
    place: MemberSource,
    member: &Member,
    unassign_issuables: bool,
) -> Result<()> {
    tx.delete_member(member.source(), member.user_id)?;
    let fact = Fact::of(member, member.level(), place.actor().id);
    tx.emit(Event::Removed { fact, unassign_issuables })
}
