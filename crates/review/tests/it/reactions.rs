//! Reactions to issues and notes.

use db::Tx;
use forgeway_review::{
    emoji::{
        Award,
        actions::{create, list, remove},
    },
    issue::{IssueStore as _, actions::NewIssue},
    policy::{CreateIssues, ReadIssues},
};
use kernel::{
    Result,
    error::Kind,
    ids::{NoteId, UserId},
    page::PageRequest,
};

use crate::world::{World, comment, test, titled};

fn react(
    tx: &mut Tx<'_>,
    world: &World,
    by: UserId,
    note: Option<NoteId>,
    name: &str,
) -> Result<Award> {
    let grant = world.may::<CreateIssues>(by)?;
    create(tx, &grant, &world.around, 1, note, name)
}

#[test]
fn a_reaction_has_a_name_that_is_known() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        assert_eq!(react(tx, world, world.guest, None, "+1")?.name, "thumbsup");
        let refused = react(tx, world, world.guest, None, "nonsense").unwrap_err();
        assert!(refused.is_gone(), "{refused}");
        Ok(())
    });
}

#[test]
fn nobody_reacts_twice_in_the_same_way() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        react(tx, world, world.guest, None, "rocket")?;
        react(tx, world, world.owner, None, "rocket")?;
        let again = react(tx, world, world.guest, None, ":rocket:").unwrap_err();
        assert!(again.is_not_found("Award Emoji Name has already been taken"));
        Ok(())
    });
}

#[test]
fn thumbs_are_counted_as_votes() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        react(tx, world, world.guest, None, "thumbsup")?;
        react(tx, world, world.owner, None, "thumbsdown")?;
        react(tx, world, world.owner, None, "rocket")?;
        let issue = tx.find_issue(world.project, 1)?.unwrap();
        assert_eq!((issue.upvotes, issue.downvotes), (1, 1));
        Ok(())
    });
}

#[test]
fn only_ones_own_reaction_is_taken_back() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        let id = react(tx, world, world.guest, None, "rocket")?.id;
        let mut take_back = |by| {
            let grant = world.may::<CreateIssues>(by)?;
            remove(tx, &grant, &world.around, 1, None, id, None)
        };
        assert_eq!(take_back(world.owner).unwrap_err().kind, Kind::Unauthenticated);
        take_back(world.guest)?;
        assert!(take_back(world.guest).unwrap_err().is_not_found("Award Emoji"));
        Ok(())
    });
}

#[test]
fn strangers_do_not_react_where_the_discussion_is_locked() {
    test(|tx, world| {
        let locked = NewIssue { discussion_locked: Some(true), ..titled("Tea") };
        world.issue(tx, world.owner, locked)?;
        assert!(react(tx, world, world.stranger, None, "rocket").is_err());
        react(tx, world, world.guest, None, "rocket").map(drop)
    });
}

#[test]
fn reactions_to_a_note_are_not_those_to_its_issue() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        let note = world.say(tx, world.owner, 1, &comment("Milk?"))?.unwrap().id;
        react(tx, world, world.guest, Some(note), "rocket")?;
        let grant = world.may::<ReadIssues>(world.guest)?;
        let mut count = |note| {
            let page = list(tx, &grant, &world.around, 1, note, PageRequest::default())?;
            Ok::<_, kernel::Error>(page.items.len())
        };
        assert_eq!((count(Some(note))?, count(None)?), (1, 0));
        Ok(())
    });
}
