//! Milestones.

use db::Tx;
use forgeway_review::{
    milestone::{
        Milestone, MilestoneState, StateEvent,
        actions::{MilestoneChange, create, promote, read, remove, update},
    },
    policy::{ManageGroupMilestones, ManageMilestones, ReadMilestones},
};
use kernel::{
    Result, Ts,
    error::Kind,
    ids::{MilestoneId, ProjectId},
};

use crate::world::{World, test};

fn titled(title: &str) -> MilestoneChange {
    MilestoneChange { title: Some(title.to_owned()), ..MilestoneChange::default() }
}

fn milestone_in(
    tx: &mut Tx<'_>,
    world: &World,
    project: ProjectId,
    change: MilestoneChange,
) -> Result<Milestone> {
    let grant = world.may_in::<ManageMilestones>(project, world.owner)?;
    create(tx, &grant, &world.around, change)
}

fn milestone(tx: &mut Tx<'_>, world: &World, change: MilestoneChange) -> Result<Milestone> {
    milestone_in(tx, world, world.project, change)
}

fn group_milestone(tx: &mut Tx<'_>, world: &World, title: &str) -> Result<Milestone> {
    let grant = world.may_in_group::<ManageGroupMilestones>(world.owner)?;
    create(tx, &grant, &world.around, titled(title))
}

fn step(
    tx: &mut Tx<'_>,
    world: &World,
    id: MilestoneId,
    event: StateEvent,
) -> Result<MilestoneState> {
    let grant = world.may::<ManageMilestones>(world.owner)?;
    let change = MilestoneChange { event: Some(event), ..MilestoneChange::default() };
    Ok(update(tx, &grant, &world.around, id, change)?.state)
}

#[test]
fn a_milestone_needs_a_title() {
    test(|tx, world| {
        let refused = milestone(tx, world, titled(" ")).unwrap_err();
        let text = "Failed to create milestone {:title=>[\"can't be blank\"]}";
        assert_eq!((refused.kind, refused.to_string().as_str()), (Kind::BadRequest, text));
        Ok(())
    });
}

#[test]
fn a_title_of_the_group_is_taken_in_its_projects() {
    test(|tx, world| {
        group_milestone(tx, world, "1.0")?;
        let refused = milestone(tx, world, titled("1.0")).unwrap_err().to_string();
        assert!(refused.contains("already being used"), "{refused}");
        Ok(())
    });
}

#[test]
fn a_title_of_a_project_is_free_in_its_group() {
    test(|tx, world| {
        milestone(tx, world, titled("1.0"))?;
        group_milestone(tx, world, "1.0").map(drop)
    });
}

#[test]
fn the_last_day_is_not_before_the_first() {
    test(|tx, world| {
        let (first, last) = (Ts::from_unix(172_800), Ts::from_unix(86_400));
        let backwards = MilestoneChange {
            start_date: Some(Some(first)),
            due_date: Some(Some(last)),
            ..titled("1.0")
        };
        let refused = milestone(tx, world, backwards).unwrap_err().to_string();
        assert!(refused.contains("must be greater than start date"), "{refused}");
        Ok(())
    });
}

#[test]
fn numbers_count_in_each_project() {
    test(|tx, world| {
        let first = milestone(tx, world, titled("1.0"))?;
        let second = milestone(tx, world, titled("2.0"))?;
        let elsewhere = milestone_in(tx, world, world.other, titled("1.0"))?;
        assert_eq!([first.iid, second.iid, elsewhere.iid], [1, 2, 1]);
        Ok(())
    });
}

#[test]
fn a_milestone_is_closed_and_opened_again() {
    test(|tx, world| {
        let id = milestone(tx, world, titled("1.0"))?.id;
        assert_eq!(step(tx, world, id, StateEvent::Close)?, MilestoneState::Closed);
        assert_eq!(step(tx, world, id, StateEvent::Close)?, MilestoneState::Closed);
        assert_eq!(step(tx, world, id, StateEvent::Activate)?, MilestoneState::Active);
        Ok(())
    });
}

#[test]
fn a_milestone_that_changed_meanwhile_is_not_removed() {
    test(|tx, world| {
        let id = milestone(tx, world, titled("1.0"))?.id;
        let grant = world.may::<ManageMilestones>(world.owner)?;
        let before = Ts::from_unix(tx.now.unix() - 1);
        assert_eq!(remove(tx, &grant, id, Some(before)).unwrap_err().kind, Kind::Precondition);
        remove(tx, &grant, id, None)?;
        let reads = world.may::<ReadMilestones>(world.guest)?;
        assert!(read(tx, &reads, id).unwrap_err().is_not_found("Milestone"));
        Ok(())
    });
}

#[test]
fn a_milestone_of_another_project_is_not_there() {
    test(|tx, world| {
        let id = milestone_in(tx, world, world.other, titled("1.0"))?.id;
        let reads = world.may::<ReadMilestones>(world.owner)?;
        assert!(read(tx, &reads, id).unwrap_err().is_not_found("Milestone"));
        Ok(())
    });
}

#[test]
fn a_promoted_milestone_replaces_those_of_the_same_title() {
    test(|tx, world| {
        let id = milestone(tx, world, titled("1.0"))?.id;
        let twin = milestone_in(tx, world, world.other, titled("1.0"))?.id;
        let grant = world.may::<ManageMilestones>(world.owner)?;
        assert_eq!(promote(tx, &grant, &world.around, id)?.namespace_id, Some(world.group));
        let there = world.may_in::<ReadMilestones>(world.other, world.guest)?;
        assert!(read(tx, &there, twin).is_err());
        Ok(())
    });
}

#[test]
fn a_milestone_is_promoted_to_a_group_without_that_title() {
    test(|tx, world| {
        let id = milestone(tx, world, titled("1.0"))?.id;
        group_milestone(tx, world, "1.0")?;
        let grant = world.may::<ManageMilestones>(world.owner)?;
        let taken = promote(tx, &grant, &world.around, id).unwrap_err().to_string();
        assert!(taken.starts_with("Promotion failed"), "{taken}");
        let alone = promote(tx, &grant, &world.without_group(), id).unwrap_err().to_string();
        assert_eq!(alone, "Project does not belong to a group.");
        Ok(())
    });
}
