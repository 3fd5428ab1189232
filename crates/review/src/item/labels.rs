//! The labels of an item: from names as users write them to labels.

use std::collections::HashMap;

use db::Tx;
use kernel::{
    Result,
    ids::{LabelId, UserId},
};

use super::{ItemId, ItemStore};
use crate::{
    Home,
    label::{
        FIRST_COLOR, Label, LabelDetails, LabelStore,
        actions::usable,
        event::{Event, Fact},
    },
    ports::GroupHierarchy,
};

/// Labels to add, remove or replace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelChange {
    /// Replaces all there were; an empty list takes all away.
    pub all: Option<Vec<String>>,
    pub add: Vec<String>,
    pub remove: Vec<String>,
}

impl LabelChange {
    pub fn is_empty(&self) -> bool {
        self.all.is_none() && self.add.is_empty() && self.remove.is_empty()
    }
}

/// What became of an item's labels.
#[derive(Clone, Debug, Default)]
pub struct LabelDiff {
    pub added: Vec<Label>,
    pub removed: Vec<Label>,
}

impl LabelDiff {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

/// Whether names that no label has become labels of the project or group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownLabels {
    /// By somebody.
    Make(UserId),
    LeaveOut,
}

/// The labels that an item of a project or group has after a change, where it had `old`. Of those of one scope, as in
/// `scope::value`, it gets the one that is named last, and loses the others.
pub fn chosen(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    home: Home,
    old: &[Label],
    change: &LabelChange,
    unknown: UnknownLabels,
) -> Result<Vec<Label>> {
    let wanted = names(change.all.iter().flatten().chain(&change.add));
    let found = named(tx, places, home, &wanted, unknown)?;
    let of = |names: &[String]| -> Vec<Label> {
        let is_named = |label: &&Label| names.contains(&label.name);
        found.iter().filter(is_named).cloned().collect()
    };
    let mut all = match &change.all {
        Some(replaced) => of(&names(replaced)),
        None => old.to_vec(),
    };
    all.extend(of(&names(&change.add)));
    let gone = names(&change.remove);
    all.retain(|label| !gone.contains(&label.name));
    let latest = latest_of_scopes(&all, change);
    all.retain(|label| {
        let latest = scope(&label.name).and_then(|scope| latest.get(scope));
        latest.is_none_or(|name| *name == label.name)
    });
    all.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
    all.dedup_by_key(|label| label.id);
    Ok(all)
}

/// Which label of each scope a change names last, of those that are there.
fn latest_of_scopes<'c>(all: &[Label], change: &'c LabelChange) -> HashMap<&'c str, &'c str> {
    let asked = change.all.iter().flatten().chain(&change.add).map(|name| name.trim());
    let known = asked.filter(|name| all.iter().any(|label| label.name == *name));
    known.filter_map(|name| Some((scope(name)?, name))).collect()
}

/// The names of those of these labels that items of a project or group can have; the others are left out.
pub fn usable_names(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    home: Home,
    ids: &[LabelId],
) -> Result<Vec<String>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let within = usable(tx, places, home)?;
    let is_usable = |label: &Label| {
        label.project_id.is_some_and(|project| within.projects.contains(&project))
            || label.namespace_id.is_some_and(|group| within.groups.contains(&group))
    };
    let found = tx.labels_by_id(ids)?;
    Ok(found.into_iter().filter(is_usable).map(|label| label.name).collect())
}

/// What stands before the value of a label: `a::b` of `a::b::c`.
fn scope(name: &str) -> Option<&str> {
    let (scope, value) = name.rsplit_once("::")?;
    (!scope.is_empty() && !value.is_empty()).then_some(scope)
}

/// Gives an item these labels, where it had `old`.
pub fn keep(tx: &mut Tx<'_>, item: ItemId, old: &[Label], new: &[Label]) -> Result<LabelDiff> {
    let missing_in = |there: &[Label], all: &[Label]| -> Vec<Label> {
        all.iter().filter(|one| there.iter().all(|other| other.id != one.id)).cloned().collect()
    };
    let moved = LabelDiff { added: missing_in(old, new), removed: missing_in(new, old) };
    if !moved.is_empty() {
        tx.save_labels(item, &new.iter().map(|label| label.id).collect::<Vec<_>>())?;
    }
    Ok(moved)
}

fn names<'a>(given: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in given.into_iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if all.iter().all(|other| other != name) {
            all.push(name.to_owned());
        }
    }
    all
}

/// The labels of these names that can be used in a project or group; the own before one of a group above.
fn named(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    home: Home,
    names: &[String],
    unknown: UnknownLabels,
) -> Result<Vec<Label>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let within = usable(tx, places, home)?;
    let mut found = tx.labels_named(&within, names)?;
    let foreign = |label: &Label| match home {
        Home::Project(project) => label.project_id != Some(project),
        Home::Group(group) => label.namespace_id != Some(group),
    };
    found.sort_by_key(|label| (label.name.clone(), foreign(label), label.id));
    found.dedup_by(|later, first| later.name == first.name);
    if let UnknownLabels::Make(by) = unknown {
        for name in names.iter().filter(|name| is_possible(name)) {
            if found.iter().all(|label| label.name != **name) {
                let color = FIRST_COLOR.to_owned();
                let details = LabelDetails { name: name.clone(), color, description: None };
                let label = tx.insert_label(home, &details)?;
                tx.emit(Event::LabelCreated(Fact::new(&label, by)))?;
                found.push(label);
            }
        }
    }
    Ok(found)
}

/// A name that no label can have is no reason to refuse an item.
fn is_possible(name: &str) -> bool {
    name.chars().count() <= 255 && !name.contains([',', '\n', '\r'])
}

#[cfg(test)]
mod tests {
    use super::scope;

    #[test]
    fn a_scope_is_all_before_the_value() {
        assert_eq!(scope("priority::1"), Some("priority"));
        assert_eq!(scope("team::a::red"), Some("team::a"));
        for name in ["plain", "one:two", "::value", "scope::"] {
            assert_eq!(scope(name), None, "{name}");
        }
    }
}
