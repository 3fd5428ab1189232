//! Transactions that get into each other's way. Where there is one writer, none does.
#![expect(clippy::unwrap_used, reason = "a test may stop where its set-up fails")]

mod any_backend;
mod checksums;
mod event_log;

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use diesel::{RunQueryDsl, prelude::*, sql_query};
use forgeway_db::{
    Conn, Database, Location, LostCommits, Tx, error,
    schema::stamps,
    stamp::{keep, of},
    testing::TestDatabase,
};
use kernel::{Error, Result, error::Kind};

/// Adds one to a row, and holds it.
fn add(tx: &mut Tx<'_>, subject: &str) -> Result<()> {
    let row = diesel::update(stamps::table.find(subject)).set(stamps::stamp.eq(stamps::stamp + 1));
    forgeway_db::each_backend!(tx, |conn| row.execute(conn).map_err(error("Record")))?;
    Ok(())
}

/// Adds one to two rows; the first time when somebody else has the second one. How often that was tried.
fn add_to_both(db: &Database, rows: [&'static str; 2], meet: Arc<Barrier>) -> usize {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = tries.clone();
    let done = db.write_blocking(move |tx| {
        add(tx, rows[0])?;
        if counted.fetch_add(1, Ordering::SeqCst) == 0 {
            meet.wait();
        }
        add(tx, rows[1])
    });
    done.unwrap();
    tries.load(Ordering::SeqCst)
}

#[test]
fn of_two_who_wait_for_each_other_one_begins_again() {
    let test = TestDatabase::new();
    if test.db.is_sqlite() {
        return;
    }
    let rows =
        [("a", 0_i64), ("b", 0)].map(|(name, at)| (stamps::subject.eq(name), stamps::stamp.eq(at)));
    test.db
        .write_blocking(move |tx| {
            let rows = rows.to_vec();
            let insert = diesel::insert_into(stamps::table).values(rows);
            forgeway_db::each_backend!(tx, |conn| insert.execute(conn).map_err(error("Record")))
        })
        .unwrap();

    let meet = Arc::new(Barrier::new(2));
    let (db, other) = (test.db.clone(), meet.clone());
    let one = thread::spawn(move || add_to_both(&db, ["a", "b"], other));
    let tries = add_to_both(&test.db, ["b", "a"], meet) + one.join().unwrap();

    assert_eq!(tries, 3);
    let kept: Vec<i64> = test
        .db
        .write_blocking(|tx| {
            let all =
                stamps::table.filter(stamps::subject.eq_any(["a", "b"])).select(stamps::stamp);
            forgeway_db::each_backend!(tx, |conn| all.load(conn).map_err(error("Record")))
        })
        .unwrap();
    assert_eq!(kept, [2, 2]);
}

/// Fails each time in this way; how often that was, and what is told in the end.
fn fail(db: &Database, how: &'static str) -> (usize, Error) {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = tries.clone();
    let done: Result<usize> = db.write_blocking(move |tx| {
        counted.fetch_add(1, Ordering::SeqCst);
        let Conn::Postgres(conn) = &mut tx.conn else { return Ok(0) };
        sql_query(how).execute(&mut **conn).map_err(error("Record"))
    });
    (tries.load(Ordering::SeqCst), done.unwrap_err())
}

#[test]
fn whoever_gives_way_each_time_is_told_to_come_back() {
    let test = TestDatabase::new();
    if test.db.is_sqlite() {
        return;
    }
    for how in [
        "DO $$ BEGIN RAISE EXCEPTION 'could not serialize access' USING ERRCODE = '40001'; END $$",
        "DO $$ BEGIN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END $$",
    ] {
        let (tries, told) = fail(&test.db, how);
        assert_eq!(tries, 5, "{how}");
        assert!(told.kind == Kind::GaveWay);
    }
    let (tries, told) = fail(&test.db, "SELECT 1 / 0");
    assert_eq!(tries, 1);
    assert!(told.kind == Kind::Internal);
}

/// A database file with three commits of which none has left the write-ahead log, as a killed process leaves it.
fn killed_with_three_commits() -> tempfile::TempDir {
    let (alive, dead) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let open = |folder: &tempfile::TempDir| {
        let file = folder.path().join("forgeway.sqlite3");
        Database::open(&Location::File(file), Arc::default()).unwrap()
    };
    // Opened and closed, so that the tables themselves are not in the log.
    drop(open(&alive));
    let db = open(&alive);
    for subject in ["a", "b", "c"] {
        db.write_blocking(move |tx| keep(tx, subject, 1)).unwrap();
    }
    for entry in std::fs::read_dir(alive.path()).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), dead.path().join(entry.file_name())).unwrap();
    }
    dead
}

fn loss_in(folder: &tempfile::TempDir) -> Option<LostCommits> {
    let file = folder.path().join("forgeway.sqlite3");
    Database::open(&Location::File(file), Arc::default()).unwrap().loss()
}

#[test]
fn a_kill_loses_nothing_and_is_not_told_as_a_loss() {
    let folder = killed_with_three_commits();
    assert_eq!(loss_in(&folder), None);
    assert_eq!(loss_in(&folder), None);
}

#[test]
fn a_log_that_was_cut_or_removed_is_told_until_somebody_has_seen_to_it() {
    let cuts: [fn(&std::path::Path); 3] = [
        |log| std::fs::remove_file(log).unwrap(),
        |log| std::fs::write(log, vec![0; 32]).unwrap(),
        |log| {
            let file = std::fs::File::options().write(true).open(log).unwrap();
            file.set_len(file.metadata().unwrap().len() - 1).unwrap();
        },
    ];
    for cut in cuts {
        let folder = killed_with_three_commits();
        let _index = std::fs::remove_file(folder.path().join("forgeway.sqlite3-shm"));
        cut(&folder.path().join("forgeway.sqlite3-wal"));

        let loss = loss_in(&folder).unwrap();
        assert!(loss.there < loss.noted && loss.noted == 3, "{loss:?}");
        assert_eq!(loss_in(&folder), Some(loss));

        let file = folder.path().join("forgeway.sqlite3");
        let db = Database::open(&Location::File(file), Arc::default()).unwrap();
        db.write_blocking(|tx| keep(tx, "d", 1)).unwrap();
        drop(db);
        assert_eq!(loss_in(&folder), Some(loss), "the doctor says so still");
        std::fs::remove_file(folder.path().join("forgeway.sqlite3-lost")).unwrap();
        assert_eq!(loss_in(&folder), None);
    }
}

/// Ends every other connection to a test's database, as a restart of the server does.
fn end_connections(test: &TestDatabase) {
    let Location::Postgres(url) = &test.location else { return };
    let mut conn = diesel::PgConnection::establish(url).unwrap();
    let all = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    sql_query(all).execute(&mut conn).unwrap();
}

#[tokio::test]
async fn a_connection_that_was_ended_is_nobodys_business() {
    let test = TestDatabase::new();
    test.db.write(|tx| keep(tx, "a", 1)).await.unwrap();
    for round in 2..5 {
        assert_eq!(test.db.read(|tx| of(tx, "a")).await.unwrap(), Some(round - 1));
        end_connections(&test);
        assert_eq!(test.db.peek(|tx| of(tx, "a")).await.unwrap(), Some(round - 1));
        end_connections(&test);
        test.db.write(move |tx| keep(tx, "a", round)).await.unwrap();
    }
}

#[tokio::test]
async fn a_transaction_that_lost_its_connection_is_done_again_from_its_begin() {
    let test = TestDatabase::new();
    if test.db.is_sqlite() {
        return;
    }
    let (tries, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(test));
    let (counted, in_it) = (tries.clone(), ended.clone());
    let done = ended.db.write(move |tx| {
        keep(tx, "a", 1)?;
        if counted.fetch_add(1, Ordering::SeqCst) == 0 {
            end_connections(&in_it);
        }
        keep(tx, "b", 1)
    });

    done.await.unwrap();

    assert_eq!(tries.load(Ordering::SeqCst), 2);
    assert_eq!(ended.db.read(|tx| of(tx, "b")).await.unwrap(), Some(1));
}
