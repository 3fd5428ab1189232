//! Cursors over the outbox: nothing is skipped and nothing comes twice, in whatever order transactions commit.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use diesel::{RunQueryDsl as _, sql_query};
use forgeway_db::{
    Conn, Tx, error,
    outbox::{
        LoggedEvent, Position, Retention, adopt, advance, after, close_cursor, close_gap, cursor,
        cursors, is_foreign, last, open_cursor, take, trim,
    },
    stamp,
    testing::{TestDatabase, start},
};
use kernel::{Result, Ts, event::Event, ids::ProjectId};
use time::Duration;

struct TestEvent(i64);

impl Event for TestEvent {
    fn kind(&self) -> &'static str {
        "test.told"
    }
    fn project(&self) -> Option<ProjectId> {
        None
    }
    fn payload(&self) -> String {
        self.0.to_string()
    }
}

const READER: &str = "reader";

fn write(test: &TestDatabase, numbers: impl IntoIterator<Item = i64> + Clone + Send + 'static) {
    let told =
        move |tx: &mut Tx<'_>| numbers.into_iter().try_for_each(|one| tx.emit(TestEvent(one)));
    test.db.write_blocking(told).unwrap();
}

/// Announces facts that can be read at once: transactions of other databases of the server have ended.
fn tell(test: &TestDatabase, numbers: impl IntoIterator<Item = i64> + Clone + Send + 'static) {
    write(test, numbers);
    let newest = test.db.read_blocking(last).unwrap().unwrap().position();
    let is_final = |tx: &mut Tx<'_>| after(tx, Position::default(), i64::MAX);
    while test.db.read_blocking(is_final).unwrap().last().map(LoggedEvent::position) < Some(newest)
    {
        thread::yield_now();
    }
}

fn open(test: &TestDatabase) {
    test.db.write_blocking(|tx| open_cursor(tx, READER)).unwrap();
}

/// What the reader is given next.
fn next(test: &TestDatabase, most: i64) -> Vec<i64> {
    let found = test.db.write_blocking(move |tx| take(tx, READER, most)).unwrap();
    found.into_iter().map(|event| event.payload.parse().unwrap()).collect()
}

/// The same until there are so many.
fn next_of(test: &TestDatabase, count: usize) -> Vec<i64> {
    let mut found = Vec::new();
    while found.len() < count {
        found.extend(next(test, 10));
    }
    found
}

#[test]
fn a_cursor_is_given_what_was_told_since_it_was_opened_once_and_in_order() {
    let test = TestDatabase::new();
    tell(&test, [1, 2]);
    open(&test);
    tell(&test, [3, 4, 5]);
    open(&test);

    assert_eq!(next(&test, 2), [3, 4]);
    assert_eq!(next(&test, 2), [5]);
    assert!(next(&test, 2).is_empty());
    test.db.write_blocking(|tx| take(tx, "nobody", 1)).unwrap_err();
}

/// A transaction that does one step after another on a thread of its own, as it is told.
struct Open {
    steps: Option<Sender<i64>>,
    done: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Open {
    /// Begins a transaction. Its number is given here.
    fn begin(test: &TestDatabase) -> Self {
        let ((steps, asked), (told, done)) = (channel::<i64>(), channel());
        let (db, asked) = (test.db.clone(), Arc::new(Mutex::new(asked)));
        let work = move |tx: &mut Tx<'_>| {
            stamp::keep(tx, &format!("{:?}", thread::current().id()), 1)?;
            told.send(()).unwrap();
            for number in asked.lock().unwrap().iter() {
                tx.emit(TestEvent(number))?;
                told.send(()).unwrap();
            }
            Ok(())
        };
        let thread = Some(thread::spawn(move || db.write_blocking(work).unwrap()));
        done.recv().unwrap();
        Self { steps: Some(steps), done, thread }
    }

    fn tell(&self, number: i64) {
        self.steps.as_ref().unwrap().send(number).unwrap();
        self.done.recv().unwrap();
    }

    fn commit(mut self) {
        drop(self.steps.take());
        self.thread.take().unwrap().join().unwrap();
    }
}

#[test]
fn a_fact_of_a_transaction_that_commits_late_is_not_skipped() {
    let test = TestDatabase::new();
    if test.db.is_sqlite() {
        return;
    }
    open(&test);
    let slow = Open::begin(&test);
    slow.tell(1);
    let fast = Open::begin(&test);
    fast.tell(2);
    fast.commit();

    assert!(next(&test, 10).is_empty(), "what comes before may still appear");
    slow.commit();

    assert_eq!(next_of(&test, 2), [1, 2]);
    assert!(next(&test, 10).is_empty());
}

#[test]
fn a_lower_id_of_a_younger_transaction_is_not_skipped() {
    let test = TestDatabase::new();
    if test.db.is_sqlite() {
        return;
    }
    open(&test);
    let (older, younger) = (Open::begin(&test), Open::begin(&test));
    younger.tell(2);
    older.tell(1);
    older.commit();

    assert_eq!(next_of(&test, 1), [1], "its transaction precedes the one under way");
    younger.commit();

    assert_eq!(next_of(&test, 1), [2]);
    assert!(next(&test, 10).is_empty());
}

#[test]
fn whoever_reads_while_others_write_is_given_each_fact_once() {
    const WRITERS: i64 = 4;
    const EACH: i64 = 25;
    let test = TestDatabase::new();
    open(&test);
    let (ended, mut seen) = (AtomicBool::new(false), Vec::new());
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let test = &test;
                scope.spawn(move || {
                    for number in (0..EACH).map(|turn| (writer * EACH + turn) * 10) {
                        write(test, number..number + 1 + number % 3);
                    }
                })
            })
            .collect();
        let reader = scope.spawn(|| {
            let mut seen = Vec::new();
            while !ended.load(Ordering::SeqCst) {
                seen.extend(next(&test, 7));
            }
            seen
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        ended.store(true, Ordering::SeqCst);
        seen = reader.join().unwrap();
    });
    let all = (0..WRITERS * EACH).map(|turn| turn * 10);
    let mut told: Vec<i64> = all.flat_map(|number| number..number + 1 + number % 3).collect();
    seen.extend(next_of(&test, told.len() - seen.len()));
    assert!(next(&test, 1).is_empty());

    seen.sort_unstable();
    told.sort_unstable();
    assert_eq!(seen, told);
}

#[test]
fn a_report_moves_a_cursor_forward_and_never_back() {
    let test = TestDatabase::new();
    open(&test);
    tell(&test, [1, 2, 3]);
    let end = test.db.read_blocking(last).unwrap().unwrap();
    let report = |id: i64| test.db.write_blocking(move |tx| advance(tx, READER, id)).unwrap();

    report(end.id - 1);
    assert_eq!(next(&test, 1), [3]);
    report(end.id - 2);
    report(end.id + 7);

    let kept = test.db.read_blocking(|tx| cursor(tx, READER)).unwrap().unwrap();
    assert_eq!((kept.event_id, kept.event_at), (end.id, Some(start())));
}

fn forget(test: &TestDatabase, keep: Retention) -> usize {
    test.db.write_blocking(move |tx| trim(tx, keep, 100)).unwrap()
}

const EVERYTHING: Ts = Ts(i64::MAX);
const NOTHING: Ts = Ts(0);

#[test]
fn facts_wait_for_the_slowest_cursor_and_the_last_one_stays() {
    let test = TestDatabase::new();
    let keep = Retention { read_before: EVERYTHING, any_before: NOTHING, most: 1_000 };
    open(&test);
    tell(&test, 1..=5);
    assert_eq!(forget(&test, keep), 0);

    assert_eq!(next(&test, 2), [1, 2]);
    assert_eq!(forget(&test, keep), 2);
    assert_eq!(next(&test, 1), [3]);

    test.db.write_blocking(|tx| close_cursor(tx, READER)).unwrap();
    assert_eq!(forget(&test, keep), 2);
    assert_eq!(test.db.read_blocking(last).unwrap().unwrap().payload, "5");
}

#[test]
fn a_cursor_that_nobody_moves_keeps_no_more_than_the_bound_and_is_told_of_its_gap() {
    let test = TestDatabase::new();
    open(&test);
    tell(&test, 1..=5);
    let few = Retention { read_before: NOTHING, any_before: NOTHING, most: 3 };
    let old = Retention { any_before: start().plus(Duration::days(1)), most: 1_000, ..few };
    let gap = || test.db.read_blocking(cursors).unwrap().remove(0).gap_since;

    assert_eq!(forget(&test, few), 2);
    assert_eq!(gap(), Some(start()));
    assert_eq!(next(&test, 1), [3]);
    test.db.write_blocking(|tx| close_gap(tx, READER)).unwrap();
    assert_eq!((gap(), forget(&test, few)), (None, 0));

    assert_eq!(forget(&test, old), 2);
    assert_eq!((gap(), next(&test, 9)), (Some(start()), vec![5]));
}

/// As a dump of a server that has given many more numbers.
fn restored_elsewhere(tx: &mut Tx<'_>) -> Result<()> {
    let Conn::Postgres(conn) = &mut tx.conn else { return Ok(()) };
    for table in ["outbox", "event_cursors"] {
        let later = sql_query(format!("UPDATE {table} SET xid = xid + 1000000000"));
        later.execute(&mut **conn).map_err(error("Event"))?;
    }
    Ok(())
}

#[test]
fn the_log_goes_on_after_a_dump_was_restored_on_another_server() {
    let test = TestDatabase::new();
    open(&test);
    tell(&test, [1, 2, 3]);
    assert_eq!(next(&test, 1), [1]);
    test.db.write_blocking(restored_elsewhere).unwrap();
    assert_eq!(test.db.read_blocking(is_foreign).unwrap(), !test.db.is_sqlite());

    test.db.write_blocking(adopt).unwrap();
    tell(&test, [4]);

    assert!(!test.db.read_blocking(is_foreign).unwrap());
    assert_eq!(next(&test, 10), [2, 3, 4]);
}
