//! Reacting to something, and taking that back.

use db::Tx;
use kernel::{
    Error, Result, Ts,
    ids::{NoteId, ProjectId, UserId},
    page::{Page, PageRequest},
};

use super::{
    Award, AwardStore as _, AwardTarget, canonical,
    event::{Event, Fact},
};
use crate::{
    item::{Item, ParticipationGrant, ReadItemsGrant, reading as items},
    note::{reading, rules::ensure_unlocked},
    ports::Forge,
    todo::TodoStore as _,
};

fn no_award() -> Error {
    Error::not_found("Award Emoji")
}

fn no_emoji() -> Error {
    Error::not_found("Award Emoji Name is not a valid emoji name")
}

/// A page of the reactions to an item, or to one of its notes.
pub fn list<G: ReadItemsGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    note: Option<NoteId>,
    page: PageRequest,
) -> Result<Page<Award>> {
    let (_, of) = awarded(tx, grant, forge, iid, note)?;
    tx.awards(of, page)
}

/// One reaction.
pub fn read<G: ReadItemsGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    note: Option<NoteId>,
    id: i64,
) -> Result<Award> {
    let (_, of) = awarded(tx, grant, forge, iid, note)?;
    tx.find_award(of, id)?.ok_or_else(no_award)
}

/// Reacts to an item, or to one of its notes.
pub fn create<G: ParticipationGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    note: Option<NoteId>,
    name: &str,
) -> Result<Award> {
    let (item, of) = awarded(tx, grant, forge, iid, note)?;
    ensure_unlocked(&item, grant.who()).map_err(|_locked| no_award())?;
    let user = grant.user()?;
    let name = canonical(name).ok_or_else(no_emoji)?;
    if tx.find_award_of(of, user, name)?.is_some() {
        return Err(Error::not_found("Award Emoji Name has already been taken"));
    }
    tx.finish_todos(item.id, user)?;
    give(tx, of, item.project(), user, name)
}

fn give(
    tx: &mut Tx<'_>,
    of: AwardTarget,
    project: Option<ProjectId>,
    user: UserId,
    name: &str,
) -> Result<Award> {
    let award = tx.insert_award(of, project, user, name)?;
    tx.count_votes(of)?;
    tx.emit(Event::AwardGiven(Fact::new(&award, of, project, user)))?;
    Ok(award)
}

fn take_back(
    tx: &mut Tx<'_>,
    award: &Award,
    of: AwardTarget,
    project: Option<ProjectId>,
    user: UserId,
) -> Result<()> {
    tx.delete_award(award.id)?;
    tx.count_votes(of)?;
    tx.emit(Event::AwardTakenBack(Fact::new(award, of, project, user)))
}

/// Gives an item a reaction, or takes it back where it was given already.
///
/// # Errors
/// `NotFound` for what is no emoji.
pub fn toggle(tx: &mut Tx<'_>, item: &Item, user: UserId, name: &str) -> Result<()> {
    let of = AwardTarget::from(item.id);
    let name = canonical(name).ok_or_else(no_award)?;
    match tx.find_award_of(of, user, name)? {
        Some(given) => take_back(tx, &given, of, item.project(), user),
        None => give(tx, of, item.project(), user, name).map(drop),
    }
}

/// Takes a reaction back: one's own, or any as an administrator.
pub fn remove<G: ParticipationGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    note: Option<NoteId>,
    id: i64,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let (item, of) = awarded(tx, grant, forge, iid, note)?;
    let award = tx.find_award(of, id)?.ok_or_else(no_award)?;
    let actor = grant.actor();
    if !actor.admin && actor.id != Some(award.user_id) {
        return Err(Error::unauthenticated());
    }
    award.updated_at.ensure_unchanged_since(unless_newer)?;
    take_back(tx, &award, of, item.project(), grant.user()?)
}

/// Takes one's own reaction of a name back. The answer is what was taken back.
///
/// # Errors
/// `NotFound` where there is none of that name.
pub fn remove_named<G: ParticipationGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    note: Option<NoteId>,
    name: &str,
) -> Result<Award> {
    let (item, of) = awarded(tx, grant, forge, iid, note)?;
    let user = grant.user()?;
    let name = canonical(name).ok_or_else(no_emoji)?;
    let award = tx.find_award_of(of, user, name)?.ok_or_else(no_award)?;
    take_back(tx, &award, of, item.project(), user)?;
    Ok(award)
}

/// Whether somebody gave something a reaction of this name.
pub fn is_given<G: ParticipationGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    note: Option<NoteId>,
    name: &str,
) -> Result<bool> {
    let (_, of) = awarded(tx, grant, forge, iid, note)?;
    let name = canonical(name).ok_or_else(no_emoji)?;
    Ok(tx.find_award_of(of, grant.user()?, name)?.is_some())
}

/// A note goes, and what people felt about it.
pub fn forget_note(tx: &mut Tx<'_>, id: NoteId) -> Result<()> {
    tx.delete_awards(id.into())
}

/// What is reacted to, with the item it is or belongs to.
fn awarded<G: ReadItemsGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    note: Option<NoteId>,
) -> Result<(Item, AwardTarget)> {
    let unknown = |cause: Error| match cause {
        gone if gone.is_gone() => no_award(),
        other => other,
    };
    let item = items::read(tx, grant, iid).map_err(unknown)?;
    let Some(id) = note else {
        let of = item.id.into();
        return Ok((item, of));
    };
    let note = reading::note(tx, grant, forge, &item, id).map_err(unknown)?;
    Ok((item, note.id.into()))
}
