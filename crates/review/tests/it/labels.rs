//! Labels.

use db::Tx;
use forgeway_review::{
    label::{
        Label, LabelName,
        actions::{LabelChange, NewLabel, create, promote, read, remove, set_subscription, update},
    },
    policy::{ManageGroupLabels, ManageLabels, ReadLabels},
};
use kernel::{Result, error::Kind, ids::ProjectId};

use crate::world::{World, test};

fn new(name: &str) -> NewLabel {
    NewLabel {
        name: name.to_owned(),
        color: "#ff0000".to_owned(),
        description: None,
        priority: None,
    }
}

fn named(name: &str) -> LabelName {
    LabelName::Name(name.to_owned())
}

fn label_in(tx: &mut Tx<'_>, world: &World, project: ProjectId, name: &str) -> Result<Label> {
    let grant = world.may_in::<ManageLabels>(project, world.owner)?;
    create(tx, &grant, &world.around, &new(name))
}

fn label(tx: &mut Tx<'_>, world: &World, name: &str) -> Result<Label> {
    label_in(tx, world, world.project, name)
}

fn group_label(tx: &mut Tx<'_>, world: &World, name: &str) -> Result<Label> {
    let grant = world.may_in_group::<ManageGroupLabels>(world.owner)?;
    create(tx, &grant, &world.around, &new(name))
}

#[test]
fn a_name_is_kept_without_the_spaces_around_it() {
    test(|tx, world| {
        assert_eq!(label(tx, world, " bug ")?.name, "bug");
        Ok(())
    });
}

#[test]
fn guests_do_not_make_labels() {
    test(|_, world| {
        assert_eq!(world.may::<ManageLabels>(world.guest).unwrap_err().kind, Kind::Forbidden);
        assert!(world.may::<ManageLabels>(world.reporter).is_ok());
        Ok(())
    });
}

#[test]
fn a_name_of_the_group_is_taken_in_its_projects() {
    test(|tx, world| {
        group_label(tx, world, "bug")?;
        let again = label(tx, world, "bug").unwrap_err();
        assert_eq!(
            (again.kind, again.to_string().as_str()),
            (Kind::Conflict, "Label already exists")
        );
        Ok(())
    });
}

#[test]
fn a_name_of_one_project_is_free_in_another() {
    test(|tx, world| {
        label(tx, world, "bug")?;
        label_in(tx, world, world.other, "bug").map(drop)
    });
}

#[test]
fn a_name_with_a_comma_is_refused() {
    test(|tx, world| {
        for name in ["a,b", "a\nb", " "] {
            assert_eq!(label(tx, world, name).unwrap_err().kind, Kind::BadRequest, "{name:?}");
        }
        Ok(())
    });
}

#[test]
fn a_priority_below_zero_is_refused() {
    test(|tx, world| {
        let grant = world.may::<ManageLabels>(world.owner)?;
        let urgent = NewLabel { priority: Some(-1), ..new("urgent") };
        let refused = create(tx, &grant, &world.around, &urgent).unwrap_err();
        assert_eq!(refused.kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn a_label_does_not_get_the_name_of_another() {
    test(|tx, world| {
        label(tx, world, "bug")?;
        label(tx, world, "fault")?;
        let grant = world.may::<ManageLabels>(world.owner)?;
        let mut rename = |name: &str, to: &str| {
            let change = LabelChange { name: Some(to.to_owned()), ..LabelChange::default() };
            update(tx, &grant, &world.around, &named(name), change)
        };
        assert_eq!(rename("fault", "bug").unwrap_err().kind, Kind::BadRequest);
        assert_eq!(rename("fault", "fault")?.name, "fault");
        assert_eq!(rename("fault", "flaw")?.name, "flaw");
        Ok(())
    });
}

#[test]
fn a_label_that_changed_meanwhile_is_not_removed() {
    test(|tx, world| {
        label(tx, world, "bug")?;
        let grant = world.may::<ManageLabels>(world.owner)?;
        let before = kernel::Ts::from_unix(tx.now.unix() - 1);
        let refused = remove(tx, &grant, &named("bug"), Some(before)).unwrap_err();
        assert_eq!(refused.kind, Kind::Precondition);
        remove(tx, &grant, &named("bug"), Some(tx.now))
    });
}

#[test]
fn a_second_subscription_changes_nothing() {
    test(|tx, world| {
        let bug = label(tx, world, "bug")?;
        set_subscription(tx, world.guest, &bug, true)?;
        let again = set_subscription(tx, world.guest, &bug, true).unwrap_err();
        assert_eq!(again.kind, Kind::Unchanged);
        set_subscription(tx, world.guest, &bug, false)
    });
}

#[test]
fn projects_use_the_labels_of_their_group() {
    test(|tx, world| {
        let bug = group_label(tx, world, "bug")?;
        let grant = world.may::<ReadLabels>(world.guest)?;
        assert_eq!(read(tx, &grant, &world.around, &named("bug"))?.id, bug.id);
        let alone = read(tx, &grant, &world.without_group(), &named("bug")).unwrap_err();
        assert!(alone.is_not_found("Label"));
        Ok(())
    });
}

#[test]
fn a_promoted_label_replaces_those_of_the_same_name() {
    test(|tx, world| {
        let bug = label(tx, world, "bug")?;
        label_in(tx, world, world.other, "bug")?;
        let grant = world.may::<ManageLabels>(world.owner)?;
        let lifted = promote(tx, &grant, &world.around, &named("bug"))?;
        assert_eq!((lifted.id, lifted.namespace_id), (bug.id, Some(world.group)));
        let there = world.may_in::<ReadLabels>(world.other, world.guest)?;
        assert_eq!(read(tx, &there, &world.around, &named("bug"))?.id, bug.id);
        Ok(())
    });
}

#[test]
fn only_a_label_of_a_project_in_a_group_is_promoted() {
    test(|tx, world| {
        group_label(tx, world, "bug")?;
        label(tx, world, "fault")?;
        let grant = world.may::<ManageLabels>(world.owner)?;
        let of_group = promote(tx, &grant, &world.around, &named("bug")).unwrap_err();
        let alone = promote(tx, &grant, &world.without_group(), &named("fault")).unwrap_err();
        assert_eq!([of_group.kind, alone.kind], [Kind::BadRequest; 2]);
        Ok(())
    });
}
