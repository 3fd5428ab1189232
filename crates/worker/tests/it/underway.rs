//! Whoever hurries waits for work that somebody else has begun.

use std::sync::{Arc, Mutex};

use db::testing::TestDatabase;
use forgeway_worker::{Job, Queue as _, RunningWork, Worker};
use kernel::Result;
use serde::{Deserialize, Serialize};
use tokio::{sync::Notify, time::Duration};

/// Work that goes on until somebody lets it end.
#[derive(Clone, Serialize, Deserialize)]
struct Wait {}

impl Job for Wait {
    const KIND: &'static str = "wait";
    fn unique_key(&self) -> Option<String> {
        Some("1:long".to_owned())
    }
}

#[derive(Clone, Default)]
struct Gate {
    begun: Arc<Notify>,
    end: Arc<Notify>,
    log: Arc<Mutex<Vec<&'static str>>>,
}

impl Gate {
    fn note(&self, what: &'static str) {
        self.log.lock().unwrap().push(what);
    }
}

async fn wait(gate: Gate, _: Wait) -> Result<()> {
    gate.begun.notify_one();
    gate.end.notified().await;
    gate.note("done");
    Ok(())
}

struct Setting {
    test: TestDatabase,
    gate: Gate,
    underway: RunningWork,
}

impl Setting {
    /// A worker has just taken the work.
    async fn begun() -> Self {
        let set = Self {
            test: TestDatabase::new(),
            gate: Gate::default(),
            underway: RunningWork::default(),
        };
        set.test.db.write(|tx| tx.enqueue(&Wait {})).await.unwrap();
        let worker = set.worker();
        kernel::task::spawn(async move { worker.run_due().await });
        set.gate.begun.notified().await;
        set
    }

    fn worker(&self) -> Worker<Gate> {
        let worker = Worker::new(self.test.db.clone(), self.gate.clone()).on(wait);
        worker.noting(self.underway.clone())
    }

    async fn somebody_waits(&self) {
        while self.underway.waiting() == 0 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn what_a_worker_has_taken_is_waited_for() {
    let set = Setting::begun().await;
    let (worker, gate) = (set.worker(), set.gate.clone());
    let hurrying = kernel::task::spawn(async move {
        worker.run_now_and_wait(vec!["wait:1".to_owned()]).await.unwrap();
        gate.note("answered");
    });

    set.somebody_waits().await;
    set.gate.end.notify_one();
    hurrying.await.unwrap();

    assert_eq!(*set.gate.log.lock().unwrap(), ["done", "answered"]);
}

#[tokio::test]
async fn nobody_waits_for_ever_or_for_what_they_do_not_want() {
    let set = Setting::begun().await;

    set.worker().run_now_and_wait(vec!["wait:2".to_owned(), "wait:10".to_owned()]).await.unwrap();
    set.worker().run_now(vec!["wait:1".to_owned()]).await.unwrap();
    let worker = set.worker().waiting_at_most(Duration::ZERO);
    worker.run_now_and_wait(vec!["wait:1".to_owned()]).await.unwrap();

    assert!(set.gate.log.lock().unwrap().is_empty(), "it goes on");
    set.gate.end.notify_one();
}

#[tokio::test]
async fn a_worker_that_stops_ends_what_it_began_and_begins_nothing_else() {
    let set = Setting {
        test: TestDatabase::new(),
        gate: Gate::default(),
        underway: RunningWork::default(),
    };
    let (stop, stopped) = tokio::sync::watch::channel(false);
    set.test.db.write(|tx| tx.enqueue(&Wait {})).await.unwrap();
    let working = kernel::task::spawn(set.worker().run(stopped));
    set.gate.begun.notified().await;
    set.test.db.write(|tx| tx.enqueue(&Wait {})).await.unwrap();

    stop.send(true).unwrap();
    set.gate.end.notify_one();
    working.await.unwrap();

    assert_eq!(*set.gate.log.lock().unwrap(), ["done"]);
    let left = set.test.db.write(|tx| tx.take_work("")).await.unwrap();
    assert!(left.is_some(), "the other piece waits");
}
