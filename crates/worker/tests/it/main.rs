//! Work is done once, later, and again when it fails.
#![expect(clippy::unwrap_used, reason = "a test may stop where its set-up fails")]

mod causes;
mod schedules;
mod servers;
mod underway;

use std::sync::{Arc, Mutex};

use db::testing::{TestDatabase, start};
use forgeway_worker::{Depth, Job, Queue, Worker};
use kernel::{Clock, Error, Result};
use serde::{Deserialize, Serialize};
use time::Duration;

type Log = Arc<Mutex<Vec<String>>>;

#[derive(Clone, Serialize, Deserialize)]
struct Greet {
    name: String,
}

impl Job for Greet {
    const KIND: &'static str = "greet";
    fn unique_key(&self) -> Option<String> {
        Some(self.name.clone())
    }
}

async fn greet(log: Log, job: Greet) -> Result<()> {
    log.lock().unwrap().push(job.name.clone());
    match job.name.as_str() {
        "nobody" => Err(Error::internal("nobody is there")),
        "panic" => panic!("as asked"),
        _ => Ok(()),
    }
}

struct Setting {
    clock: Arc<Clock>,
    test: TestDatabase,
    worker: Worker<Log>,
    log: Log,
}

impl Setting {
    fn new() -> Self {
        let clock = Arc::new(Clock::fixed(start()));
        let test = TestDatabase::with_clock(clock.clone());
        let log = Log::default();
        let worker = Worker::new(test.db.clone(), log.clone()).on(greet);
        Self { clock, test, worker, log }
    }

    async fn ask(&self, name: &str) {
        let job = Greet { name: name.to_owned() };
        self.test.db.write(move |tx| tx.enqueue(&job)).await.unwrap();
    }

    /// Why work failed that is not done.
    async fn reasons(&self) -> Vec<String> {
        use db::schema::work;
        use diesel::prelude::*;
        let query = work::table.select(work::last_error.assume_not_null());
        let read = self.test.db.read(move |tx| {
            db::each_backend!(tx, |conn| query.load(conn).map_err(db::error("Work")))
        });
        read.await.unwrap()
    }

    async fn depth(&self) -> Depth {
        self.test.db.read(|tx| tx.work_depth()).await.unwrap()
    }
}

#[tokio::test]
async fn work_that_waits_with_the_same_key_is_done_once() {
    let set = Setting::new();
    set.ask("ada").await;
    set.ask("ada").await;
    set.ask("bob").await;

    assert_eq!(set.worker.run_due().await.unwrap(), 2);

    assert_eq!(*set.log.lock().unwrap(), ["ada", "bob"]);
    assert_eq!(set.depth().await, Depth { waiting: 0, given_up: 0 });
}

#[tokio::test]
async fn failed_work_is_tried_later_and_in_the_end_given_up() {
    let set = Setting::new();
    set.ask("nobody").await;
    set.worker.run_due().await.unwrap();

    assert_eq!(set.worker.run_due().await.unwrap(), 0, "it is not tried again at once");
    for _ in 0..20 {
        set.clock.advance(Duration::hours(1));
        set.worker.run_due().await.unwrap();
    }

    assert_eq!(set.log.lock().unwrap().len(), 12);
    assert_eq!(set.depth().await, Depth { waiting: 0, given_up: 1 });
    assert_eq!(set.reasons().await, ["internal error: nobody is there"]);
}

#[tokio::test]
async fn failed_work_waits_twice_as_long_each_time() {
    let set = Setting::new();
    set.ask("nobody").await;
    set.worker.run_due().await.unwrap();

    for seconds in [10, 20, 40, 80] {
        set.clock.advance(Duration::seconds(seconds - 1));
        assert_eq!(set.worker.run_due().await.unwrap(), 0, "{seconds}");
        set.clock.advance(Duration::seconds(1));
        assert_eq!(set.worker.run_due().await.unwrap(), 1, "{seconds}");
    }
}

#[tokio::test]
async fn work_that_panics_does_not_end_the_worker() {
    let set = Setting::new();
    set.ask("panic").await;
    set.ask("ada").await;

    set.worker.run_due().await.unwrap();

    assert_eq!(*set.log.lock().unwrap(), ["panic", "ada"]);
    assert_eq!(set.depth().await, Depth { waiting: 1, given_up: 0 });
}

#[tokio::test]
async fn work_of_a_transaction_that_fails_was_never_asked_for() {
    let set = Setting::new();
    let failed = set.test.db.write(|tx| {
        tx.enqueue(&Greet { name: "ada".to_owned() })?;
        Err::<(), _>(Error::forbidden())
    });

    assert!(failed.await.is_err());
    assert_eq!(set.worker.run_due().await.unwrap(), 0);
}

#[tokio::test]
async fn work_of_a_process_that_was_killed_is_free_again_at_the_next_start() {
    let set = Setting::new();
    set.ask("ada").await;
    set.test.db.write(|tx| tx.take_work("killed")).await.unwrap();
    assert_eq!(set.worker.run_due().await.unwrap(), 0, "somebody else has it");

    assert_eq!(set.test.db.write(|tx| tx.free_work(Some("killed"))).await.unwrap(), 1);

    assert_eq!(set.worker.run_due().await.unwrap(), 1);
}

#[tokio::test]
async fn work_that_somebody_waits_for_is_done_at_once_with_what_goes_on_under_its_key() {
    let set = Setting::new();
    for name in ["1:again", "1", "10", "2"] {
        set.ask(name).await;
    }

    set.worker.run_now(vec!["greet:1".to_owned(), "greet:nobody".to_owned()]).await.unwrap();

    assert_eq!(*set.log.lock().unwrap(), ["1:again", "1"]);
    assert_eq!(set.depth().await, Depth { waiting: 2, given_up: 0 });
}

#[tokio::test]
async fn hurried_work_that_fails_waits_for_its_next_try() {
    let set = Setting::new();
    set.ask("nobody").await;

    set.worker.run_now(vec!["greet:nobody".to_owned()]).await.unwrap();

    assert_eq!(set.depth().await, Depth { waiting: 1, given_up: 0 });
    assert_eq!(set.worker.run_due().await.unwrap(), 0);
}
