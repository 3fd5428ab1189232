//! Sends the log of a job while it grows, and at the end how the job went.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Result;

use super::Trace;
use crate::{
    api::{Client, FinalState, JobCall, JobUpdate, Verdict},
    control::{Control, Interrupt},
};

/// Bytes sent at once.
const LARGEST_PIECE: usize = 1 << 20;
const LONGEST_INTERVAL: Duration = Duration::from_secs(15 * 60);
/// How often the end of a job is told when the server does not take it.
const FINAL_ATTEMPTS: u32 = 10;
/// How often the server may say that it is not ready yet, or lacks a part of the log.
const PATIENT_ATTEMPTS: u32 = 200;

/// The intervals of updates and retries.
#[derive(Clone, Copy, Debug)]
pub struct RetryIntervals {
    /// Between two pieces of a log, until the server says otherwise.
    pub update_interval: Duration,
    /// After so long without a piece the server is told that the job still runs.
    pub keep_alive: Duration,
    /// Wait before the first repetition of what failed; each further one is twice as long.
    pub first_retry: Duration,
    pub longest_retry: Duration,
}

impl Default for RetryIntervals {
    fn default() -> Self {
        Self {
            update_interval: Duration::from_secs(3),
            keep_alive: Duration::from_secs(30),
            first_retry: Duration::from_secs(1),
            longest_retry: Duration::from_secs(60 * 60),
        }
    }
}

/// Tells the server of one job.
pub(crate) struct Reporter {
    pub(crate) client: Arc<Client>,
    pub(crate) id: u64,
    pub(crate) token: String,
    pub(crate) trace: Arc<Trace>,
    pub(crate) control: Arc<Control>,
    pub(crate) pace: RetryIntervals,
    /// Whether only developers may see the log.
    pub(crate) debug: bool,
    sent: usize,
    interval: Duration,
    last: Instant,
}

impl Reporter {
    pub(crate) fn new(
        client: &Arc<Client>,
        (id, token): (u64, &str),
        trace: &Arc<Trace>,
        control: &Arc<Control>,
        pace: RetryIntervals,
    ) -> Self {
        Self {
            client: Arc::clone(client),
            id,
            token: token.to_owned(),
            trace: Arc::clone(trace),
            control: Arc::clone(control),
            pace,
            debug: false,
            sent: 0,
            interval: pace.update_interval,
            last: Instant::now(),
        }
    }

    /// Sends what is new, again and again, until `is_over`.
    pub(crate) fn follow(&mut self, is_over: impl Fn() -> bool) {
        loop {
            let wait = self.interval.min(self.pace.keep_alive);
            if self.control.wait_until(Instant::now().checked_add(wait), |_| is_over()) {
                return;
            }
            if self.is_aborted() {
                // Nobody listens any more; the job is about to end.
                self.control.wait_until(None, |_| is_over());
                return;
            }
            if let Err(error) = self.send_new().and_then(|()| self.keep_alive()) {
                tracing::warn!(job = self.id, %error, "the server was not reached; the log is sent later");
            }
        }
    }

    fn is_aborted(&self) -> bool {
        self.control.at_least(Interrupt::Aborted).is_some()
    }

    fn call(&self) -> JobCall<'_> {
        JobCall { client: &self.client, id: self.id, token: &self.token }
    }

    fn heed(&mut self, touch: JobUpdate) {
        match touch.verdict {
            Verdict::GoOn => {}
            Verdict::Cancel => self.control.interrupt(Interrupt::Canceled),
            Verdict::Abort => self.control.interrupt(Interrupt::Aborted),
        }
        if let Some(interval) = touch.interval {
            // The server's seconds are a wish; tests and watched jobs are faster than the default.
            self.interval = interval.clamp(self.pace.update_interval, LONGEST_INTERVAL);
        }
    }

    /// Sends all that is new. Stops early when the server takes nothing.
    fn send_new(&mut self) -> Result<()> {
        while !self.is_aborted() {
            let piece = self.trace.piece(self.sent, LARGEST_PIECE);
            if piece.is_empty() {
                return Ok(());
            }
            let touch = self.call().append(self.sent, &piece, self.debug)?;
            self.last = Instant::now();
            self.heed(touch);
            match (touch.status, touch.stored) {
                (202, _) => self.sent += piece.len(),
                // The server has more or less than we believed.
                (416, Some(stored)) if stored != self.sent && stored <= self.trace.size() => {
                    self.sent = stored;
                }
                _ if touch.verdict == Verdict::Abort => return Ok(()),
                (status, _) => anyhow::bail!("the server took no log: {status}"),
            }
        }
        Ok(())
    }

    fn keep_alive(&mut self) -> Result<()> {
        if self.last.elapsed() < self.pace.keep_alive || self.is_aborted() {
            return Ok(());
        }
        let touch = self.call().keep_alive(self.trace.sum(self.sent))?;
        self.last = Instant::now();
        self.heed(touch);
        Ok(())
    }

    /// Sends the rest of the log, and then how the job ended. Returns whether the server took it.
    pub(crate) fn finish(&mut self, state: &FinalState) -> bool {
        self.trace.close();
        let (mut failures, mut rounds, mut wait) = (0, 0, self.pace.first_retry);
        while failures < FINAL_ATTEMPTS && rounds < PATIENT_ATTEMPTS {
            if self.is_aborted() {
                return false;
            }
            match self.try_finish(state) {
                Ok(Finish::Done) => return true,
                Ok(Finish::Refused) => return false,
                Ok(Finish::Again) => {
                    rounds += 1;
                    self.control.pause(self.interval.min(self.pace.longest_retry));
                }
                Err(error) => {
                    failures += 1;
                    tracing::warn!(job = self.id, %error, "the end of a job was not told; it is tried again");
                    self.control.pause(wait);
                    wait = (wait * 2).min(self.pace.longest_retry);
                }
            }
        }
        false
    }

    fn try_finish(&mut self, state: &FinalState) -> Result<Finish> {
        self.send_new()?;
        let touch = self.call().finish(state, self.trace.sum(self.trace.size()))?;
        if let Some(interval) = touch.interval {
            self.interval = interval.clamp(self.pace.update_interval, LONGEST_INTERVAL);
        }
        match touch.status {
            200 => Ok(Finish::Done),
            // It still stores the log.
            202 => Ok(Finish::Again),
            // Its log is not ours: all of it once more.
            412 => {
                self.sent = 0;
                Ok(Finish::Again)
            }
            403 | 404 => Ok(Finish::Refused),
            _ if touch.verdict == Verdict::Abort => Ok(Finish::Refused),
            status => anyhow::bail!("the server answered {status}"),
        }
    }
}

enum Finish {
    Done,
    Again,
    Refused,
}
