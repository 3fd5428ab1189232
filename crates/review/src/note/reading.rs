//! The notes of an item that a caller may read.

use std::collections::{HashMap, HashSet};

use db::Tx;
use kernel::{
    AccessLevel, Actor, Error, Result, Standing,
    ids::{NoteId, ProjectId},
    page::{Page, PageRequest},
};

use super::{
    model::{Discussion, Note},
    store::{Head, NoteStore as _},
};
use crate::{
    Home,
    item::{Item, ItemId, ItemKind, ReadItemsGrant, reading},
    ports::Forge,
};

kernel::text_enum! {
    pub enum OrderBy { CreatedAt = "created_at", UpdatedAt = "updated_at" }
}

kernel::text_enum! {
    /// Which notes a list shows.
    pub enum Activity {
        All = "all_notes",
        Comments = "only_comments",
        Activity = "only_activity",
    }
}

/// Which notes of an item are asked for, in which order.
#[derive(Clone, Copy, Debug)]
pub struct NoteQuery {
    pub activity: Activity,
    pub order_by: OrderBy,
    pub newest_first: bool,
}

/// A page of the notes of an item that the caller sees.
pub fn list<G: ReadItemsGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    listed: NoteQuery,
    page: PageRequest,
) -> Result<(Item, Page<Note>)> {
    let item = reading::read(tx, grant, iid)?;
    let mut heads = seen(tx, forge, &item, grant.who())?;
    heads.retain(|head| match listed.activity {
        Activity::All => true,
        Activity::Comments => !head.is_system,
        Activity::Activity => head.is_system,
    });
    if listed.order_by == OrderBy::UpdatedAt {
        heads.sort_by_key(|head| (head.updated_at, head.id));
    }
    if listed.newest_first {
        heads.reverse();
    }
    let page = page.slice(heads.into_iter().map(|head| head.id).collect());
    let notes = page.try_map_all(|ids| in_order(tx, &ids))?;
    Ok((item, notes))
}

/// One note of an item, if the caller sees it.
pub fn note<G: ReadItemsGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    item: &Item,
    id: NoteId,
) -> Result<Note> {
    let note = tx.find_note(item.id, id)?.ok_or_else(|| Error::not_found("Note"))?;
    let is_seen = note.is_system || is_for(&note, grant.who());
    // Only what tells of other items needs a closer look.
    let is_seen = is_seen && (!note.is_system || shows(tx, forge, item, grant.who(), id)?);
    if is_seen { Ok(note) } else { Err(Error::not_found("Note")) }
}

/// A page of the discussions of an item, oldest first.
pub fn discussions<G: ReadItemsGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    page: PageRequest,
) -> Result<(Item, Page<Discussion>)> {
    let item = reading::read(tx, grant, iid)?;
    let heads = seen(tx, forge, &item, grant.who())?;
    let (mut order, mut inside): (Vec<String>, HashMap<String, Vec<NoteId>>) = Default::default();
    for head in heads {
        let ids = inside.entry(head.discussion.clone()).or_default();
        if ids.is_empty() {
            order.push(head.discussion);
        }
        ids.push(head.id);
    }
    let page = page.slice(order).try_map_all(|names| {
        let ids: Vec<NoteId> =
            names.iter().filter_map(|name| inside.get(name)).flatten().copied().collect();
        let mut notes: HashMap<String, Vec<Note>> = HashMap::new();
        for note in tx.notes_by_id(&ids)? {
            notes.entry(note.discussion.clone()).or_default().push(note);
        }
        let whole = |id: String| Discussion { notes: notes.remove(&id).unwrap_or_default(), id };
        Ok::<_, Error>(names.into_iter().map(whole).collect())
    })?;
    Ok((item, page))
}

/// One discussion of an item, if the caller sees it.
pub fn discussion<G: ReadItemsGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    item: &Item,
    id: &str,
) -> Result<Discussion> {
    let mut notes = tx.notes_of_discussion(item.id, id)?;
    notes.retain(|note| note.is_system || is_for(note, grant.who()));
    if let [only] = notes.as_slice()
        && only.is_system
        && !shows(tx, forge, item, grant.who(), only.id)?
    {
        notes.clear();
    }
    if notes.is_empty() {
        return Err(Error::not_found("Discussion"));
    }
    Ok(Discussion { id: id.to_owned(), notes })
}

/// # Errors
/// `NotFound` where a discussion that the caller sees does not hold the note.
pub fn ensure_in_discussion<G: ReadItemsGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    discussion_id: &str,
    note: NoteId,
) -> Result<()> {
    let item = reading::read(tx, grant, iid)?;
    let thread = discussion(tx, grant, forge, &item, discussion_id)?;
    match thread.notes.iter().any(|inside| inside.id == note) {
        true => Ok(()),
        false => Err(Error::not_found("Note")),
    }
}

/// Whether what somebody wrote is for a reader.
fn is_for(note: &Note, who: &Standing) -> bool {
    !note.internal || who.is(AccessLevel::Reporter) || who.actor.id == Some(note.author_id)
}

/// Those of these notes, each with where it is, that are not for somebody any more.
pub fn hidden(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    notes: &[(NoteId, Home)],
) -> Result<HashSet<NoteId>> {
    let ids: Vec<NoteId> = notes.iter().map(|(id, _)| *id).collect();
    let internal = tx.internal_notes(&ids, actor.id)?;
    let homes = notes.iter().filter(|(id, _)| internal.contains(id)).map(|(_, home)| *home);
    let (mut projects, mut groups) = (HashSet::new(), HashMap::new());
    for home in homes {
        match home {
            Home::Project(project) => drop(projects.insert(project)),
            Home::Group(group) if groups.contains_key(&group) => {}
            Home::Group(group) => drop(groups.insert(group, forge.level_in(tx, actor, group)?)),
        }
    }
    let projects: Vec<ProjectId> = projects.into_iter().collect();
    let standings = forge.standings_in(tx, actor, &projects)?;
    let reports = |home: &Home| match home {
        Home::Project(project) => {
            standings.get(project).is_some_and(|who| who.is(AccessLevel::Reporter))
        }
        Home::Group(group) => {
            groups.get(group).is_some_and(|level| *level >= AccessLevel::Reporter)
        }
    };
    let hidden = notes.iter().filter(|(id, home)| internal.contains(id) && !reports(home));
    Ok(hidden.map(|(id, _)| *id).collect())
}

fn shows(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    item: &Item,
    who: &Standing,
    id: NoteId,
) -> Result<bool> {
    Ok(seen(tx, forge, item, who)?.iter().any(|head| head.id == id))
}

/// The notes of several items of one kind that one reader sees, who may read the items themselves and stands so in the
/// project or group of each.
pub fn heads_seen(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    kind: ItemKind,
    items: &[(i64, Standing)],
) -> Result<HashMap<i64, Vec<Head>>> {
    let ids: Vec<i64> = items.iter().map(|(id, _)| *id).collect();
    let mut all = tx.note_heads_of(kind, &ids)?;
    for (id, who) in items {
        if let Some(heads) = all.get_mut(id) {
            heads.retain(|head| is_head_for(head, who));
        }
    }
    let sources: HashSet<(ItemId, Option<ProjectId>)> =
        all.values().flatten().filter_map(source).collect();
    if !sources.is_empty() {
        let sources: Vec<_> = sources.into_iter().collect();
        let readable = reading::readable_anywhere(tx, forge, actor, &sources)?;
        for heads in all.values_mut() {
            heads.retain(|head| source(head).is_none_or(|(id, _)| readable.contains(&id)));
        }
    }
    Ok(all)
}

/// Whether what somebody wrote is for a reader, by what is known before it is read.
fn is_head_for(head: &Head, who: &Standing) -> bool {
    !head.internal || who.is(AccessLevel::Reporter) || who.actor.id == Some(head.author)
}

/// What a reader sees: nothing internal as a stranger, and no word of items that they may not read.
fn seen(tx: &mut Tx<'_>, forge: &impl Forge, item: &Item, who: &Standing) -> Result<Vec<Head>> {
    let mut heads = tx.note_heads(item.id)?;
    heads.retain(|head| is_head_for(head, who));
    let sources: HashSet<(ItemId, Option<ProjectId>)> = heads.iter().filter_map(source).collect();
    if !sources.is_empty() {
        let sources: Vec<_> = sources.into_iter().collect();
        let readable = reading::readable_anywhere(tx, forge, who.actor, &sources)?;
        heads.retain(|head| source(head).is_none_or(|(id, _)| readable.contains(&id)));
    }
    Ok(heads)
}

/// What a note tells of, where that is something else than its item; a project that is gone takes it along.
fn source(head: &Head) -> Option<(ItemId, Option<ProjectId>)> {
    let (kind, id, project) = head.source;
    Some((ItemId { kind: kind?, id: id? }, project))
}

fn in_order(tx: &mut Tx<'_>, ids: &[NoteId]) -> Result<Vec<Note>> {
    let notes = tx.notes_by_id(ids)?;
    let mut notes: HashMap<NoteId, Note> = notes.into_iter().map(|note| (note.id, note)).collect();
    Ok(ids.iter().filter_map(|id| notes.remove(id)).collect())
}
