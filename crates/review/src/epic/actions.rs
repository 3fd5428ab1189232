//! Making, changing and removing epics.

use db::Tx;
use kernel::{
    AccessLevel, Error, Faults, Grant, Result, Standing, Ts,
    ids::{NamespaceId, UserId},
};

use super::{
    Epic, EpicStore as _, Event, children,
    store::{self, EpicDetails},
};
use crate::{
    Home,
    event::Change,
    issue::{IssueState, IssueStep},
    item::{
        Item, ItemKind, ItemStore as _,
        labels::{self, LabelChange, UnknownLabels},
    },
    label::Color,
    note::{sentence::title as title_sentence, write_system_note},
    policy::{DeleteGroupEpics, ManageGroupEpics, ReadGroupEpics},
    ports::{Forge, GroupHierarchy},
    todo::TodoStore as _,
};

const LONGEST_TITLE: usize = 255;
const LONGEST_DESCRIPTION: usize = 1_048_576;
const COLOR: &str = "#1068bf";
const OPEN_ISSUES: &str =
    "Cannot make the epic confidential if it contains non-confidential issues";

const OPEN_EPICS: &str =
    "Cannot make the epic confidential if it contains non-confidential child epics";
const INSIDE_OF_SECRET: &str =
    "A non-confidential epic cannot be assigned to a confidential parent epic";

/// Fields of an epic to change; `None` keeps a value, or leaves it empty in a new epic.
#[derive(Clone, Debug, Default)]
pub struct EpicChange {
    pub title: Option<String>,
    pub description: Option<Option<String>>,
    pub confidential: Option<bool>,
    pub color: Option<String>,
    pub labels: LabelChange,
    pub start_date_fixed: Option<Option<Ts>>,
    pub start_date_is_fixed: Option<bool>,
    pub due_date_fixed: Option<Option<Ts>>,
    pub due_date_is_fixed: Option<bool>,
    pub step: Option<IssueStep>,
    /// The epic that it is to be inside of.
    pub parent: Option<Option<i64>>,
    /// When that was, for owners to say.
    pub at: Option<Ts>,
}

/// An epic of the group itself.
pub fn read(tx: &mut Tx<'_>, grant: &Grant<ReadGroupEpics>, iid: i64) -> Result<Epic> {
    find(tx, grant.group(), grant.who(), iid)
}

/// The whole epic that an item names.
pub fn of_item(tx: &mut Tx<'_>, item: &Item) -> Result<Epic> {
    tx.epics_by_id(&[item.id.id])?.pop().ok_or_else(Error::missing)
}

/// The epic of that number, for somebody who may look around in its group.
pub(super) fn find(tx: &mut Tx<'_>, group: NamespaceId, who: &Standing, iid: i64) -> Result<Epic> {
    let epic = tx.find_epic(group, iid)?.ok_or_else(Error::missing)?;
    match epic.confidential && !who.is(AccessLevel::Reporter) {
        true => Err(Error::missing()),
        false => Ok(epic),
    }
}

/// Makes an epic of a group.
///
/// # Errors
/// `BadRequest` for a title or colour that is none.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    forge: &impl Forge,
    asked: EpicChange,
) -> Result<Epic> {
    let at = asked.at.filter(|_| grant.who().is(AccessLevel::Owner));
    let (parent, asked) = (asked.parent, EpicChange { at, ..asked });
    let by = grant.user()?;
    let made = make(tx, forge, grant.group(), by, asked, UnknownLabels::Make(by))?;
    match parent {
        Some(parent) => children::save_parent(tx, grant, forge, made, parent),
        None => Ok(made),
    }
}

/// As [`create`], for somebody who was found to be allowed to.
pub(super) fn make(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    group: NamespaceId,
    author: UserId,
    asked: EpicChange,
    unknown: UnknownLabels,
) -> Result<Epic> {
    let empty = EpicDetails {
        title: String::new(),
        description: None,
        state: IssueState::Opened,
        confidential: false,
        color: COLOR.to_owned(),
        start_date_fixed: None,
        start_date_is_fixed: false,
        due_date_fixed: None,
        due_date_is_fixed: false,
        closed_at: None,
        updated_at: asked.at.unwrap_or(tx.now),
    };
    let worn = asked.labels.clone();
    let details = changed(empty, asked, tx.now)?;
    let epic = store::insert(tx, group, author, &details)?;
    let chosen = labels::chosen(tx, places, Home::Group(group), &[], &worn, unknown)?;
    labels::keep(tx, epic.item(), &[], &chosen)?;
    tx.emit(Event::Opened { epic: (&epic).into(), user: author })?;
    Ok(epic)
}

/// Changes an epic of the group itself.
///
/// # Errors
/// `BadRequest` for a title or colour that is none, and for what is to be confidential with issues that are not.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    forge: &impl Forge,
    iid: i64,
    asked: EpicChange,
) -> Result<Epic> {
    let old = find(tx, grant.group(), grant.who(), iid)?;
    let at = asked.at.filter(|_| grant.who().is(AccessLevel::Owner));
    let relabelled = relabel(tx, grant.user()?, forge, &old, &asked.labels)?;
    let parent = asked.parent;
    let details = EpicDetails {
        title: old.title.clone(),
        description: old.description.clone(),
        state: old.state,
        confidential: old.confidential,
        color: old.color.clone(),
        start_date_fixed: old.start_date_fixed,
        start_date_is_fixed: old.start_date_is_fixed,
        due_date_fixed: old.due_date_fixed,
        due_date_is_fixed: old.due_date_is_fixed,
        closed_at: old.closed_at,
        updated_at: at.unwrap_or(tx.now),
    };
    let details = changed(details, asked, tx.now)?;
    ensure_kept_secret(tx, &old, details.confidential, parent)?;
    let new = store::keep(tx, old.id, &details)?;
    add_system_notes(tx, &old, &new, grant.user()?, relabelled)?;
    match parent {
        Some(parent) => children::save_parent(tx, grant, forge, new, parent),
        None => Ok(new),
    }
}

/// # Errors
/// `BadRequest` for what is to be confidential and holds what is not, and for what is to be no longer confidential inside of
/// what is.
fn ensure_kept_secret(
    tx: &mut Tx<'_>,
    old: &Epic,
    confidential: bool,
    parent: Option<Option<i64>>,
) -> Result<()> {
    if confidential && !old.confidential {
        if store::has_open_issues(tx, old.id)? {
            return Err(Error::invalid("confidential", OPEN_ISSUES));
        }
        if tx.epics_inside(&[old.id])?.iter().any(|child| !child.confidential) {
            return Err(Error::invalid("confidential", OPEN_EPICS));
        }
    }
    if !confidential && old.confidential && parent.is_none() {
        let above = old.parent_id.map(|id| tx.epics_by_id(&[id])).transpose()?;
        if above.into_iter().flatten().any(|above| above.confidential) {
            return Err(Error::invalid("confidential", INSIDE_OF_SECRET));
        }
    }
    Ok(())
}

/// Tells of what changed, among the notes of the epic and to those who hear of it.
fn add_system_notes(
    tx: &mut Tx<'_>,
    old: &Epic,
    new: &Epic,
    user: UserId,
    relabelled: Option<Change>,
) -> Result<()> {
    let text = |text: &str| Some(text.to_owned());
    let fields = [
        ("title", text(&old.title), text(&new.title)),
        ("description", old.description.clone(), new.description.clone()),
        ("confidential", text(yes_or_no(old.confidential)), text(yes_or_no(new.confidential))),
        ("color", text(&old.color), text(&new.color)),
    ];
    let fields = fields.into_iter().filter(|(_, before, after)| before != after);
    let changed = fields.map(|(field, before, after)| Change { field, before, after });
    let changes: Vec<Change> = changed.chain(relabelled).collect();
    let item = new.whole();
    for change in &changes {
        if let Some(sentence) = sentence(change) {
            write_system_note(tx, &item, user, &sentence)?;
        }
    }
    if !changes.is_empty() {
        tx.emit(Event::Updated { epic: new.into(), user, changes })?;
    }
    match (old.state, new.state) {
        (IssueState::Opened, IssueState::Closed) => {
            write_system_note(tx, &item, user, "closed")?;
            tx.finish_todos(item.id, user)?;
            tx.emit(Event::Closed { epic: new.into(), user })
        }
        (IssueState::Closed, IssueState::Opened) => {
            write_system_note(tx, &item, user, "reopened")?;
            tx.emit(Event::Reopened { epic: new.into(), user })
        }
        _ => Ok(()),
    }
}

fn sentence(change: &Change) -> Option<String> {
    let word = |text: &Option<String>| text.clone().unwrap_or_default();
    Some(match change.field {
        "title" => title_sentence(&word(&change.before), &word(&change.after)),
        "description" => "changed the description".to_owned(),
        "confidential" if change.after.as_deref() == Some("true") => {
            "made the epic confidential".to_owned()
        }
        "confidential" => "made the epic visible to everyone".to_owned(),
        _ => return None,
    })
}

fn yes_or_no(flag: bool) -> &'static str {
    if flag { "true" } else { "false" }
}

fn relabel(
    tx: &mut Tx<'_>,
    by: UserId,
    places: &impl GroupHierarchy,
    epic: &Epic,
    asked: &LabelChange,
) -> Result<Option<Change>> {
    if asked.is_empty() {
        return Ok(None);
    }
    let old = tx.labels_of(ItemKind::Epic, &[epic.id])?.remove(&epic.id).unwrap_or_default();
    let home = Home::Group(epic.namespace_id);
    let new = labels::chosen(tx, places, home, &old, asked, UnknownLabels::Make(by))?;
    let moved = labels::keep(tx, epic.item(), &old, &new)?;
    let ids = |labels: &[crate::label::Label]| {
        Some(labels.iter().map(|label| label.id.to_string()).collect::<Vec<_>>().join(","))
    };
    let change = Change { field: "labels", before: ids(&old), after: ids(&new) };
    Ok((!moved.is_empty()).then_some(change))
}

/// Removes an epic with those inside of it, where it did not change since a moment; their issues stay.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<DeleteGroupEpics>,
    iid: i64,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let epic = find(tx, grant.group(), grant.who(), iid)?;
    epic.updated_at.ensure_unchanged_since(unless_newer)?;
    let user = grant.user()?;
    let mut all = children::descendants(tx, &epic)?;
    all.push(epic);
    for epic in all {
        if !store::delete(tx, &epic)? {
            return Err(Error::missing());
        }
        tx.emit(Event::Removed { epic: (&epic).into(), user })?;
    }
    Ok(())
}

fn changed(details: EpicDetails, asked: EpicChange, now: Ts) -> Result<EpicDetails> {
    let state = asked.step.map_or(details.state, |step| details.state.after(step));
    let description = asked.description.unwrap_or(details.description);
    let mut faults = Faults::default();
    let title = asked.title.map_or(details.title, |title| title.trim().to_owned());
    if title.is_empty() {
        faults.add("title", "can't be blank");
    }
    faults.at_most("title", Some(&title), LONGEST_TITLE);
    faults.at_most("description", description.as_deref(), LONGEST_DESCRIPTION);
    faults.into_result()?;
    let color = match asked.color {
        Some(color) => Color::parse(&color)?.as_str().to_owned(),
        None => details.color,
    };
    Ok(EpicDetails {
        title,
        description: description.filter(|text| !text.is_empty()),
        state,
        confidential: asked.confidential.unwrap_or(details.confidential),
        color,
        start_date_fixed: asked.start_date_fixed.unwrap_or(details.start_date_fixed),
        start_date_is_fixed: asked.start_date_is_fixed.unwrap_or(details.start_date_is_fixed),
        due_date_fixed: asked.due_date_fixed.unwrap_or(details.due_date_fixed),
        due_date_is_fixed: asked.due_date_is_fixed.unwrap_or(details.due_date_is_fixed),
        closed_at: match state {
            IssueState::Closed => details.closed_at.or(Some(now)),
            IssueState::Opened => None,
        },
        updated_at: details.updated_at,
    })
}
