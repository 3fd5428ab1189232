//! Labels that take the place of others.

use std::collections::HashMap;

use db::{Tx, testing::rows};
use forgeway_review::{
    board::{
        BoardStore as _,
        actions::{BoardChange, BoardLabels, create as make_board},
        lists::{self, NewList},
    },
    issue::{Issue, actions::NewIssue},
    item::{ItemKind, ItemStore as _, labels::LabelChange},
    label::{
        Label, LabelFilter, LabelName, LabelStore as _,
        actions::{NewLabel, create, promote, set_subscription},
        replacement::{replace_foreign, uses_of},
    },
    policy::{ManageBoards, ManageGroupLabels, ManageLabels},
};
use kernel::{Result, ids::ProjectId};

use crate::world::{World, test, titled};

fn new(name: &str) -> NewLabel {
    let color = "#ff0000".to_owned();
    NewLabel { name: name.to_owned(), color, description: None, priority: None }
}

fn group_label(tx: &mut Tx<'_>, world: &World, name: &str) -> Result<Label> {
    let grant = world.may_in_group::<ManageGroupLabels>(world.owner)?;
    create(tx, &grant, &world.around, &new(name))
}

fn own_label(tx: &mut Tx<'_>, world: &World, project: ProjectId, name: &str) -> Result<Label> {
    let grant = world.may_in::<ManageLabels>(project, world.owner)?;
    create(tx, &grant, &world.without_group(), &new(name))
}

fn issue_with(tx: &mut Tx<'_>, world: &World, project: ProjectId, names: &[&str]) -> Result<Issue> {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    let labels = LabelChange { all: Some(names), ..LabelChange::default() };
    world.issue_in(tx, project, world.reporter, NewIssue { labels, ..titled("Tea") })
}

fn labels(tx: &mut Tx<'_>, issue: &Issue) -> Result<Vec<Label>> {
    let mut found = tx.labels_of(ItemKind::Issue, &[issue.id.0])?;
    Ok(found.remove(&issue.id.0).unwrap_or_default())
}

/// The first project leaves the group.
fn leave(tx: &mut Tx<'_>, world: &World) -> Result<()> {
    let uses = uses_of(tx, &[world.group], Some(world.project))?;
    replace_foreign(tx, &HashMap::from([(world.project, Vec::new())]), &uses)
}

#[test]
fn a_project_that_leaves_its_group_gets_copies_of_the_labels_that_it_uses() {
    test(|tx, world| {
        let bug = group_label(tx, world, "bug")?;
        group_label(tx, world, "unused")?;
        let (here, there) = (
            issue_with(tx, world, world.project, &["bug"])?,
            issue_with(tx, world, world.other, &["bug"])?,
        );
        tx.save_label_priority(world.project, bug.id, Some(3))?;

        leave(tx, world)?;

        let copy = labels(tx, &here)?.remove(0);
        assert_eq!((copy.project_id, copy.color.as_str()), (Some(world.project), "#ff0000"));
        assert_eq!(labels(tx, &there)?[0].id, bug.id, "the other one is in the group still");
        assert_eq!(tx.label_priorities(world.project, &[copy.id])?, [(copy.id, 3)].into());
        assert!(tx.label_priorities(world.project, &[bug.id])?.is_empty());
        let own = LabelFilter { projects: vec![world.project], ..LabelFilter::default() };
        let unused = tx.find_label(&own, &LabelName::Name("unused".to_owned()))?;
        assert!(unused.is_none());
        Ok(())
    });
}

#[test]
fn a_label_of_the_new_home_stands_for_one_of_the_same_name() {
    test(|tx, world| {
        group_label(tx, world, "bug")?;
        let issue = issue_with(tx, world, world.project, &["bug"])?;
        let home = rows::group(tx, "home")?;
        let usable = forgeway_review::label::LabelDetails {
            name: "bug".to_owned(),
            color: "#00ff00".to_owned(),
            description: None,
        };
        let usable = tx.insert_label(forgeway_review::Home::Group(home), &usable)?;

        let uses = uses_of(tx, &[world.group], None)?;
        replace_foreign(tx, &HashMap::from([(world.project, vec![home])]), &uses)?;

        assert_eq!(labels(tx, &issue)?[0].id, usable.id);
        Ok(())
    });
}

#[test]
fn an_item_that_has_both_labels_keeps_one() {
    test(|tx, world| {
        let own = own_label(tx, world, world.project, "bug")?;
        let foreign = group_label(tx, world, "bug")?;
        let issue = issue_with(tx, world, world.project, &[])?;
        let item = forgeway_review::item::ItemId { kind: ItemKind::Issue, id: issue.id.0 };
        tx.save_labels(item, &[own.id, foreign.id])?;

        leave(tx, world)?;

        let left: Vec<_> = labels(tx, &issue)?.iter().map(|label| label.id).collect();
        assert_eq!(left, [own.id]);
        Ok(())
    });
}

#[test]
fn boards_go_on_with_the_labels_of_the_new_home() {
    test(|tx, world| {
        let foreign = group_label(tx, world, "bug")?;
        let grant = world.may::<ManageBoards>(world.owner)?;
        let labels = Some(BoardLabels::Ids(vec![foreign.id]));
        let change = BoardChange { name: Some("a".to_owned()), labels, ..BoardChange::default() };
        let board = make_board(tx, &grant, &world.around, &change)?;
        let list = lists::create(tx, &grant, &world.around, board.id, NewList::Label(foreign.id))?;

        leave(tx, world)?;

        let worn = tx.labels_of_boards(&[board.id])?.remove(&board.id).unwrap_or_default();
        assert_eq!((worn.len(), worn[0].project_id), (1, Some(world.project)));
        // A second list of the label that stands there now is the same list.
        let kept = own_label(tx, world, world.project, "new")?;
        assert_ne!(kept.id, worn[0].id);
        let again = NewList::Label(worn[0].id);
        let taken = lists::create(tx, &grant, &world.without_group(), board.id, again);
        assert!(taken.is_err(), "{}", list.id);
        Ok(())
    });
}

#[test]
fn what_had_labels_of_the_same_name_has_the_promoted_one() {
    test(|tx, world| {
        let bug = own_label(tx, world, world.project, "bug")?;
        let twin = own_label(tx, world, world.other, "bug")?;
        let there = issue_with(tx, world, world.other, &["bug"])?;
        set_subscription(tx, world.guest, &twin, true)?;
        tx.save_label_priority(world.other, twin.id, Some(1))?;
        let grant = world.may::<ManageLabels>(world.owner)?;

        let lifted = promote(tx, &grant, &world.around, &LabelName::Name("bug".to_owned()))?;

        assert_eq!(lifted.id, bug.id);
        assert_eq!(labels(tx, &there)?[0].id, bug.id);
        assert_eq!(tx.subscribed_labels(world.guest, &[bug.id, twin.id])?, [bug.id].into());
        assert_eq!(tx.label_priorities(world.other, &[bug.id])?, [(bug.id, 1)].into());
        Ok(())
    });
}
