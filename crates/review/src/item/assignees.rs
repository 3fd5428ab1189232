//! The assignees of an item.

use db::Tx;
use kernel::{Result, ids::UserId};

use super::{Item, ItemStore, is_readable_by};
use crate::{
    note::{sentence, write_system_note},
    ports::People,
};

/// So many people are looked at; nobody works with more on one thing.
const MOST: usize = 200;

/// Added and removed assignees of an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssigneeDiff {
    pub added: Vec<UserId>,
    pub removed: Vec<UserId>,
}

impl AssigneeDiff {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }

    /// From one list of people to another.
    pub fn between(old: &[UserId], new: &[UserId]) -> Self {
        let without = |all: &[UserId], others: &[UserId]| -> Vec<UserId> {
            all.iter().filter(|one| !others.contains(one)).copied().collect()
        };
        Self { added: without(new, old), removed: without(old, new) }
    }
}

/// Who of these can be given an item, or asked to review it, in their order: nobody where none are named, or only the
/// number 0. Who cannot read it is left out; `None` where nobody is left, and all stays as it is.
pub fn chosen(
    tx: &mut Tx<'_>,
    people: &impl People,
    item: &Item,
    asked: &[UserId],
) -> Result<Option<Vec<UserId>>> {
    if asked.is_empty() || asked == [UserId(0)] {
        return Ok(Some(Vec::new()));
    }
    let mut wanted: Vec<UserId> = Vec::new();
    for user in asked {
        if !wanted.contains(user) && wanted.len() < MOST {
            wanted.push(*user);
        }
    }
    let mut able = Vec::new();
    let Some(project) = item.project() else { return Ok(None) };
    for who in people.standings(tx, project, &wanted)? {
        if is_readable_by(tx, &who, item)? {
            able.extend(who.actor.id);
        }
    }
    wanted.retain(|user| able.contains(user));
    Ok((!wanted.is_empty()).then_some(wanted))
}

/// Gives an item to these people, where it was given to `old`.
pub fn keep(tx: &mut Tx<'_>, item: &Item, old: &[UserId], new: &[UserId]) -> Result<AssigneeDiff> {
    let moved = AssigneeDiff::between(old, new);
    if !moved.is_empty() {
        tx.save_assignees(item.id, new)?;
    }
    Ok(moved)
}

/// Tells among an item's notes whom it was given to.
pub fn tell(
    tx: &mut Tx<'_>,
    people: &impl People,
    item: &Item,
    by: UserId,
    moved: &AssigneeDiff,
) -> Result<()> {
    let all: Vec<UserId> = moved.added.iter().chain(&moved.removed).copied().collect();
    let names = people.names(tx, &all)?;
    let list = |people: &[UserId]| -> Vec<String> {
        people.iter().filter_map(|id| names.get(id)).map(|name| format!("@{name}")).collect()
    };
    let text = sentence::assignees(&list(&moved.added), &list(&moved.removed));
    match text.is_empty() {
        true => Ok(()),
        false => write_system_note(tx, item, by, &text),
    }
}
