//! Several servers on one database share the work.

use std::sync::Arc;

use db::Database;
use forgeway_worker::{Queue, Worker};
use kernel::Clock;

use super::{Log, Setting, greet, start};

const PIECES: usize = 60;

/// Another server on the same database, with connections of its own.
fn server(set: &Setting, name: &str) -> (Worker<Log>, Log) {
    let (clock, log) = (Arc::new(Clock::fixed(start())), Log::default());
    let db = Database::open(&set.test.location, clock).unwrap();
    (Worker::new(db, log.clone()).named(name).on(greet), log)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_piece_is_done_twice() {
    let set = Setting::new();
    for piece in 0..PIECES {
        set.ask(&piece.to_string()).await;
    }

    let servers = ["one", "two", "three"].map(|name| server(&set, name));
    let working = servers.each_ref().map(|(worker, _)| async {
        // Whoever comes second to a piece looks for another one later.
        for _ in 0..PIECES {
            worker.run_due().await.unwrap();
        }
    });
    futures_util::future::join_all(working).await;

    let mut done: Vec<usize> = Vec::new();
    for (_, log) in &servers {
        done.extend(log.lock().unwrap().iter().map(|piece| piece.parse::<usize>().unwrap()));
    }
    done.sort_unstable();
    assert_eq!(done, (0..PIECES).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_server_that_starts_leaves_alone_what_others_are_doing() {
    let set = Setting::new();
    set.ask("ada").await;
    set.test.db.write(|tx| tx.take_work("one")).await.unwrap();

    assert_eq!(set.test.db.write(|tx| tx.free_work(Some("two"))).await.unwrap(), 0);
    assert_eq!(server(&set, "two").0.run_due().await.unwrap(), 0, "the first one has it");
    assert_eq!(set.test.db.write(|tx| tx.free_work(Some("one"))).await.unwrap(), 1);
    assert_eq!(server(&set, "two").0.run_due().await.unwrap(), 1);
}
