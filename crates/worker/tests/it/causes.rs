//! What led to work is known to the work, and to what the work leads to.

use std::sync::Arc;

use db::testing::TestDatabase;
use forgeway_worker::{Job, Queue as _, Worker};
use kernel::Result;
use serde::{Deserialize, Serialize};

use super::Log;

/// Leads to work of the same kind until nothing is left of it.
#[derive(Clone, Serialize, Deserialize)]
struct Countdown {
    left: u8,
}

impl Job for Countdown {
    const KIND: &'static str = "countdown";
}

type Context = (db::Database, Log);

async fn count(context: Context, job: Countdown) -> Result<()> {
    let (db, log) = context;
    let cause = db.write(move |tx| {
        if let Some(left) = job.left.checked_sub(1) {
            tx.enqueue(&Countdown { left })?;
        }
        Ok(tx.cause.clone())
    });
    let cause = cause.await?.map_or("nothing".to_owned(), |cause| cause.to_string());
    log.lock().unwrap().push(format!("{} by {cause}", job.left));
    Ok(())
}

#[tokio::test]
async fn work_knows_what_led_to_it_and_so_does_what_it_leads_to() {
    let test = TestDatabase::new();
    let log = Log::default();
    let worker = Worker::new(test.db.clone(), (test.db.clone(), log.clone())).on(count);
    let ask = test.db.write(|tx| tx.enqueue(&Countdown { left: 1 }));
    db::caused_by(Some(Arc::from("a webhook")), ask).await.unwrap();
    test.db.write(|tx| tx.enqueue(&Countdown { left: 0 })).await.unwrap();

    // Who happens to do the work did not lead to it.
    db::caused_by(Some(Arc::from("somebody else")), worker.run_due()).await.unwrap();

    let mut told = log.lock().unwrap().clone();
    told.sort();
    assert_eq!(told, ["0 by a webhook", "0 by nothing", "1 by a webhook"]);
}
