//! Epics inside of epics.

use db::Tx;
use kernel::{
    AccessLevel, Actor, Error, Grant, Result,
    ids::{NamespaceId, UserId},
};

use super::{
    Epic, EpicStore as _,
    actions::{self, EpicChange, find},
    event::Event,
    order, readable, store,
};
use crate::{
    Home,
    event::Change,
    item::labels::UnknownLabels,
    note::write_system_note_about,
    policy::{ManageGroupEpics, ReadGroupEpics},
    ports::{Forge, GroupHierarchy},
};

/// So many epics, one inside of the other, and so many beside each other.
const DEEPEST: usize = 7;
const MOST: usize = 100;
const NO_MATCH: &str = "No matching epic found. Make sure that you are adding a valid epic URL.";
const ASSIGNED: &str = "Epic(s) already assigned";

/// The epics inside of one that somebody may read, as people ordered them.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadGroupEpics>,
    places: &impl GroupHierarchy,
    iid: i64,
) -> Result<Vec<Epic>> {
    let epic = find(tx, grant.group(), grant.who(), iid)?;
    seen_inside(tx, places, grant.actor(), &epic)
}

fn seen_inside(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    actor: Actor,
    epic: &Epic,
) -> Result<Vec<Epic>> {
    let inside = tx.epics_inside(&[epic.id])?;
    let ids: Vec<i64> = inside.iter().map(|epic| epic.id).collect();
    let seen = readable(tx, places, actor, &ids)?;
    let is_seen = |epic: &Epic| seen.iter().any(|other| other.id == epic.id);
    Ok(inside.into_iter().filter(is_seen).collect())
}

/// Puts an epic inside of another one, out of that in which it was.
///
/// # Errors
/// `NotFound` for an epic that is not of this group or one below it, or not for the caller; `Conflict` where it is
/// inside already; `Unprocessable` with the reason where it cannot be.
pub fn assign(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    forge: &impl Forge,
    iid: i64,
    child: i64,
) -> Result<Epic> {
    let parent = find(tx, grant.group(), grant.who(), iid)?;
    let found = readable(tx, forge, grant.actor(), &[child])?.pop();
    let child = found.ok_or_else(|| Error::missing().whole(NO_MATCH))?;
    if !is_below(tx, forge, child.namespace_id, parent.namespace_id)? {
        return Err(Error::missing().whole(NO_MATCH));
    }
    ensure_reports(tx, forge, grant.actor(), child.namespace_id)?;
    if child.parent_id == Some(parent.id) {
        return Err(Error::conflict().whole(ASSIGNED));
    }
    if let Some(reason) = refusal(tx, &parent, &child)? {
        return Err(Error::unprocessable().whole(reason));
    }
    put(tx, forge, grant.user()?, &parent, &child)
}

/// Makes an epic inside of another one, in the same group.
///
/// # Errors
/// `BadRequest` for a title that is none, and with the reason where it cannot be inside.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    forge: &impl Forge,
    iid: i64,
    new: EpicChange,
) -> Result<Epic> {
    let parent = find(tx, grant.group(), grant.who(), iid)?;
    let by = grant.user()?;
    let made = actions::make(tx, forge, grant.group(), by, new, UnknownLabels::Make(by))?;
    if let Some(reason) = refusal(tx, &parent, &made)? {
        return Err(Error::invalid("parent", reason));
    }
    put(tx, forge, by, &parent, &made)
}

/// Puts an epic elsewhere among those inside of the same one: after the first, before the second.
///
/// # Errors
/// `NotFound` for what is not inside.
pub fn reorder(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    places: &impl GroupHierarchy,
    iid: i64,
    child: i64,
    (first, second): (Option<i64>, Option<i64>),
) -> Result<Vec<Epic>> {
    let (parent, child) = inside(tx, grant, places, iid, child)?;
    match order::place_inside(tx, parent.id, child.id, first, second)? {
        true => seen_inside(tx, places, grant.actor(), &parent),
        false => Err(Error::missing()),
    }
}

/// Takes an epic out of the one that it is inside of.
///
/// # Errors
/// `NotFound` for what is not inside.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    forge: &impl Forge,
    iid: i64,
    child: i64,
) -> Result<Epic> {
    let (_, child) = inside(tx, grant, forge, iid, child)?;
    take_out(tx, forge, grant.user()?, &child)
}

fn take_out(tx: &mut Tx<'_>, forge: &impl Forge, by: UserId, child: &Epic) -> Result<Epic> {
    leave(tx, forge, by, child)?;
    let kept = store::save_parent(tx, child.id, None)?;
    announce(tx, by, child, &kept)?;
    Ok(kept)
}

fn inside(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    places: &impl GroupHierarchy,
    iid: i64,
    child: i64,
) -> Result<(Epic, Epic)> {
    let parent = find(tx, grant.group(), grant.who(), iid)?;
    let found = readable(tx, places, grant.actor(), &[child])?.pop();
    let child =
        found.filter(|child| child.parent_id == Some(parent.id)).ok_or_else(Error::missing)?;
    ensure_reports(tx, places, grant.actor(), child.namespace_id)?;
    Ok((parent, child))
}

/// Puts an epic inside of the one with that id, or out of any, where that is asked for among other changes.
///
/// # Errors
/// `NotFound` for an epic that is not of the same group or one above it, or not for the caller; `BadRequest` with the
/// reason where it cannot be.
pub(super) fn save_parent(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    forge: &impl Forge,
    child: Epic,
    parent: Option<i64>,
) -> Result<Epic> {
    let (by, actor) = (grant.user()?, grant.actor());
    // What somebody may not read stays as it is.
    let named = parent.or(child.parent_id);
    let seen = readable(tx, forge, actor, named.as_slice())?.pop();
    let Some(parent) = parent else {
        if seen.is_none() {
            return Ok(child);
        }
        return take_out(tx, forge, by, &child);
    };
    let parent = seen.filter(|epic| epic.id == parent).ok_or_else(Error::missing)?;
    if child.parent_id == Some(parent.id) {
        return Ok(child);
    }
    if !is_below(tx, forge, child.namespace_id, parent.namespace_id)? {
        return Err(Error::missing());
    }
    ensure_reports(tx, forge, actor, parent.namespace_id)?;
    match refusal(tx, &parent, &child)? {
        Some(reason) => Err(Error::invalid("parent", reason)),
        None => put(tx, forge, by, &parent, &child),
    }
}

/// What speaks against an epic inside of another one.
fn refusal(tx: &mut Tx<'_>, parent: &Epic, child: &Epic) -> Result<Option<String>> {
    let because = |reason: &str| Ok(Some(format!("This epic cannot be added. {reason}")));
    if parent.id == child.id {
        return because("An epic cannot be added to itself.");
    }
    let above = ancestors(tx, parent)?;
    if above.contains(&child.id) {
        return because("It is already an ancestor of the parent epic.");
    }
    if above.len() + 1 + height(tx, child)? > DEEPEST {
        return because(&format!(
            "One or more epics would exceed the maximum depth ({DEEPEST}) from its most distant ancestor."
        ));
    }
    if tx.epics_inside(&[parent.id])?.len() >= MOST {
        return because(&format!(
            "You cannot add any more epics. This epic already has maximum number of child epics ({MOST})."
        ));
    }
    if parent.confidential && !child.confidential {
        let text = "Cannot assign a non-confidential epic to a confidential parent epic. Make the epic confidential and try again.";
        return Ok(Some(text.to_owned()));
    }
    Ok(None)
}

/// The epics that one is inside of, the nearest first.
fn ancestors(tx: &mut Tx<'_>, epic: &Epic) -> Result<Vec<i64>> {
    let (mut above, mut next) = (Vec::new(), epic.parent_id);
    while let Some(id) = next.filter(|_| above.len() < DEEPEST) {
        above.push(id);
        next = tx.epics_by_id(&[id])?.pop().and_then(|epic| epic.parent_id);
    }
    Ok(above)
}

/// How many epics are one inside of the other from this one on.
fn height(tx: &mut Tx<'_>, epic: &Epic) -> Result<usize> {
    let (mut height, mut level) = (0, vec![epic.id]);
    while !level.is_empty() && height <= DEEPEST {
        height += 1;
        level = tx.epics_inside(&level)?.into_iter().map(|epic| epic.id).collect();
    }
    Ok(height)
}

/// Takes epics of a group out of others where they would lie too deep, or inside of themselves, which an archive may say.
pub(crate) fn bound_depth(tx: &mut Tx<'_>, group: NamespaceId) -> Result<()> {
    let mut above = store::parents_in(tx, group)?;
    for _ in 1..DEEPEST {
        let mut ancestors: Vec<i64> = above.iter().map(|(_, ancestor)| *ancestor).collect();
        ancestors.sort_unstable();
        ancestors.dedup();
        let parents = store::parents_of(tx, &ancestors)?;
        let next = |(id, ancestor): (i64, i64)| Some((id, *parents.get(&ancestor)?));
        above = above.into_iter().filter_map(next).collect();
    }
    let deepest: Vec<i64> = above.into_iter().map(|(id, _)| id).collect();
    store::forget_parents(tx, &deepest)
}

/// Every epic inside of one, and inside of these, the innermost first.
pub(super) fn descendants(tx: &mut Tx<'_>, epic: &Epic) -> Result<Vec<Epic>> {
    let (mut all, mut level) = (Vec::new(), vec![epic.id]);
    for _ in 0..DEEPEST {
        let inside = tx.epics_inside(&level)?;
        level = inside.iter().map(|epic| epic.id).collect();
        all.splice(0..0, inside);
    }
    Ok(all)
}

fn put(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    by: UserId,
    parent: &Epic,
    child: &Epic,
) -> Result<Epic> {
    leave(tx, forge, by, child)?;
    let first = order::first_place_inside(tx, parent.id)?;
    let kept = store::save_parent(tx, child.id, Some((parent.id, first)))?;
    add_system_notes(
        tx,
        forge,
        by,
        (parent, &kept),
        ["added epic {} as child epic", "added epic {} as parent epic"],
    )?;
    announce(tx, by, child, &kept)?;
    Ok(kept)
}

fn announce(tx: &mut Tx<'_>, user: UserId, before: &Epic, after: &Epic) -> Result<()> {
    let change = Change {
        field: "parent",
        before: before.parent_id.map(|id| id.to_string()),
        after: after.parent_id.map(|id| id.to_string()),
    };
    tx.emit(Event::Updated { epic: after.into(), user, changes: vec![change] })
}

/// Tells that an epic is no longer where it was.
fn leave(tx: &mut Tx<'_>, forge: &impl Forge, by: UserId, child: &Epic) -> Result<()> {
    let Some(id) = child.parent_id else { return Ok(()) };
    let Some(old) = tx.epics_by_id(&[id])?.pop() else { return Ok(()) };
    add_system_notes(
        tx,
        forge,
        by,
        (&old, child),
        ["removed child epic {}", "removed parent epic {}"],
    )
}

/// Writes a system note on both epics, visible only to readers of the other.
fn add_system_notes(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    by: UserId,
    (parent, child): (&Epic, &Epic),
    [above, below]: [&str; 2],
) -> Result<()> {
    let paths = match parent.namespace_id == child.namespace_id {
        true => std::collections::HashMap::new(),
        false => forge.group_paths(tx, &[parent.namespace_id, child.namespace_id])?,
    };
    let named = |epic: &Epic| {
        let path = paths.get(&epic.namespace_id).map_or("", String::as_str);
        format!("{path}&{}", epic.iid)
    };
    let (to_parent, to_child) =
        (above.replace("{}", &named(child)), below.replace("{}", &named(parent)));
    write_system_note_about(tx, &parent.whole(), by, &to_parent, &child.whole())?;
    write_system_note_about(tx, &child.whole(), by, &to_child, &parent.whole())
}

/// Whether a group is another one, or inside of it.
fn is_below(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    group: NamespaceId,
    of: NamespaceId,
) -> Result<bool> {
    Ok(group == of || places.above(tx, Home::Group(group))?.contains(&of))
}

fn ensure_reports(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    actor: Actor,
    group: NamespaceId,
) -> Result<()> {
    let reports = actor.admin || places.level_in(tx, actor, group)? >= AccessLevel::Reporter;
    if reports { Ok(()) } else { Err(Error::forbidden()) }
}
