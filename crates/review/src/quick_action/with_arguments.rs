//! Quick actions whose argument names people, labels, milestones or another item.

use db::Tx;
use kernel::{Result, ids::UserId, page::PageRequest};
use serde_json::json;

use super::{
    apply::{ActionContext, Row, find},
    table::Effect,
};
use crate::{
    item::{ItemStore as _, labels::LabelChange},
    label::{LabelName, LabelStore as _, actions::usable},
    milestone::{MilestoneFilter, MilestoneStore as _},
    ports::{Branches, Forge},
    reference::parse,
};

impl<F: Forge + Branches> ActionContext<'_, F> {
    /// The people that an argument names, the author as `me`.
    pub(super) fn people(&self, tx: &mut Tx<'_>, argument: &str) -> Result<Vec<UserId>> {
        let words = argument.split([' ', ',']).map(str::trim).filter(|word| !word.is_empty());
        let (mut names, mut found) = (Vec::new(), Vec::new());
        for word in words.take(100) {
            match word {
                "me" | "@me" => found.push(self.user),
                word => names.push(word.trim_start_matches('@').to_lowercase()),
            }
        }
        let known = self.forge.named(tx, &names)?;
        found.extend(names.iter().filter_map(|name| known.get(name).copied()));
        Ok(found)
    }

    pub(super) fn assign(&mut self, tx: &mut Tx<'_>, effect: Effect, argument: &str) -> Result<()> {
        let named = self.people(tx, argument)?;
        let mut all = match self.wanted.assignees.take() {
            Some(all) => all,
            None => {
                let id = self.item.id;
                tx.assignees_of(id.kind, &[id.id])?.remove(&id.id).unwrap_or_default()
            }
        };
        if moved(&mut all, effect == Effect::Assign, effect == Effect::Reassign, argument, &named) {
            let ids: Vec<i64> = all.iter().map(|user| user.0).collect();
            let word = if effect == Effect::Unassign { "Removed" } else { "Assigned" };
            let summary = format!("{word} {argument}.").replace(" .", " assignees.");
            self.changed("assignee_ids", json!(ids), summary);
        }
        self.wanted.assignees = Some(all);
        Ok(())
    }

    pub(super) fn review(&mut self, tx: &mut Tx<'_>, effect: Effect, argument: &str) -> Result<()> {
        let Row::MergeRequest(row) = &self.row else { return Ok(()) };
        let id = row.id;
        let named = self.people(tx, argument)?;
        let mut all = match self.wanted.reviewers.take() {
            Some(all) => all,
            None => {
                let known = crate::merge_request::ReviewerStore::reviewers_of(tx, &[id])?;
                let known = known.into_values().flatten();
                known.map(|reviewer| reviewer.user_id).collect()
            }
        };
        if moved(&mut all, effect == Effect::AssignReviewer, false, argument, &named) {
            let ids: Vec<i64> = all.iter().map(|user| user.0).collect();
            let word = if effect == Effect::UnassignReviewer { "Removed" } else { "Assigned" };
            let summary = format!("{word} {argument} as reviewer.").replace("  ", " ");
            self.changed("reviewer_ids", json!(ids), summary);
        }
        self.wanted.reviewers = Some(all);
        Ok(())
    }

    pub(super) fn label(&mut self, tx: &mut Tx<'_>, effect: Effect, argument: &str) -> Result<()> {
        if effect == Effect::Unlabel && argument.is_empty() {
            self.wanted.labels = LabelChange { all: Some(Vec::new()), ..LabelChange::default() };
            self.changed("label_ids", json!([]), "Removed all labels.");
            return Ok(());
        }
        let mut names = parse(argument, self.forge.address()).labels;
        if names.is_empty() {
            let words = argument.split([' ', ',']).map(|word| word.trim_matches(['~', '"']));
            names = words.filter(|word| !word.is_empty()).take(100).map(str::to_owned).collect();
        }
        let within = usable(tx, self.forge, self.item.home)?;
        let (mut ids, mut known) = (Vec::new(), Vec::new());
        for name in names {
            if let Some(label) = tx.find_label(&within, &LabelName::Name(name))? {
                ids.push(label.id.0);
                known.push(label.name);
            }
        }
        if known.is_empty() {
            return Ok(());
        }
        let told: Vec<String> = known.iter().map(|name| format!("~\"{name}\"")).collect();
        let told = told.join(" ");
        let (key, summary) = match effect {
            Effect::Unlabel => {
                self.wanted.labels.remove.extend(known);
                ("remove_label_ids", format!("Removed {told} label(s)."))
            }
            Effect::Relabel => {
                self.wanted.labels = LabelChange { all: Some(known), ..LabelChange::default() };
                ("label_ids", format!("Replaced all labels with {told} label(s)."))
            }
            _ => {
                self.wanted.labels.add.extend(known);
                ("add_label_ids", format!("Added {told} label(s)."))
            }
        };
        self.changed(key, json!(ids), summary);
        Ok(())
    }

    pub(super) fn milestone(&mut self, tx: &mut Tx<'_>, argument: &str) -> Result<()> {
        let title = parse(argument, self.forge.address()).milestones.into_iter().next();
        let home = self.item.home;
        let mut filter = MilestoneFilter::of(home);
        filter.groups = self.forge.above(tx, home)?;
        filter.title = Some(title.unwrap_or_else(|| argument.to_owned()));
        let found = tx.milestones(&filter, PageRequest { page: 1, per_page: 1 })?.items.pop();
        if let Some(milestone) = found {
            self.wanted.milestone = Some(Some(milestone.id));
            let summary = format!("Set the milestone to %\"{}\".", milestone.title);
            self.changed("milestone_id", json!(milestone.id.0), summary);
        }
        Ok(())
    }

    /// Takes over labels and milestone of another item that the author may read.
    pub(super) fn copy(&mut self, tx: &mut Tx<'_>, argument: &str) -> Result<()> {
        let names = parse(argument, self.forge.address()).items;
        let found = crate::reference::find_items(tx, self.forge, self.item, self.user, &names)?;
        let Some((_, other)) = found.into_iter().next() else { return Ok(()) };
        let labels = tx.labels_of(other.id.kind, &[other.id.id])?.remove(&other.id.id);
        let labels = labels.unwrap_or_default();
        self.wanted.labels.add.extend(labels.iter().map(|label| label.name.clone()));
        let milestone = match find(tx, &other)? {
            Some(Row::Issue(issue)) => issue.milestone_id,
            Some(Row::MergeRequest(row)) => row.milestone_id,
            None => None,
        };
        if milestone.is_some() {
            self.wanted.milestone = Some(milestone);
        }
        let ids: Vec<i64> = labels.iter().map(|label| label.id.0).collect();
        let summary = format!("Copied labels and milestone from {argument}.");
        self.changed("add_label_ids", json!(ids), summary);
        Ok(())
    }
}

/// Gives somebody something, gives it to them alone, or takes it from them: from all where nobody is named.
fn moved(
    all: &mut Vec<UserId>,
    add: bool,
    replace: bool,
    argument: &str,
    named: &[UserId],
) -> bool {
    let before = all.clone();
    if replace && !named.is_empty() {
        all.clear();
    }
    if add || replace {
        for user in named {
            if !all.contains(user) {
                all.push(*user);
            }
        }
    } else if argument.is_empty() {
        all.clear();
    } else {
        all.retain(|user| !named.contains(user));
    }
    *all != before
}

#[cfg(test)]
mod tests {
    use kernel::ids::UserId;

    use super::moved;

    #[test]
    fn people_are_added_replaced_and_taken_away() {
        let (ada, bob) = (UserId(1), UserId(2));
        let after = |add, replace, argument: &str, named: &[UserId]| {
            let mut all = vec![ada];
            (moved(&mut all, add, replace, argument, named), all)
        };
        assert_eq!(after(true, false, "@bob", &[bob]), (true, vec![ada, bob]));
        assert_eq!(after(false, true, "@bob", &[bob]), (true, vec![bob]));
        assert_eq!(after(false, false, "", &[]), (true, vec![]));
        assert_eq!(after(false, false, "@bob", &[bob]), (false, vec![ada]));
    }
}
