//! Several requests that have all come as far as a row that somebody holds, and go on together.

use std::{
    sync::{Arc, Barrier},
    thread::JoinHandle,
};

use db::{
    Conn,
    diesel::{QueryableByName, RunQueryDsl, sql_query, sql_types::BigInt},
};
use futures_util::future::{join, join_all};
use tokio::time::{Duration, Instant, sleep};

use super::{Answer, TestApp};

/// So long is waited for requests that never come.
const LONGEST: Duration = Duration::from_secs(20);

#[derive(QueryableByName)]
struct CountRow {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

impl TestApp {
    /// Sends requests while the row that `held` finds is held, which goes on when all of them wait for it. Where writers
    /// come one after the other anyway they are sent together.
    pub(crate) async fn at_once(
        &self,
        held: &'static str,
        requests: Vec<impl Future<Output = Answer>>,
    ) -> Vec<Answer> {
        if self.state.db.is_sqlite() {
            return join_all(requests).await;
        }
        let (go, holder) = self.hold(held);
        let many = i64::try_from(requests.len()).expect("a few");
        let open = async {
            let since = Instant::now();
            while self.waiting() < many {
                assert!(since.elapsed() < LONGEST, "somebody does not wait for {held}");
                sleep(Duration::from_millis(5)).await;
            }
            go.wait();
        };
        let (answers, ()) = join(join_all(requests), open).await;
        holder.join().expect("the row was held");
        answers
    }

    /// Somebody who holds a row until both have come to the barrier.
    fn hold(&self, held: &'static str) -> (Arc<Barrier>, JoinHandle<()>) {
        let (has, go) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let (db, there, end) = (self.state.db.clone(), has.clone(), go.clone());
        let holder = std::thread::spawn(move || {
            let done = db.write_blocking(move |tx| {
                if let Conn::Postgres(conn) = &mut tx.conn {
                    sql_query(held).execute(&mut **conn).map_err(db::error("Row"))?;
                }
                there.wait();
                end.wait();
                Ok(())
            });
            done.expect("a row is held");
        });
        has.wait();
        (go, holder)
    }

    /// How many wait for a row.
    fn waiting(&self) -> i64 {
        self.count(
            "SELECT COUNT(*) AS count FROM pg_stat_activity \
             WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )
    }

    /// How often somebody had to begin again because two waited for each other.
    pub(crate) fn deadlocks(&self) -> i64 {
        self.count(
            "SELECT deadlocks AS count FROM pg_stat_database WHERE datname = current_database()",
        )
    }

    fn count(&self, sql: &'static str) -> i64 {
        let counted = self.state.db.read_blocking(|tx| {
            let Conn::Postgres(conn) = &mut tx.conn else { return Ok(0) };
            let found: CountRow =
                sql_query(sql).get_result(&mut **conn).map_err(db::error("Row"))?;
            Ok(found.count)
        });
        counted.expect("the server tells what it counts")
    }
}
