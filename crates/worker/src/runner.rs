//! Does the work: takes, runs, ticks off, and stops between two pieces when asked to.

use std::{
    collections::{HashMap, HashSet},
    panic::AssertUnwindSafe,
    sync::Arc,
};

use db::Database;
use futures_util::{FutureExt, future::BoxFuture};
use kernel::{Error, Result, Ts};
use tokio::{sync::watch, time::Duration};

use crate::{
    ClaimedWork, Job, Queue, Recurrence, RunningWork, Schedules, running_work::RunningGuard,
};

type Run<C> = Arc<dyn Fn(C, String) -> BoxFuture<'static, Result<()>> + Send + Sync>;
type ClaimFn = Arc<dyn Fn(&mut db::Tx<'_>) -> Result<()> + Send + Sync>;

/// How long an idle worker rests before it looks again.
const REST: Duration = Duration::from_secs(1);
/// How long somebody waits for work that others have begun.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Knows how each kind of work is done. `C` is what all of it may use.
pub struct Worker<C> {
    db: Database,
    /// Of the server that works.
    name: Arc<str>,
    context: C,
    handlers: HashMap<&'static str, Run<C>>,
    schedules: Vec<Schedule>,
    underway: RunningWork,
    longest_wait: Duration,
}

struct Schedule {
    kind: &'static str,
    recurrence: Recurrence,
    ask: ClaimFn,
}

impl<C: Clone + Send + Sync + 'static> Worker<C> {
    pub fn new(db: Database, context: C) -> Self {
        Self {
            db,
            name: Arc::from(""),
            context,
            handlers: HashMap::new(),
            schedules: Vec::new(),
            underway: RunningWork::default(),
            longest_wait: LONGEST_WAIT,
        }
    }

    /// Says which server works, so that others beside it leave its work alone.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: Arc::from(name), ..self }
    }

    /// Says where it is noted what is being done, for workers that are to wait for each other.
    #[must_use]
    pub fn noting(self, underway: RunningWork) -> Self {
        Self { underway, ..self }
    }

    /// Says how long somebody waits for work that others have begun.
    #[must_use]
    pub fn waiting_at_most(self, longest_wait: Duration) -> Self {
        Self { longest_wait, ..self }
    }

    /// Says how work of one kind is done.
    #[must_use]
    pub fn on<J: Job, F>(mut self, run: fn(C, J) -> F) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let run: Run<C> = Arc::new(move |context, payload| match serde_json::from_str(&payload) {
            Ok(job) => Box::pin(run(context, job)),
            Err(cause) => unreadable(cause),
        });
        self.handlers.insert(J::KIND, run);
        self
    }

    /// Asks for work again and again, whenever `span` has passed. Each kind of work has one schedule.
    #[must_use]
    pub fn every<J: Job + Sync>(self, span: time::Duration, job: J) -> Self {
        self.recurring(Recurrence::Every(span), job)
    }

    /// Asks for work each day at `hour`, UTC. Days on which nobody was there are made up for once.
    #[must_use]
    pub fn daily<J: Job + Sync>(self, hour: time::Time, job: J) -> Self {
        self.recurring(Recurrence::Daily(hour), job)
    }

    fn recurring<J: Job + Sync>(mut self, recurrence: Recurrence, job: J) -> Self {
        let ask: ClaimFn = Arc::new(move |tx| tx.enqueue(&job));
        self.schedules.push(Schedule { kind: J::KIND, recurrence, ask });
        self
    }

    /// Works until `stop` turns true; a piece that was begun is finished first.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        // When to look at each schedule again. The rows decide; this spares looking at them every second.
        let mut looks = vec![Ts(0); self.schedules.len()];
        while !*stop.borrow() {
            self.enqueue_scheduled(&mut looks).await;
            match self.run_one().await {
                Ok(true) => {}
                Ok(false) => self.rest(&mut stop).await,
                Err(cause) => {
                    tracing::error!(error = %cause, "the queue cannot be read");
                    self.rest(&mut stop).await;
                }
            }
        }
    }

    async fn enqueue_scheduled(&self, looks: &mut [Ts]) {
        let now = self.db.clock().now();
        for (schedule, look) in self.schedules.iter().zip(looks) {
            if now < *look {
                continue;
            }
            match self.ask_if_due(schedule).await {
                Ok(next) => *look = next,
                Err(cause) => tracing::error!(error = %cause, "scheduled work was not queued"),
            }
        }
    }

    /// Asks for all recurring work that is due now. For tests; [`run`](Self::run) does so by itself.
    ///
    /// # Errors
    /// When the schedules cannot be read.
    pub async fn ask_due(&self) -> Result<()> {
        for schedule in &self.schedules {
            self.ask_if_due(schedule).await?;
        }
        Ok(())
    }

    /// Asks for the work, and moves its schedule on, in one transaction; tells when it is due again.
    async fn ask_if_due(&self, schedule: &Schedule) -> Result<Ts> {
        let (kind, recurrence, ask) = (schedule.kind, schedule.recurrence, schedule.ask.clone());
        let asked = self.db.write(move |tx| {
            let turn = tx.take_turn(kind, recurrence)?;
            if turn.due {
                ask(tx)?;
            }
            Ok(turn.next)
        });
        asked.await
    }

    async fn rest(&self, stop: &mut watch::Receiver<bool>) {
        // Either a second passes or somebody wants us to stop: the loop looks itself.
        let _ = tokio::time::timeout(REST, stop.changed()).await;
    }

    /// Does everything that is due now; returns how much that was. For tests and for a clean end.
    ///
    /// # Errors
    /// When the queue cannot be read; failing work is put back and is no error here.
    pub async fn run_due(&self) -> Result<usize> {
        let mut done = 0;
        while self.run_one().await? {
            done += 1;
        }
        Ok(done)
    }

    async fn run_one(&self) -> Result<bool> {
        let (underway, name) = (self.underway.clone(), Arc::clone(&self.name));
        let taken = self.db.write(move |tx| Ok(begun(&underway, tx.take_work(&name)?)));
        let Some((taken, begun)) = taken.await?.pop() else { return Ok(false) };
        self.carry_out(taken, begun).await?;
        Ok(true)
    }

    /// Does at once what waits under these keys, each `KIND:key`, for somebody who wants to see its effect; work that
    /// goes on under `KIND:key:` as well. What fails is put back, to be tried again later. Work that others have begun is
    /// left to them.
    ///
    /// # Errors
    /// When the queue cannot be read.
    pub async fn run_now(&self, keys: Vec<String>) -> Result<()> {
        self.do_what_waits(keys).await.map(drop)
    }

    /// As [`run_now`](Self::run_now); what others have begun is waited for, though not for ever. Not to be called by work,
    /// which could wait for itself.
    ///
    /// # Errors
    /// When the queue cannot be read.
    pub async fn run_now_and_wait(&self, keys: Vec<String>) -> Result<()> {
        let others = self.do_what_waits(keys).await?;
        if tokio::time::timeout(self.longest_wait, self.underway.over(&others)).await.is_err() {
            tracing::warn!(
                pieces = others.len(),
                "what others have begun is not waited for any longer"
            );
        }
        Ok(())
    }

    /// Returns what others are doing under the keys.
    async fn do_what_waits(&self, keys: Vec<String>) -> Result<HashSet<u64>> {
        let (underway, name) = (self.underway.clone(), Arc::clone(&self.name));
        let taken = self.db.write(move |tx| {
            let taken = tx.take_work_under(&keys, &name)?;
            // Now it is known who has what: what is not ours was begun before.
            let others = underway.under(&keys);
            Ok((begun(&underway, taken), others))
        });
        let (taken, others) = taken.await?;
        for (one, begun) in taken {
            self.carry_out(one, begun).await?;
        }
        Ok(others)
    }

    /// It is under way until it is ticked off, or put back.
    async fn carry_out(&self, taken: ClaimedWork, _begun: RunningGuard) -> Result<()> {
        let outcome = self.attempt(&taken).await;
        metrics::counter!("forgeway_work_total", "kind" => taken.kind.clone(), "outcome" => if outcome.is_ok() { "done" } else { "failed" })
            .increment(1);
        match outcome {
            Ok(()) => self.db.write(move |tx| tx.finish_work(taken.id)).await,
            Err(cause) => {
                tracing::error!(kind = taken.kind, attempts = taken.attempts + 1, error = %cause, "work failed");
                let text = with_reasons(&cause);
                self.db.write(move |tx| tx.fail_work(&taken, &text)).await
            }
        }
    }

    async fn attempt(&self, taken: &ClaimedWork) -> Result<()> {
        let Some(run) = self.handlers.get(taken.kind.as_str()) else {
            return Err(Error::internal(format!("nobody knows how to do {}", taken.kind)));
        };
        let (context, payload) = (self.context.clone(), taken.payload.clone());
        // What a webhook's receiver has led to stays known, however long the work waited.
        let work = async move { run(context, payload).await };
        let work = db::caused_by(taken.cause.as_deref().map(Arc::from), work);
        AssertUnwindSafe(work)
            .catch_unwind()
            .await
            .unwrap_or_else(|_| Err(Error::internal("the work panicked")))
    }
}

/// For a payload that is none of its kind.
fn unreadable(cause: serde_json::Error) -> BoxFuture<'static, Result<()>> {
    Box::pin(std::future::ready(Err(Error::internal(cause))))
}

/// An error with what it comes from: a person who looks at work that was given up has nothing else.
fn with_reasons(error: &Error) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(reason) = next {
        text = format!("{text}: {reason}");
        next = reason.source();
    }
    text
}

/// Notes in the transaction that takes pieces of work that they are under way.
fn begun(
    underway: &RunningWork,
    taken: impl IntoIterator<Item = ClaimedWork>,
) -> Vec<(ClaimedWork, RunningGuard)> {
    let noted = |one: ClaimedWork| {
        let begun = underway.begin(one.unique_key.as_deref());
        (one, begun)
    };
    taken.into_iter().map(noted).collect()
}
