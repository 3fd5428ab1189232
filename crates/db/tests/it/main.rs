//! Transactions that get into each other's way. Where there is one writer, none does.
#![expect(clippy::unwrap_used, reason = "a test may stop where its set-up fails")]

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use diesel::{RunQueryDsl, prelude::*, sql_query};
use forgeway_db::{Conn, Database, Tx, error, schema::stamps, testing::TestDatabase};
use kernel::{Error, Result};

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
        assert!(matches!(told, Error::GaveWay));
    }
    let (tries, told) = fail(&test.db, "SELECT 1 / 0");
    assert_eq!(tries, 1);
    assert!(matches!(told, Error::Internal(_)));
}
