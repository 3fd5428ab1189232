//! Work that recurs is asked for at its time, once, whoever is there then.

use forgeway_worker::Worker;
use time::{Duration, macros::time};

use crate::{Greet, Log, Setting, greet};

fn nightly(set: &Setting) -> Worker<Log> {
    let job = Greet { name: "night".to_owned() };
    Worker::new(set.test.db.clone(), set.log.clone()).on(greet).daily(time!(0:10), job)
}

fn hourly(set: &Setting, hours: i64) -> Worker<Log> {
    let job = Greet { name: "hour".to_owned() };
    Worker::new(set.test.db.clone(), set.log.clone()).on(greet).every(Duration::hours(hours), job)
}

/// Asks for what is due and does it; how much that was.
async fn pass(worker: &Worker<Log>) -> usize {
    worker.ask_due().await.unwrap();
    worker.run_due().await.unwrap()
}

#[tokio::test]
async fn daily_work_waits_for_its_hour() {
    let set = Setting::new();
    let worker = nightly(&set);

    assert_eq!(pass(&worker).await, 0, "it is midnight");
    set.clock.advance(Duration::minutes(10));
    assert_eq!(pass(&worker).await, 1);
    assert_eq!(pass(&worker).await, 0);
    set.clock.advance(Duration::hours(24));
    assert_eq!(pass(&worker).await, 1);
}

#[tokio::test]
async fn times_that_nobody_was_there_for_are_made_up_once() {
    let set = Setting::new();
    pass(&nightly(&set)).await;

    set.clock.advance(Duration::days(5));
    let restarted = nightly(&set);

    assert_eq!(pass(&restarted).await, 1);
    assert_eq!(pass(&restarted).await, 0);
    set.clock.advance(Duration::minutes(10));
    assert_eq!(pass(&restarted).await, 1, "and then it is at its hour again");
}

#[tokio::test]
async fn several_processes_on_one_database_ask_once() {
    let set = Setting::new();
    let (one, other) = (hourly(&set, 1), hourly(&set, 1));
    for _ in 0..3 {
        one.ask_due().await.unwrap();
        let done = one.run_due().await.unwrap();
        assert_eq!(done + pass(&other).await, 1);
        set.clock.advance(Duration::hours(1));
    }

    assert_eq!(*set.log.lock().unwrap(), ["hour", "hour", "hour"]);
}

#[tokio::test]
async fn processes_that_ask_at_the_same_moment_ask_once() {
    let set = Setting::new();
    let workers: Vec<_> = (0..8).map(|_| hourly(&set, 1)).collect();

    futures_util::future::join_all(workers.iter().map(Worker::ask_due)).await;
    set.worker.run_due().await.unwrap();

    assert_eq!(*set.log.lock().unwrap(), ["hour"]);
}

#[tokio::test]
async fn a_restart_does_not_begin_a_span_anew() {
    let set = Setting::new();
    assert_eq!(pass(&hourly(&set, 6)).await, 1);

    set.clock.advance(Duration::hours(4));
    assert_eq!(pass(&hourly(&set, 6)).await, 0);
    set.clock.advance(Duration::hours(2));
    assert_eq!(pass(&hourly(&set, 6)).await, 1);
    assert_eq!(pass(&hourly(&set, 1)).await, 0);
    set.clock.advance(Duration::hours(1));
    assert_eq!(pass(&hourly(&set, 1)).await, 1, "a shorter span holds from its first start");
}
