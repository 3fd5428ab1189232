//! What people say about commits.

use db::Tx;
use forgeway_repo::{
    commit::discussion::{CommitDiscussion, NewComment, begin, list, read, remove, reply, update},
    git::Oid,
    policy::{CommentOnCommit, ReadCommitDiscussions},
};
use kernel::{
    Result, Ts,
    error::Kind,
    ids::{CommitNoteId, UserId},
    page::PageRequest,
};

use crate::world::{World, test};

const SHA: Oid = Oid::new([1; 20]);
const OTHER: Oid = Oid::new([2; 20]);

fn words(body: &str) -> NewComment {
    NewComment { body: body.to_owned(), created_at: None }
}

fn thread(
    tx: &mut Tx<'_>,
    world: &World,
    by: UserId,
    words: NewComment,
) -> Result<CommitDiscussion> {
    begin(tx, &world.may::<CommentOnCommit>(by)?, SHA, words, None)
}

#[test]
fn an_answer_is_in_the_thread() {
    test(|tx, world| {
        let id = thread(tx, world, world.guest, words("Why?"))?.id;
        let grant = world.may::<CommentOnCommit>(world.owner)?;
        reply(tx, &grant, SHA, &id, words("Because"))?;
        let bodies = read(tx, world.project, SHA, &id)?.notes.into_iter().map(|note| note.note);
        assert_eq!(bodies.collect::<Vec<_>>(), ["Why?", "Because"]);
        Ok(())
    });
}

#[test]
fn a_thread_belongs_to_one_commit_of_one_project() {
    test(|tx, world| {
        let id = thread(tx, world, world.guest, words("Why?"))?.id;
        for (project, sha) in [(world.project, OTHER), (world.other, SHA)] {
            assert!(read(tx, project, sha, &id).unwrap_err().is_not_found("Discussion"));
        }
        Ok(())
    });
}

#[test]
fn threads_are_listed_in_their_order() {
    test(|tx, world| {
        let first = thread(tx, world, world.guest, words("Why?"))?.id;
        let second = thread(tx, world, world.owner, words("How?"))?.id;
        let grant = world.may::<ReadCommitDiscussions>(world.guest)?;
        let page = list(tx, &grant, SHA, PageRequest::default())?;
        let ids: Vec<String> = page.items.into_iter().map(|thread| thread.id).collect();
        assert_eq!(ids, [first, second]);
        Ok(())
    });
}

#[test]
fn nothing_is_not_said() {
    test(|tx, world| {
        for body in [String::new(), " ".to_owned(), "x".repeat(1_000_001)] {
            let refused = thread(tx, world, world.guest, words(&body)).unwrap_err();
            assert_eq!(refused.kind, Kind::BadRequest);
        }
        Ok(())
    });
}

#[test]
fn only_owners_say_when_something_was_said() {
    test(|tx, world| {
        let long_ago = Ts::from_unix(86_400);
        let dated = || NewComment { created_at: Some(long_ago), ..words("Why?") };
        let own = thread(tx, world, world.developer, dated())?.notes.remove(0);
        assert_eq!(own.created_at, tx.now);
        let told = thread(tx, world, world.owner, dated())?.notes.remove(0);
        assert_eq!(told.created_at, long_ago);
        Ok(())
    });
}

#[test]
fn a_note_is_changed_by_its_author_and_by_maintainers() {
    test(|tx, world| {
        let made = thread(tx, world, world.guest, words("Why?"))?;
        let (id, note) = (made.id.as_str(), made.notes[0].id);
        let mut change = |by| {
            let grant = world.may::<CommentOnCommit>(by)?;
            update(tx, &grant, SHA, id, note, "How?").map(drop)
        };
        assert_eq!(change(world.developer).unwrap_err().kind, Kind::Forbidden);
        change(world.guest)?;
        change(world.owner)
    });
}

#[test]
fn with_its_last_note_a_thread_is_gone() {
    test(|tx, world| {
        let made = thread(tx, world, world.guest, words("Why?"))?;
        let (id, note) = (made.id.as_str(), made.notes[0].id);
        let grant = world.may::<CommentOnCommit>(world.guest)?;
        let before = Ts::from_unix(tx.now.unix() - 1);
        let refused = remove(tx, &grant, SHA, id, note, Some(before)).unwrap_err();
        assert_eq!(refused.kind, Kind::Precondition);
        let lost = remove(tx, &grant, SHA, id, CommitNoteId(0), None).unwrap_err();
        assert!(lost.is_not_found("Note"));
        remove(tx, &grant, SHA, id, note, None)?;
        assert!(read(tx, world.project, SHA, id).is_err());
        Ok(())
    });
}
