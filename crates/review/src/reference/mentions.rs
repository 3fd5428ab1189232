//! The effects of mentions: to-dos, participants and cross-reference notes.

use std::collections::{HashMap, HashSet};

use db::Tx;
use kernel::{
    AccessLevel, Actor, Result, Standing,
    ids::{NoteId, ProjectId, UserId},
};

use super::{
    parse::{ItemName, References, parse},
    store::{MentionStore as _, ParticipantStore as _},
};
use crate::{
    Home,
    item::{Item, ItemId, ItemKind, ItemStore as _, is_readable_by, reading},
    note::{NewRow, Note, NoteStore as _, fresh_discussion, sentence},
    ports::Forge,
    todo::{TodoAction, TodoStore as _},
};

/// The name of all members of a project.
const EVERYBODY: &str = "all";
/// So many members of one group are asked.
const MOST_ASKED: i64 = 1000;

/// The object whose text is read.
struct TextOrigin<'t> {
    item: &'t Item,
    note: Option<NoteId>,
    /// Not for everybody who may read the item.
    internal: bool,
}

/// To be told whenever the text of an item is made or changed: who is newly mentioned, and may read the item, is
/// asked to look at it, and other items that are newly named are told of this one.
pub fn text_changed(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    item: &Item,
    author: UserId,
    old: Option<&str>,
    new: Option<&str>,
) -> Result<()> {
    changed(tx, forge, &TextOrigin { item, note: None, internal: false }, author, old, new)
}

/// Whether a text names people or items.
pub fn names_anything(forge: &impl Forge, text: Option<&str>) -> bool {
    let found = parse(text.unwrap_or_default(), forge.address());
    !found.people.is_empty() || !found.items.is_empty()
}

/// As [`text_changed`], for a note.
pub fn note_changed(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    item: &Item,
    note: &Note,
    old: Option<&str>,
) -> Result<()> {
    let place = TextOrigin { item, note: Some(note.id), internal: note.internal };
    changed(tx, forge, &place, note.author_id, old, Some(&note.body))
}

/// A note is gone, with what it named.
pub fn forget_note(tx: &mut Tx<'_>, item: &Item, id: NoteId) -> Result<()> {
    tx.save_mentions(item.id, Some(id), &[])
}

fn changed(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    place: &TextOrigin<'_>,
    author: UserId,
    old: Option<&str>,
    new: Option<&str>,
) -> Result<()> {
    let read = |text: Option<&str>| parse(text.unwrap_or_default(), forge.address());
    let (before, after) = (read(old), read(new));
    let is_new = |name: &&String| !before.people.contains(name);
    let named: Vec<String> = after.people.iter().filter(is_new).cloned().collect();
    mention(tx, forge, place, author, &named, &after)?;
    if before.items != after.items {
        name_items(tx, forge, place, author, &before.items, &after.items)?;
    }
    Ok(())
}

/// Asks those who are mentioned to look, if they may.
fn mention(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    place: &TextOrigin<'_>,
    author: UserId,
    named: &[String],
    after: &References,
) -> Result<()> {
    if named.is_empty() {
        return Ok(());
    }
    let found = named_people(tx, forge, place.item.home, author, named)?;
    let ids: Vec<UserId> = found.iter().map(|(_, user)| *user).collect();
    let standings: HashMap<Option<UserId>, Standing> = forge
        .standings_at(tx, place.item.home, &ids)?
        .into_iter()
        .map(|who| (who.actor.id, who))
        .collect();
    for (name, user) in &found {
        let Some(who) = standings.get(&Some(*user)) else { continue };
        if !is_readable_by(tx, who, place.item)?
            || (place.internal && !who.is(AccessLevel::Reporter))
        {
            continue;
        }
        if !place.internal {
            tx.record_participant(place.item, *user)?;
        }
        if *user != author {
            let action = match after.addressed.contains(name) {
                true => TodoAction::DirectlyAddressed,
                false => TodoAction::Mentioned,
            };
            tx.raise_todo(place.item, *user, author, action, place.note)?;
        }
    }
    Ok(())
}

/// The people of these names, each once: themselves, as members of a group that the author knows of, or of the project
/// by the name of `all`.
fn named_people(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    home: Home,
    author: UserId,
    named: &[String],
) -> Result<Vec<(String, UserId)>> {
    let people = forge.named(tx, named)?;
    let mut all: Vec<(String, UserId)> =
        named.iter().filter_map(|name| Some((name.clone(), *people.get(name)?))).collect();
    let others: Vec<String> =
        named.iter().filter(|name| !people.contains_key(*name)).cloned().collect();
    if others.is_empty() {
        return Ok(all);
    }
    let Some(actor) = forge.actor(tx, author)? else { return Ok(all) };
    let mut groups = forge.group_members(tx, actor, &others, MOST_ASKED)?;
    if let (Home::Project(project), true) = (home, others.iter().any(|name| name == EVERYBODY)) {
        let members = forge.project_members(tx, project, MOST_ASKED)?;
        groups.insert(EVERYBODY.to_owned(), members);
    }
    let mut known: HashSet<UserId> = all.iter().map(|(_, user)| *user).collect();
    for name in others {
        let members = groups.remove(&name).unwrap_or_default();
        all.extend(
            members.into_iter().filter(|user| known.insert(*user)).map(|user| (name.clone(), user)),
        );
    }
    Ok(all)
}

/// Keeps which items a text names, and tells those that are named for the first time.
fn name_items(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    place: &TextOrigin<'_>,
    author: UserId,
    before: &[ItemName],
    after: &[ItemName],
) -> Result<()> {
    let found = find_items(tx, forge, place.item, author, after)?;
    let targets: Vec<(ItemId, Option<ProjectId>)> =
        found.iter().map(|(_, item)| (item.id, item.project())).collect();
    tx.save_mentions(place.item.id, place.note, &targets)?;
    // Nobody outside is to hear that something internal was said.
    if place.internal {
        return Ok(());
    }
    for (name, target) in &found {
        if !before.contains(name) {
            tell(tx, forge, place.item, target, author)?;
        }
    }
    Ok(())
}

/// The items of these names that the author may read, the item of the text not among them.
pub(crate) fn find_items(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    here: &Item,
    author: UserId,
    names: &[ItemName],
) -> Result<Vec<(ItemName, Item)>> {
    let Some(actor) = forge.actor(tx, author)? else { return Ok(Vec::new()) };
    let mut found = readable_items(tx, forge, Some(here.home), actor, names)?;
    found.retain(|(_, item)| item.id != here.id);
    Ok(found)
}

/// The items of these names that somebody may read, as a text of a project or group, or of nowhere, names them.
pub fn readable_items(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    here: Option<Home>,
    actor: Actor,
    names: &[ItemName],
) -> Result<Vec<(ItemName, Item)>> {
    let mut found = Vec::new();
    // Most names of a text speak of the same place.
    let mut homes = HashMap::new();
    for name in names {
        let place = (name.project.as_deref(), name.kind == ItemKind::Epic);
        let home = match homes.get(&place) {
            Some(home) => *home,
            None => {
                let home = home_of(tx, forge, (here, actor), name)?;
                homes.insert(place, home);
                home
            }
        };
        let Some(home) = home else { continue };
        found.extend(tx.find_item(home, name.kind, name.iid)?.map(|item| (name.clone(), item)));
    }
    let ids: Vec<_> = found.iter().map(|(_, item)| (item.id, item.project())).collect();
    let readable = reading::readable_anywhere(tx, forge, actor, &ids)?;
    found.retain(|(_, item)| readable.contains(&item.id));
    Ok(found)
}

/// The project or group that a name speaks of, in a text that somebody reads or wrote.
fn home_of(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    (here, actor): (Option<Home>, Actor),
    name: &ItemName,
) -> Result<Option<Home>> {
    let of_epic = name.kind == ItemKind::Epic;
    let Some(path) = &name.project else {
        return match here {
            Some(home @ Home::Project(_)) if of_epic => {
                Ok(forge.above(tx, home)?.first().copied().map(Home::Group))
            }
            home => Ok(home),
        };
    };
    if of_epic {
        return Ok(forge.group_at(tx, actor, path)?.map(Home::Group));
    }
    if path.contains('/') {
        return Ok(forge.project_at(tx, path)?.map(Home::Project));
    }
    let around = match here {
        None => None,
        Some(Home::Group(group)) => forge.group_paths(tx, &[group])?.remove(&group),
        Some(Home::Project(project)) => {
            let own = forge.paths(tx, &[project])?.remove(&project).unwrap_or_default();
            own.rsplit_once('/').map(|(around, _)| around.to_owned())
        }
    };
    let Some(around) = around else { return Ok(None) };
    Ok(forge.project_at(tx, &format!("{around}/{path}"))?.map(Home::Project))
}

/// Tells an item, once, that another one names it; only those are shown this who may read that one.
fn tell(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    source: &Item,
    target: &Item,
    author: UserId,
) -> Result<()> {
    if tx.has_note_of_source(target.id, source.id)? {
        return Ok(());
    }
    let body = sentence::mention(source.id.kind, &name_from(tx, forge, source, target.home)?);
    let row = NewRow {
        discussion: &fresh_discussion(),
        note_type: None,
        body: &body,
        author,
        is_system: true,
        internal: false,
        position: None,
        commit_id: None,
        resolved_by: None,
        source: Some((source.id, source.project())),
        at: tx.now,
    };
    tx.insert_note(target, &row)?;
    Ok(())
}

/// How an item is called in a project or group: `#1`, or `group/project#1` elsewhere.
pub(crate) fn name_from(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    item: &Item,
    from: Home,
) -> Result<String> {
    let sign = item.id.kind.sign();
    let path = match item.home {
        home if home == from => None,
        Home::Project(project) => forge.paths(tx, &[project])?.remove(&project),
        Home::Group(group) => forge.group_paths(tx, &[group])?.remove(&group),
    };
    Ok(format!("{}{sign}{}", path.unwrap_or_default(), item.iid))
}
