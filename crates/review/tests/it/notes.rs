//! What is said about issues.

use forgeway_review::{
    issue::{IssueState, IssueStore as _, actions::NewIssue},
    note::{
        actions::{NewNote, NoteTarget, remove, update},
        reading::{Activity, discussions},
    },
    policy::{CreateIssues, ReadIssueNotes},
};
use kernel::{error::Kind, page::PageRequest};

use crate::world::{comment, test, titled};

#[test]
fn a_blank_note_is_refused() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        let refused = world.say(tx, world.guest, 1, &comment(" \n")).unwrap_err();
        assert_eq!(refused.kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn members_alone_speak_where_the_discussion_is_locked() {
    test(|tx, world| {
        let locked = NewIssue { discussion_locked: Some(true), ..titled("Tea") };
        world.issue(tx, world.owner, locked)?;
        let refused = world.say(tx, world.stranger, 1, &comment("Milk?")).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        world.say(tx, world.guest, 1, &comment("Milk?")).map(drop)
    });
}

#[test]
fn an_internal_note_is_for_reporters() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        let internal = || NewNote { internal: true, ..comment("Psst") };
        let refused = world.say(tx, world.guest, 1, &internal()).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        world.say(tx, world.owner, 1, &internal())?;
        assert!(world.notes(tx, world.guest, 1, Activity::All)?.is_empty());
        assert_eq!(world.notes(tx, world.reporter, 1, Activity::All)?, ["Psst"]);
        Ok(())
    });
}

#[test]
fn internal_notes_are_not_counted() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        world.say(tx, world.owner, 1, &NewNote { internal: true, ..comment("Psst") })?;
        world.say(tx, world.owner, 1, &comment("Milk?"))?;
        assert_eq!(tx.find_issue(world.project, 1)?.unwrap().user_notes_count, 1);
        Ok(())
    });
}

#[test]
fn a_note_is_changed_by_its_author_and_by_maintainers() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        let id = world.say(tx, world.guest, 1, &comment("Milk?"))?.unwrap().id;
        let mut change = |by, body: &str| {
            let grant = world.may::<CreateIssues>(by)?;
            update(tx, &grant, &world.around, 1, id, body)
        };
        assert_eq!(change(world.reporter, "Sugar?").unwrap_err().kind, Kind::Forbidden);
        change(world.guest, "Sugar?")?;
        change(world.owner, "Honey?")?;
        assert_eq!(world.notes(tx, world.guest, 1, Activity::Comments)?, ["Honey?"]);
        Ok(())
    });
}

#[test]
fn what_the_system_wrote_is_not_changed() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        world.say(tx, world.owner, 1, &comment("/close"))?;
        let grant = world.may::<ReadIssueNotes>(world.owner)?;
        let (_, page) = discussions(tx, &grant, &world.around, 1, PageRequest::default())?;
        let note = &page.items[0].notes[0];
        assert!(note.is_system);
        let grant = world.may::<CreateIssues>(world.owner)?;
        let refused = remove(tx, &grant, &world.around, 1, note.id, None).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        Ok(())
    });
}

#[test]
fn quick_actions_change_the_issue_and_leave_no_note() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        assert!(world.say(tx, world.owner, 1, &comment("/title Milk\n/close"))?.is_none());
        let issue = tx.find_issue(world.project, 1)?.unwrap();
        assert_eq!((issue.title.as_str(), issue.state), ("Milk", IssueState::Closed));
        assert!(world.notes(tx, world.owner, 1, Activity::Comments)?.is_empty());
        Ok(())
    });
}

#[test]
fn quick_actions_without_effect_are_refused() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        let refused = world.say(tx, world.guest, 1, &comment("/close")).unwrap_err();
        assert_eq!(refused.to_string(), "Failed to apply commands.");
        Ok(())
    });
}

#[test]
fn an_answer_makes_a_thread_of_a_note() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        let first = world.say(tx, world.guest, 1, &comment("Milk?"))?.unwrap();
        let reply = NoteTarget::Reply(first.discussion.clone());
        let answer = world.say(tx, world.owner, 1, &NewNote { place: reply, ..comment("Yes") })?;
        assert_eq!(answer.unwrap().discussion, first.discussion);
        let grant = world.may::<ReadIssueNotes>(world.guest)?;
        let (_, page) = discussions(tx, &grant, &world.around, 1, PageRequest::default())?;
        assert_eq!((page.items.len(), page.items[0].notes.len()), (1, 2));
        Ok(())
    });
}

#[test]
fn only_owners_say_when_a_note_was_written() {
    test(|tx, world| {
        world.issue(tx, world.owner, titled("Tea"))?;
        let long_ago = kernel::Ts::from_unix(86_400);
        let dated = || NewNote { created_at: Some(long_ago), ..comment("Milk?") };
        let own = world.say(tx, world.reporter, 1, &dated())?.unwrap();
        assert_eq!(own.created_at, tx.now);
        let told = world.say(tx, world.owner, 1, &dated())?.unwrap();
        assert_eq!(told.created_at, long_ago);
        Ok(())
    });
}
