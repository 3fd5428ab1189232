//! Saying something about an item, changing it and taking it back.

use db::Tx;
use kernel::{AccessLevel, Error, Result, Standing, Ts, ids::NoteId};

use super::{
    discussion,
    event::{Event, Fact},
    model::{Note, NoteType},
    reading,
    store::{NewRow, NoteStore as _},
};
use crate::{
    activity,
    item::{Item, ItemKind, TakesPart, reading as items},
    ports::Forge,
    reference::{self, ParticipantStore as _},
    todo::TodoStore as _,
};

const LONGEST: usize = 1_000_000;

/// Something to be said.
#[derive(Clone, Debug)]
pub struct NewNote {
    pub body: String,
    /// For members from Reporter on alone.
    pub internal: bool,
    /// When it was said, for those who may tell otherwise than now.
    pub created_at: Option<Ts>,
    pub place: Place,
}

/// Where something is said.
#[derive(Clone, Debug)]
pub enum Place {
    /// A plain comment.
    Alone,
    /// The beginning of a thread; of merge requests about a place in the diff, as JSON, or a commit.
    Thread { position: Option<String>, commit_id: Option<String> },
    /// An answer in a discussion.
    Reply(String),
}

/// Says something about the item of that number.
pub fn create<G: TakesPart>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    new: &NewNote,
) -> Result<(Item, Note)> {
    let item = items::read(tx, grant, iid)?;
    ensure_unlocked(&item, grant.who())?;
    ensure_sayable(&new.body)?;
    let author = grant.user()?;
    let threads = match &new.place {
        Place::Reply(id) => Some(reading::discussion(tx, grant, forge, &item, id)?),
        _ => None,
    };
    let internal = match &threads {
        Some(thread) => thread.notes.iter().any(|note| note.internal),
        None => new.internal,
    };
    if new.internal && !grant.who().is(AccessLevel::Reporter) {
        return Err(Error::Forbidden);
    }
    let reply = threads.as_ref().map(|thread| discussion::reply(tx, &item, thread)).transpose()?;
    let fresh = discussion::fresh();
    let (note_type, position, commit_id) = match &new.place {
        Place::Alone => (None, None, None),
        Place::Thread { position: Some(position), commit_id } => {
            (Some(NoteType::Diff), Some(position.as_str()), commit_id.as_deref())
        }
        Place::Thread { position: None, commit_id } => {
            (Some(NoteType::Discussion), None, commit_id.as_deref())
        }
        Place::Reply(_) => match &reply {
            Some(reply) => {
                (Some(reply.note_type), reply.position.as_deref(), reply.commit_id.as_deref())
            }
            None => (Some(NoteType::Discussion), None, None),
        },
    };
    let row = NewRow {
        discussion: threads.as_ref().map_or(&fresh, |thread| &thread.id),
        note_type,
        body: &new.body,
        author,
        is_system: false,
        internal,
        position,
        commit_id,
        resolved_by: reply.as_ref().filter(|reply| reply.is_resolved).map(|_| author),
        source: None,
        at: new.created_at.filter(|_| may_date(grant.who())).unwrap_or(tx.now),
    };
    let note = tx.insert_note(&item, &row)?;
    after_saying(tx, forge, &item, &note)?;
    Ok((item, note))
}

/// What follows from a new note.
fn after_saying(tx: &mut Tx<'_>, forge: &impl Forge, item: &Item, note: &Note) -> Result<()> {
    // What is internal does not show in numbers that everybody sees.
    tx.add_to_notes_count(item.id, i64::from(!note.internal))?;
    if note.is_resolvable() {
        tx.count_unresolved_threads(item.id)?;
    }
    tx.finish_todos(item.id, note.author_id)?;
    if !note.internal {
        tx.note_participant(item, note.author_id)?;
    }
    reference::note_changed(tx, forge, item, note, None)?;
    activity::record_note(tx, item, note)?;
    tx.emit(Event::NoteCreated(Fact::new(note, note.author_id)))
}

/// Says something else instead.
pub fn update<G: TakesPart>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    id: NoteId,
    body: &str,
) -> Result<(Item, Note)> {
    let item = items::read(tx, grant, iid)?;
    let old = reading::note(tx, grant, forge, &item, id)?;
    ensure_changeable(&item, &old, grant)?;
    ensure_sayable(body)?;
    let note = tx.keep_note_body(id, body)?;
    reference::note_changed(tx, forge, &item, &note, Some(&old.body))?;
    tx.emit(Event::NoteUpdated(Fact::new(&note, grant.user()?)))?;
    Ok((item, note))
}

/// Takes a note back, where it did not change since a moment.
pub fn remove<G: TakesPart>(
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
    crate::emoji::forget_note(tx, id)?;
    reference::forget_note(tx, &item, id)?;
    activity::ActivityStore::delete_activity_of_note(tx, id)?;
    tx.delete_todos_of_note(id)?;
    tx.delete_note(id)?;
    tx.add_to_notes_count(item.id, -i64::from(!note.internal))?;
    if note.is_resolvable() {
        tx.count_unresolved_threads(item.id)?;
    }
    tx.emit(Event::NoteDeleted(Fact::new(&note, grant.user()?)))
}

/// Whether somebody may say that something was said at another time.
fn may_date(who: &Standing) -> bool {
    who.is(AccessLevel::Owner)
}

/// Members alone speak where the discussion is locked.
pub(crate) fn ensure_unlocked(item: &Item, who: &Standing) -> Result<()> {
    match item.locked && !who.is(AccessLevel::Guest) {
        true => Err(Error::Forbidden),
        false => Ok(()),
    }
}

fn ensure_changeable<G: TakesPart>(item: &Item, note: &Note, grant: &G) -> Result<()> {
    let own = grant.actor().id == Some(note.author_id);
    if note.is_system || !(own || grant.who().is(AccessLevel::Maintainer)) {
        return Err(Error::Forbidden);
    }
    ensure_unlocked(item, grant.who())
}

/// What is blank or endless is not said.
pub(crate) fn ensure_sayable(body: &str) -> Result<()> {
    if body.trim().is_empty() {
        return Err(Error::BadRequest("Note {:note=>[\"can't be blank\"]}".to_owned()));
    }
    if body.chars().count() > LONGEST {
        let text = format!("is too long (maximum is {LONGEST} characters)");
        return Err(Error::BadRequest(format!("Note {{:note=>[{text:?}]}}")));
    }
    Ok(())
}

/// Whether notes of this kind of item may become threads.
pub(crate) fn has_threads(kind: ItemKind) -> bool {
    matches!(kind, ItemKind::Issue | ItemKind::MergeRequest | ItemKind::Epic)
}
