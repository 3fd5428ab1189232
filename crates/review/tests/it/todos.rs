//! To-dos.

use db::Tx;
use forgeway_review::{
    issue::{
        IssueStep,
        actions::{IssueChange, NewIssue, update},
    },
    policy::CreateIssues,
    todo::{
        Todo, TodoAction, TodoState,
        actions::{TodoFilter, create, finish, finish_all, list, restore},
    },
};
use kernel::{Result, error::Kind, ids::UserId, page::PageRequest};

use crate::world::{World, comment, test, titled};

fn pending(tx: &mut Tx<'_>, world: &World, user: UserId) -> Result<Vec<Todo>> {
    let (actor, filter) = (World::actor(user), TodoFilter::default());
    Ok(list(tx, &world.around, actor, &filter, PageRequest::default())?.items)
}

fn change(tx: &mut Tx<'_>, world: &World, by: UserId, change: IssueChange) -> Result<()> {
    let grant = world.may::<CreateIssues>(by)?;
    update(tx, &grant, &world.around, 1, change).map(drop)
}

#[test]
fn nobody_marks_an_issue_twice() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        let grant = world.may::<CreateIssues>(world.guest)?;
        assert_eq!(create(tx, &grant, 1)?.action, TodoAction::Marked);
        assert_eq!(create(tx, &grant, 1).unwrap_err().kind, Kind::Unchanged);
        Ok(())
    });
}

#[test]
fn an_assignee_is_asked_until_they_act() {
    test(|tx, world| {
        let given = NewIssue { assignees: vec![world.guest], ..titled("Tea") };
        world.issue(tx, world.owner, given)?;
        assert_eq!(pending(tx, world, world.guest)?[0].action, TodoAction::Assigned);
        world.say(tx, world.guest, 1, &comment("Done"))?;
        assert!(pending(tx, world, world.guest)?.is_empty());
        Ok(())
    });
}

#[test]
fn whoever_gives_themselves_an_issue_is_asked_as_well() {
    test(|tx, world| {
        let given = NewIssue { assignees: vec![world.owner], ..titled("Tea") };
        world.issue(tx, world.owner, given)?;
        assert_eq!(pending(tx, world, world.owner)?.len(), 1);
        Ok(())
    });
}

#[test]
fn somebody_who_is_mentioned_is_asked() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        world.say(tx, world.owner, 1, &comment("Milk for @guest, I think"))?;
        let asked = pending(tx, world, world.guest)?;
        assert_eq!((asked.len(), asked[0].action), (1, TodoAction::Mentioned));
        Ok(())
    });
}

#[test]
fn whoever_closes_an_issue_is_done_with_it() {
    test(|tx, world| {
        let given = NewIssue { assignees: vec![world.guest, world.owner], ..titled("Tea") };
        world.issue(tx, world.reporter, given)?;
        let close = IssueChange { step: Some(IssueStep::Close), ..IssueChange::default() };
        change(tx, world, world.guest, close)?;
        assert!(pending(tx, world, world.guest)?.is_empty());
        assert_eq!(pending(tx, world, world.owner)?.len(), 1);
        Ok(())
    });
}

#[test]
fn what_cannot_be_read_any_more_is_not_listed() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        create(tx, &world.may::<CreateIssues>(world.guest)?, 1)?;
        let secret = IssueChange { confidential: Some(true), ..IssueChange::default() };
        change(tx, world, world.owner, secret)?;
        assert!(pending(tx, world, world.guest)?.is_empty());
        Ok(())
    });
}

#[test]
fn nobody_finishes_what_others_are_asked() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        let id = create(tx, &world.may::<CreateIssues>(world.guest)?, 1)?.id;
        let mut done = |user| finish(tx, &world.around, World::actor(user), id);
        assert_eq!(done(world.owner).unwrap_err().kind, Kind::NotFound);
        done(world.guest).map(drop)
    });
}

#[test]
fn what_is_done_can_be_asked_again_by_its_owner_alone() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        let grant = world.may::<CreateIssues>(world.guest)?;
        let asked = create(tx, &grant, 1)?.id;
        let actor = World::actor(world.guest);
        finish(tx, &world.around, actor, asked)?;
        assert!(pending(tx, world, world.guest)?.is_empty());

        let restored = restore(tx, &world.around, actor, &[asked])?;
        assert_eq!(restored[0].state, TodoState::Pending);
        assert_eq!(finish_all(tx, &world.around, actor, None)?.len(), 1);
        let other = World::actor(world.owner);
        assert_eq!(restore(tx, &world.around, other, &[asked]).unwrap_err().kind, Kind::NotFound);
        Ok(())
    });
}
