//! Making, changing and removing epics.

use db::Tx;
use kernel::{
    AccessLevel, Error, Faults, Grant, Result, Standing, Ts,
    ids::{NamespaceId, UserId},
};

use super::{
    Epic, EpicStore as _,
    store::{self, EpicDetails},
};
use crate::{
    Home,
    issue::{IssueState, IssueStep},
    item::{
        ItemKind, ItemStore as _,
        labels::{self, LabelChange, Unknown},
    },
    label::Color,
    policy::{DeleteGroupEpics, ManageGroupEpics, ReadGroupEpics},
    ports::Places,
};

const LONGEST_TITLE: usize = 255;
const LONGEST_DESCRIPTION: usize = 1_048_576;
const COLOR: &str = "#1068bf";
const OPEN_ISSUES: &str =
    "Cannot make the epic confidential if it contains non-confidential issues";

/// What an epic is given; what is `None` stays, and of a new one is empty.
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
    /// When that was, for owners to say.
    pub at: Option<Ts>,
}

/// An epic of the group itself.
pub fn read(tx: &mut Tx<'_>, grant: &Grant<ReadGroupEpics>, iid: i64) -> Result<Epic> {
    find(tx, grant.group(), grant.who(), iid)
}

/// The epic of that number, for somebody who may look around in its group.
pub(super) fn find(tx: &mut Tx<'_>, group: NamespaceId, who: &Standing, iid: i64) -> Result<Epic> {
    let epic = tx.find_epic(group, iid)?.ok_or(Error::Missing)?;
    match epic.confidential && !who.is(AccessLevel::Reporter) {
        true => Err(Error::Missing),
        false => Ok(epic),
    }
}

/// Makes an epic of a group.
///
/// # Errors
/// `Invalid` for a title or colour that is none.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    places: &impl Places,
    asked: EpicChange,
) -> Result<Epic> {
    let at = asked.at.filter(|_| grant.who().is(AccessLevel::Owner));
    let asked = EpicChange { at, ..asked };
    make(tx, places, grant.group(), grant.user()?, asked, Unknown::Make)
}

/// As [`create`], for somebody who was found to be allowed to.
pub(super) fn make(
    tx: &mut Tx<'_>,
    places: &impl Places,
    group: NamespaceId,
    author: UserId,
    asked: EpicChange,
    unknown: Unknown,
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
    Ok(epic)
}

/// Changes an epic of the group itself.
///
/// # Errors
/// `Invalid` for a title or colour that is none, and for what is to be confidential with issues that are not.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<ManageGroupEpics>,
    places: &impl Places,
    iid: i64,
    asked: EpicChange,
) -> Result<Epic> {
    let old = find(tx, grant.group(), grant.who(), iid)?;
    let at = asked.at.filter(|_| grant.who().is(AccessLevel::Owner));
    relabel(tx, places, &old, &asked.labels)?;
    let details = EpicDetails {
        title: old.title,
        description: old.description,
        state: old.state,
        confidential: old.confidential,
        color: old.color,
        start_date_fixed: old.start_date_fixed,
        start_date_is_fixed: old.start_date_is_fixed,
        due_date_fixed: old.due_date_fixed,
        due_date_is_fixed: old.due_date_is_fixed,
        closed_at: old.closed_at,
        updated_at: at.unwrap_or(tx.now),
    };
    let details = changed(details, asked, tx.now)?;
    if details.confidential && !old.confidential && store::has_open_issues(tx, old.id)? {
        return Err(Error::invalid("confidential", OPEN_ISSUES));
    }
    store::keep(tx, old.id, &details)
}

fn relabel(tx: &mut Tx<'_>, places: &impl Places, epic: &Epic, asked: &LabelChange) -> Result<()> {
    if asked.is_empty() {
        return Ok(());
    }
    let old = tx.labels_of(ItemKind::Epic, &[epic.id])?.remove(&epic.id).unwrap_or_default();
    let home = Home::Group(epic.namespace_id);
    let new = labels::chosen(tx, places, home, &old, asked, Unknown::Make)?;
    labels::keep(tx, epic.item(), &old, &new)?;
    Ok(())
}

/// Removes an epic, where it did not change since a moment; its issues stay.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<DeleteGroupEpics>,
    iid: i64,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let epic = find(tx, grant.group(), grant.who(), iid)?;
    epic.updated_at.ensure_unchanged_since(unless_newer)?;
    store::delete(tx, &epic)
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
