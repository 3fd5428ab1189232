//! Saying something about an item, changing it and taking it back.

use db::Tx;
use kernel::{
    AccessLevel, Error, Result, Ts,
    ids::{NoteId, UserId},
};

use super::{
    discussion,
    event::{Event, Fact},
    model::{Note, NoteType},
    reading,
    rules::{ensure_changeable, ensure_commit_name, ensure_sayable, ensure_unlocked, may_date},
    store::{NewRow, NoteStore as _},
};
use crate::{
    activity,
    item::{Item, ParticipationGrant, reading as items},
    ports::{Branches, Forge},
    quick_action::{ActionSummary, part, run},
    reference::{self, ParticipantStore as _},
    todo::TodoStore as _,
};

/// Something to be said.
#[derive(Clone, Debug)]
pub struct NewNote {
    pub body: String,
    /// For members from Reporter on alone.
    pub internal: bool,
    /// When it was said, for those who may tell otherwise than now.
    pub created_at: Option<Ts>,
    pub place: NoteTarget,
}

/// The item or discussion that a note is added to.
#[derive(Clone, Debug)]
pub enum NoteTarget {
    /// A plain comment.
    Alone,
    /// The beginning of a thread; of merge requests about a place in the diff, as JSON, or a commit.
    Thread { position: Option<String>, commit_id: Option<String> },
    /// An answer in a discussion.
    Reply(String),
}

/// The created note, if any, and the results of its quick actions.
#[derive(Clone, Debug)]
pub struct NoteResult {
    pub item: Item,
    pub note: Option<Note>,
    pub done: ActionSummary,
    /// A note that goes once what was said instead has an effect.
    pub replaced: Option<Note>,
}

/// Says something about the item of that number, and does what its quick actions want.
///
/// # Errors
/// `BadRequest` for what is blank, and for quick actions alone that have no effect.
pub fn create<G: ParticipationGrant, F: Forge + Branches>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &F,
    iid: i64,
    new: &NewNote,
) -> Result<NoteResult> {
    let item = items::read(tx, grant, iid)?;
    ensure_unlocked(&item, grant.who())?;
    ensure_sayable(&new.body)?;
    if new.internal && !grant.who().is(AccessLevel::Reporter) {
        return Err(Error::forbidden());
    }
    let parted = part(&new.body, item.id.kind);
    let note = match parted.text.is_empty() {
        true => None,
        false => Some(say(tx, grant, forge, &item, new, &parted.text)?),
    };
    let done = run(tx, grant, forge, &item, &parted.commands)?;
    ensure_effect(note.as_ref(), &done)?;
    Ok(NoteResult { item, note, done, replaced: None })
}

/// # Errors
/// `BadRequest` where quick actions alone were sent, and none had an effect.
pub fn ensure_effect(note: Option<&Note>, done: &ActionSummary) -> Result<()> {
    match note.is_none() && done.is_empty() {
        true => Err(Error::bad_request().because("Failed to apply commands.")),
        false => Ok(()),
    }
}

fn say<G: ParticipationGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    item: &Item,
    new: &NewNote,
    body: &str,
) -> Result<Note> {
    let author = grant.user()?;
    let (mut thread, mut position, mut commit_id) =
        (discussion::DiscussionContext::individual(), None, None);
    match &new.place {
        NoteTarget::Alone => {}
        NoteTarget::Thread { position: at, commit_id: of } => {
            let kind = if at.is_some() { NoteType::Diff } else { NoteType::Discussion };
            ensure_commit_name(of.as_deref())?;
            thread.note_type = Some(kind);
            (position, commit_id) = (at.clone(), of.clone());
        }
        NoteTarget::Reply(id) => {
            let found = reading::discussion(tx, grant, forge, item, id)?;
            thread = discussion::enter(tx, item, &found)?;
            (position, commit_id) = (thread.position.take(), thread.commit_id.take());
        }
    }
    let row = NewRow {
        discussion: &thread.id,
        note_type: thread.note_type,
        body,
        author,
        is_system: false,
        internal: new.internal || thread.internal,
        position: position.as_deref(),
        commit_id: commit_id.as_deref(),
        resolved_by: thread.is_resolved.then_some(author),
        source: None,
        at: new.created_at.filter(|_| may_date(grant.who())).unwrap_or(tx.now),
    };
    let note = tx.insert_note(item, &row)?;
    after_saying(tx, forge, item, &note)?;
    Ok(note)
}

/// What follows from a new note.
fn after_saying(tx: &mut Tx<'_>, forge: &impl Forge, item: &Item, note: &Note) -> Result<()> {
    tx.finish_todos(item.id, note.author_id)?;
    if !note.internal {
        tx.record_participant(item, note.author_id)?;
    }
    reference::note_changed(tx, forge, item, note, None)?;
    activity::record_note(tx, item, note)?;
    // Last, because whoever else says something about the item waits from here on. What is internal does not show in
    // numbers that everybody sees.
    tx.add_to_notes_count(item.id, i64::from(!note.internal))?;
    if note.is_resolvable() {
        tx.count_unresolved_threads(item.id)?;
    }
    tx.emit(Event::NoteCreated(Fact::new(note, note.author_id)))
}

/// Says something else instead, and does what its quick actions want; where there is nothing else, the note goes.
pub fn update<G: ParticipationGrant, F: Forge + Branches>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &F,
    iid: i64,
    id: NoteId,
    body: &str,
) -> Result<NoteResult> {
    let item = items::read(tx, grant, iid)?;
    let old = reading::note(tx, grant, forge, &item, id)?;
    ensure_changeable(&item, &old, grant)?;
    ensure_sayable(body)?;
    let parted = part(body, item.id.kind);
    let note = match parted.text.is_empty() {
        true => None,
        false => {
            let note = tx.save_note_body(id, &parted.text)?;
            reference::note_changed(tx, forge, &item, &note, Some(&old.body))?;
            tx.emit(Event::NoteUpdated(Fact::new(&note, grant.user()?)))?;
            Some(note)
        }
    };
    let done = run(tx, grant, forge, &item, &parted.commands)?;
    ensure_effect(note.as_ref(), &done)?;
    let mut replaced = note.is_none().then_some(old);
    if done.later.is_empty()
        && let Some(old) = replaced.take()
    {
        forget(tx, &item, &old, grant.user()?)?;
    }
    Ok(NoteResult { item, note, done, replaced })
}

/// Quick actions that were said instead of a note had an effect: the note goes, if it is still there.
pub fn forget_replaced(tx: &mut Tx<'_>, item: &Item, note: NoteId, by: UserId) -> Result<()> {
    if let Some(note) = tx.find_note(item.id, note)? {
        forget(tx, item, &note, by)?;
    }
    Ok(())
}

/// Takes a note back, where it did not change since a moment.
pub fn remove<G: ParticipationGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    id: NoteId,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let item = items::read(tx, grant, iid)?;
    let note = reading::note(tx, grant, forge, &item, id)?;
    ensure_changeable(&item, &note, grant)?;
    note.updated_at.ensure_unchanged_since(unless_newer)?;
    match forget(tx, &item, &note, grant.user()?)? {
        true => Ok(()),
        false => Err(Error::not_found("Note")),
    }
}

/// A note goes with all that hangs on it; whether it was still there.
fn forget(tx: &mut Tx<'_>, item: &Item, note: &Note, by: UserId) -> Result<bool> {
    let id = note.id;
    crate::emoji::forget_note(tx, id)?;
    reference::forget_note(tx, item, id)?;
    activity::ActivityStore::delete_activity_of_note(tx, id)?;
    tx.delete_todos_of_note(id)?;
    if !tx.delete_note(id)? {
        return Ok(false);
    }
    tx.add_to_notes_count(item.id, -i64::from(!note.internal))?;
    if note.is_resolvable() {
        tx.count_unresolved_threads(item.id)?;
    }
    tx.emit(Event::NoteDeleted(Fact::new(note, by)))?;
    Ok(true)
}
