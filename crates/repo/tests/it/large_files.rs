//! Large files and their locks, as rows.

use forgeway_repo::lfs::{LfsId, LfsLocks as _, LfsStore as _, LockFilter};

use crate::world::test;

fn id(letter: &str) -> LfsId {
    letter.repeat(64).parse().unwrap()
}

#[test]
fn a_file_counts_once_in_a_project() {
    test(|tx, world| {
        for size in [3, 3] {
            tx.add_lfs_object(world.project, &id("a"), size)?;
        }
        tx.add_lfs_object(world.project, &id("b"), 4)?;
        assert_eq!((tx.lfs_size(world.project)?, tx.lfs_size(world.other)?), (7, 0));
        Ok(())
    });
}

#[test]
fn a_fork_has_the_files_of_its_source() {
    test(|tx, world| {
        tx.add_lfs_object(world.project, &id("a"), 3)?;
        tx.share_lfs_objects(world.project, world.other)?;
        let found = tx.lfs_objects(world.other, &[id("a"), id("b")])?;
        assert_eq!((found.len(), found.get(id("a").as_str())), (1, Some(&3)));
        Ok(())
    });
}

#[test]
fn a_file_that_no_project_has_is_an_orphan() {
    test(|tx, world| {
        tx.add_lfs_object(world.other, &id("a"), 3)?;
        assert_eq!(tx.orphaned_lfs_objects(&[id("a"), id("b")])?, [id("b")]);
        Ok(())
    });
}

#[test]
fn small_files_are_found_by_their_size() {
    test(|tx, world| {
        tx.add_lfs_object(world.project, &id("a"), 3)?;
        tx.add_lfs_object(world.project, &id("b"), 4)?;
        assert_eq!(tx.lfs_objects_up_to(world.project, 3)?, [id("a")]);
        Ok(())
    });
}

#[test]
fn a_file_is_locked_by_one_user() {
    test(|tx, world| {
        let first = tx.insert_lfs_lock(world.project, "tea.png", world.owner)?;
        assert!(first.is_some());
        assert!(tx.insert_lfs_lock(world.project, "tea.png", world.developer)?.is_none());
        assert!(tx.insert_lfs_lock(world.other, "tea.png", world.developer)?.is_some());
        Ok(())
    });
}

#[test]
fn a_lock_is_taken_away_once_and_in_its_project() {
    test(|tx, world| {
        let lock = tx.insert_lfs_lock(world.project, "tea.png", world.owner)?.unwrap();
        assert!(!tx.delete_lfs_lock(world.other, lock.id)?);
        assert!(tx.delete_lfs_lock(world.project, lock.id)?);
        assert!(!tx.delete_lfs_lock(world.project, lock.id)?);
        Ok(())
    });
}

#[test]
fn locks_are_listed_in_pages() {
    test(|tx, world| {
        for path in ["a", "b", "c"] {
            tx.insert_lfs_lock(world.project, path, world.owner)?;
        }
        let first =
            tx.lfs_locks(world.project, &LockFilter { most: 2, ..LockFilter::default() })?;
        let after = first.last().unwrap().id;
        let rest = LockFilter { most: 2, after, ..LockFilter::default() };
        let rest = tx.lfs_locks(world.project, &rest)?;
        assert_eq!((first.len(), rest[0].path.as_str()), (2, "c"));
        let named = LockFilter { most: 2, path: Some("b".to_owned()), ..LockFilter::default() };
        assert_eq!(tx.lfs_locks(world.project, &named)?.len(), 1);
        Ok(())
    });
}
