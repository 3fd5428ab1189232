//! Boards and their lists.

use db::Tx;
use forgeway_review::{
    board::{
        Board, BoardStore as _, Boards, EpicBoards, LimitMetric, ListKind, ListLimits,
        actions::{BoardChange, BoardLabels, create, list, read, remove, update},
        lists::{self, BoardWithLists, NewList},
        visits,
    },
    label::{
        LabelStore as _,
        actions::{NewLabel, create as make_label},
    },
    policy::{
        ManageBoards, ManageGroupBoards, ManageGroupEpics, ManageLabels, ReadBoards, ViewBoards,
    },
};
use kernel::{Result, error::Kind, ids::LabelId, page::PageRequest};

use crate::world::{World, test};

fn named(name: &str) -> BoardChange {
    BoardChange { name: Some(name.to_owned()), ..BoardChange::default() }
}

fn board(tx: &mut Tx<'_>, world: &World, change: &BoardChange) -> Result<Board> {
    let grant = world.may::<ManageBoards>(world.reporter)?;
    create(tx, &grant, &world.around, change)
}

fn label(tx: &mut Tx<'_>, world: &World, name: &str) -> Result<LabelId> {
    let grant = world.may::<ManageLabels>(world.owner)?;
    let color = "#ff0000".to_owned();
    let new = NewLabel { name: name.to_owned(), color, description: None, priority: None };
    Ok(make_label(tx, &grant, &world.around, &new)?.id)
}

fn list_for(tx: &mut Tx<'_>, world: &World, board: i64, label: LabelId) -> Result<i64> {
    let grant = world.may::<ManageBoards>(world.reporter)?;
    Ok(lists::create(tx, &grant, &world.around, board, NewList::Label(label))?.id)
}

fn order(tx: &mut Tx<'_>, world: &World, board: i64) -> Result<Vec<(i64, i64)>> {
    let grant = world.may::<ReadBoards>(world.guest)?;
    let found = lists::list::<Boards>(tx, &grant, board)?;
    Ok(found.iter().map(|list| (list.id, list.position)).collect())
}

#[test]
fn boards_are_listed_by_their_names() {
    test(|tx, world| {
        for name in ["b", "C", "a"] {
            board(tx, world, &named(name))?;
        }
        let grant = world.may::<ViewBoards>(world.guest)?;
        let found = list::<Boards>(tx, &grant, PageRequest::default())?.items;
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "C"]);
        Ok(())
    });
}

#[test]
fn a_board_needs_a_name_and_a_weight_that_can_be() {
    test(|tx, world| {
        let refused = board(tx, world, &named(" ")).unwrap_err();
        assert_eq!(refused.kind, Kind::BadRequest);
        let heavy = BoardChange { weight: Some(Some(-1)), ..named("a") };
        assert_eq!(board(tx, world, &heavy).unwrap_err().kind, Kind::BadRequest);
        assert_eq!(board(tx, world, &BoardChange::default())?.name, "Development");
        Ok(())
    });
}

#[test]
fn guests_see_boards_and_do_not_change_them() {
    test(|_, world| {
        assert!(world.may::<ReadBoards>(world.guest).is_ok());
        assert_eq!(world.may::<ManageBoards>(world.guest).unwrap_err().kind, Kind::Forbidden);
        assert!(world.may::<ManageBoards>(world.reporter).is_ok());
        assert!(world.may_in_group::<ManageGroupBoards>(world.guest).is_err());
        Ok(())
    });
}

#[test]
fn a_board_of_another_place_is_not_there() {
    test(|tx, world| {
        let made = board(tx, world, &named("a"))?;
        let elsewhere = world.may_in::<ReadBoards>(world.other, world.guest)?;
        let refused = read::<Boards>(tx, &elsewhere, made.id).unwrap_err();
        assert_eq!(refused.kind, Kind::NotFound);
        let epics = world.may_in_group::<ManageGroupEpics>(world.owner)?;
        let refused = remove::<EpicBoards>(tx, &epics, made.id, None).unwrap_err();
        assert_eq!(refused.kind, Kind::NotFound);
        Ok(())
    });
}

#[test]
fn every_board_begins_with_what_is_open_and_what_is_closed() {
    test(|tx, world| {
        let made = board(tx, world, &named("a"))?;
        let whole = BoardWithLists::one(tx, made)?;
        let kinds: Vec<ListKind> = whole.lists.iter().map(|list| list.kind).collect();
        assert_eq!(kinds, [ListKind::Backlog, ListKind::Closed]);
        assert_eq!(whole.movable().count(), 0);
        Ok(())
    });
}

#[test]
fn lists_are_put_elsewhere_and_numbered_without_gaps() {
    test(|tx, world| {
        let made = board(tx, world, &named("a"))?.id;
        let mut ids = Vec::new();
        for name in ["x", "y", "z"] {
            let label = label(tx, world, name)?;
            ids.push(list_for(tx, world, made, label)?);
        }
        let grant = world.may::<ManageBoards>(world.reporter)?;
        lists::reorder(tx, &grant, made, ids[2], 0)?;
        assert_eq!(order(tx, world, made)?, [(ids[2], 0), (ids[0], 1), (ids[1], 2)]);
        let last = lists::reorder(tx, &grant, made, ids[2], 99)?;
        assert_eq!(last.position, 2);
        lists::remove(tx, &grant, made, ids[0], None)?;
        assert_eq!(order(tx, world, made)?, [(ids[1], 0), (ids[2], 1)]);
        Ok(())
    });
}

#[test]
fn a_list_goes_with_its_label() {
    test(|tx, world| {
        let made = board(tx, world, &named("a"))?.id;
        let (gone, kept) = (label(tx, world, "x")?, label(tx, world, "y")?);
        list_for(tx, world, made, gone)?;
        let kept = list_for(tx, world, made, kept)?;
        tx.delete_label(gone)?;
        assert_eq!(order(tx, world, made)?, [(kept, 0)]);
        Ok(())
    });
}

#[test]
fn a_label_has_one_list_and_none_where_it_is_unknown() {
    test(|tx, world| {
        let made = board(tx, world, &named("a"))?.id;
        let once = label(tx, world, "x")?;
        list_for(tx, world, made, once)?;
        let twice = list_for(tx, world, made, once).unwrap_err();
        assert_eq!(twice.kind, Kind::BadRequest);
        let unknown = list_for(tx, world, made, LabelId(0)).unwrap_err();
        assert_eq!(unknown.kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn limits_are_kept_and_negative_ones_refused() {
    test(|tx, world| {
        let made = board(tx, world, &named("a"))?.id;
        let label = label(tx, world, "x")?;
        let id = list_for(tx, world, made, label)?;
        let grant = world.may::<ManageBoards>(world.reporter)?;
        let limits = ListLimits {
            max_issue_count: Some(3),
            max_issue_weight: None,
            limit_metric: Some(Some(LimitMetric::IssueCount)),
        };
        let kept = lists::set_limits(tx, &grant, made, id, limits)?;
        assert_eq!((kept.max_issue_count, kept.max_issue_weight), (3, 0));
        assert_eq!(kept.limit_metric, Some(LimitMetric::IssueCount));
        let wrong = ListLimits { max_issue_weight: Some(-1), ..ListLimits::default() };
        let refused = lists::set_limits(tx, &grant, made, id, wrong).unwrap_err();
        assert_eq!(refused.kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn a_list_is_folded_for_one_person_alone() {
    test(|tx, world| {
        let made = board(tx, world, &named("a"))?.id;
        let label = label(tx, world, "x")?;
        let id = list_for(tx, world, made, label)?;
        let guest = world.may::<ReadBoards>(world.guest)?;
        lists::set_collapsed::<Boards>(tx, &guest, made, id, true)?;
        assert!(lists::collapsed_of(tx, world.guest, &[id])?.contains(&id));
        assert!(lists::collapsed_of(tx, world.owner, &[id])?.is_empty());
        lists::set_collapsed::<Boards>(tx, &guest, made, id, false)?;
        assert!(lists::collapsed_of(tx, world.guest, &[id])?.is_empty());
        Ok(())
    });
}

#[test]
fn the_labels_of_a_board_are_made_where_they_are_unknown() {
    test(|tx, world| {
        let labels = Some(BoardLabels::Named(vec!["new".to_owned()]));
        let made = board(tx, world, &BoardChange { labels, ..named("a") })?;
        let worn = tx.labels_of_boards(&[made.id])?.remove(&made.id).unwrap_or_default();
        assert_eq!(worn.iter().map(|label| label.name.as_str()).collect::<Vec<_>>(), ["new"]);
        let grant = world.may::<ManageBoards>(world.reporter)?;
        let none =
            BoardChange { labels: Some(BoardLabels::Ids(Vec::new())), ..BoardChange::default() };
        update(tx, &grant, &world.around, made.id, &none)?;
        assert!(tx.labels_of_boards(&[made.id])?.is_empty());
        Ok(())
    });
}

#[test]
fn people_find_the_boards_again_with_which_they_worked() {
    test(|tx, world| {
        let made = board(tx, world, &named("a"))?;
        let theirs = world.may::<ReadBoards>(world.reporter)?;
        let recent = visits::recent::<Boards>(tx, &theirs, 4)?;
        assert_eq!(recent.iter().map(|one| one.id).collect::<Vec<_>>(), [made.id]);
        let others = world.may::<ReadBoards>(world.owner)?;
        assert!(visits::recent::<Boards>(tx, &others, 4)?.is_empty());
        Ok(())
    });
}
